/* What is believed of what was seen, and the doubt about taking one of several that are alike. */
#include "base/alike.h"

#include <math.h>

#include "tests/cmocka_includes.h"

/* So many, half of them this much above the mean and half below. */
static struct pm_anytime seen_of(double count, double mean, double apart)
{
    return (struct pm_anytime){count, count * mean, count * (mean * mean + apart * apart)};
}

/* Much that was seen is believed, and little is drawn toward no gain. */
static void test_beliefs(void **state)
{
    (void)state;
    const struct pm_anytime seen[] = {seen_of(1000, -0.05, 0.1), seen_of(8, -0.05, 0.1),
                                      seen_of(0, 0, 0)};
    struct pm_belief beliefs[3];
    pm_believe(seen, 3, beliefs);
    assert_true(fabs(beliefs[0].mean + 0.05) < 1e-3);
    assert_true(fabs(beliefs[0].deviation - 0.1 / sqrt(1000)) < 1e-4);
    assert_true(-0.03 < beliefs[1].mean && beliefs[1].mean < -0.01);
    assert_true(beliefs[1].deviation < 0.03 && beliefs[1].deviation > 0.02);
    assert_true(beliefs[2].mean == 0 && fabs(beliefs[2].deviation - 0.03) < 1e-12);
    /* Without noise it is not certain either. */
    const struct pm_anytime same[] = {seen_of(4, -0.01, 0), seen_of(4, 0, 0)};
    pm_believe(same, 2, beliefs);
    assert_true(beliefs[0].deviation > 0.002);
    pm_believe(NULL, 0, NULL);
}

static void test_doubt(void **state)
{
    (void)state;
    const struct pm_belief beliefs[] = {{-0.048, 0.001}, {-0.05, 0.001}, {-0.02, 0.001}};
    /* Within the zone, and far outside of it. */
    assert_true(pm_alike_doubt(beliefs, 3, 0, 0.01).most < 1e-6);
    assert_true(pm_alike_doubt(beliefs, 3, 1, 0.01).most < 1e-6);
    assert_true(pm_alike_doubt(beliefs, 3, 2, 0.01).least > 1 - 1e-9);
    assert_true(pm_alike_doubt(beliefs, 3, 2, 0.01).most <= 1);
    /* At its edge nobody knows. */
    assert_true(fabs(pm_alike_doubt(beliefs, 2, 0, 0.002).least - 0.5) < 1e-9);
    assert_true(fabs(pm_alike_doubt(beliefs, 2, 0, 0.002).most - 0.5) < 1e-9);
    const struct pm_belief same[] = {{0, 0.001}, {0, 0.001}, {0, 0.001}};
    assert_true(fabs(pm_alike_doubt(same, 3, 0, 0).least - 0.5) < 1e-9);
    assert_true(fabs(pm_alike_doubt(same, 3, 0, 0).most - 1) < 1e-9);
    assert_true(fabs(pm_belief_is_faster(&beliefs[1], &beliefs[0], 0.002) - 0.5) < 1e-9);
    assert_true(pm_belief_is_faster(&beliefs[0], &beliefs[1], 0) < 0.1);
    assert_true(pm_belief_is_faster(&beliefs[1], &beliefs[0], 0) > 0.9);
    /* Alone nothing is faster. */
    assert_true(pm_alike_doubt(beliefs, 1, 0, 0).most <= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beliefs),
        cmocka_unit_test(test_doubt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
