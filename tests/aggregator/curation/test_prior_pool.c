/* What games' zeros have in common (aggregator/curation/prior_pool.h). */
#include "aggregator/curation/prior_pool.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <stdio.h>

/* What other games know counts, of each no more than of the others. */
static void test_prior_pool(void **state)
{
    (void)state;
    struct pm_prior_pool *pool = pm_prior_pool_create();
    const struct pm_evidence one = {255, 20}, zero = {0, 20};
    struct pm_prior_moments ones = {0}, zeros = {0}, none = {0};
    for (int i = 0; i < 5000; i++)
        pm_prior_add(&ones, &one, 1);
    for (int i = 0; i < 256; i++)
        pm_prior_add(&zeros, &zero, 1);
    pm_prior_pool_put(pool, "a", &ones);
    assert_true(pm_prior_pool_fit(pool, "c", &none).mean > 0.99);
    assert_true(pm_prior_pool_fit(pool, "a", &none).mean == 0.5); /* itself is none of them */
    pm_prior_pool_put(pool, "b", &zeros);
    assert_true(fabs(pm_prior_pool_fit(pool, "c", &none).mean - 0.5) < 0.01);
    pm_prior_pool_put(pool, "a", &zeros);
    assert_true(pm_prior_pool_fit(pool, "c", &none).mean < 0.01);
    pm_prior_pool_destroy(pool);
}

/* Games of which nothing is known take no room from others, nor do those that are forgotten. */
static void test_prior_pool_has_room(void **state)
{
    (void)state;
    struct pm_prior_pool *pool = pm_prior_pool_create();
    const struct pm_evidence one = {255, 20};
    struct pm_prior_moments ones = {0}, none = {0};
    char name[32];
    for (int i = 0; i < 256; i++)
        pm_prior_add(&ones, &one, 1);
    for (int kept = 0; kept < 2; kept++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(name, sizeof(name), "game %d", i);
            pm_prior_pool_put(pool, name, kept ? &ones : &none);
            if (kept)
                pm_prior_pool_forget(pool, name);
        }
        pm_prior_pool_put(pool, "a", &ones);
        assert_true(pm_prior_pool_fit(pool, "c", &none).mean > 0.99);
        pm_prior_pool_forget(pool, "a");
        assert_true(pm_prior_pool_fit(pool, "c", &none).mean == 0.5);
    }
    pm_prior_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prior_pool),
        cmocka_unit_test(test_prior_pool_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
