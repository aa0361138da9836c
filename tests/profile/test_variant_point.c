#include "profile/variant_point.h"
#include "tests/cmocka_includes.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static void points_and_back(void **state)
{
    (void)state;
    for (uint32_t number = 1; number <= PM_VARIANT_NUMBERS; number++)
        for (uint32_t second = 0; second <= PM_VARIANT_NUMBERS; second += 7) {
            const struct pm_variant_id id = {{number, 1 + number % PM_VARIANT_VERSIONS},
                                             {second, second ? PM_VARIANT_VERSIONS : 0}};
            struct pm_variant_id back;
            uint32_t point;
            assert_true(pm_variant_point(&id, &point));
            assert_true(point > 0 && point < PM_VARIANT_SPACE);
            assert_true(pm_variant_id_of(point, &back));
            assert_memory_equal(&id, &back, sizeof id);
        }
    uint32_t point;
    struct pm_variant_id id;
    assert_false(pm_variant_point(&(struct pm_variant_id){.first = {0, 1}}, &point));
    assert_false(pm_variant_point(&(struct pm_variant_id){.first = {64, 1}}, &point));
    assert_false(pm_variant_point(&(struct pm_variant_id){.first = {1, 16}}, &point));
    assert_false(pm_variant_point(&(struct pm_variant_id){{1, 1}, {1, 0}}, &point));
    assert_false(pm_variant_id_of(0, &id));
    assert_false(pm_variant_id_of(PM_VARIANT_SPACE, &id));
    assert_false(pm_variant_id_of(1, &id)); /* of version 0 */
}

static void assert_named(struct pm_variant_id id, const char *expected)
{
    char name[PM_VARIANT_POINT_NAME];
    uint32_t point;
    assert_true(pm_variant_point(&id, &point));
    pm_variant_point_name(point, name);
    assert_string_equal(name, expected);
}

static void names(void **state)
{
    (void)state;
    char name[PM_VARIANT_POINT_NAME];
    assert_named((struct pm_variant_id){.first = {16, 1}}, "hoist");
    assert_named((struct pm_variant_id){{16, 1}, {28, 3}}, "hoist+strength");
    assert_named((struct pm_variant_id){{16, 3}, {55, 1}}, "hoist@3+#55@1");
    pm_variant_point_name(0, name);
    assert_string_equal(name, "none");
    assert_true(pm_variant_is_known(16 | 1 << 6));
    assert_false(pm_variant_is_known(16 | 2 << 6));
    assert_false(pm_variant_is_known(55 | 1 << 6));
    assert_true(pm_variant_is_known(16 | 1 << 6 | (28 | 3 << 6) << 10));
    assert_false(pm_variant_is_known(16 | 1 << 6 | (55 | 1 << 6) << 10));
    assert_false(pm_variant_is_known(0));
    for (uint32_t size = 1; size <= 128; size *= 2) {
        const struct pm_variant_recipe number = pm_variant_subgroup(size);
        char expected[32];
        snprintf(expected, sizeof expected, "hoist+subgroup-%u", size);
        assert_int_equal(pm_variant_subgroup_size(&number), size);
        assert_named((struct pm_variant_id){{16, 1}, number}, expected);
        assert_named((struct pm_variant_id){.first = number}, expected + strlen("hoist+"));
    }
    assert_int_equal(pm_variant_subgroup(24).number, 0);
    assert_int_equal(pm_variant_subgroup_size(&(struct pm_variant_recipe){16, 1}), 0);
    /* A size comes last. */
    assert_false(pm_variant_is_known(60 | 1 << 6 | (16 | 1 << 6) << 10));
}

/* Whatever the versions; those of two behind all of one. */
static void ranks(void **state)
{
    (void)state;
    static const struct pm_variant_id ids[] = {
        {{PM_VARIANT_CANONICAL, 1}, {0, 0}}, {{14, 2}, {0, 0}},  {{16, 1}, {0, 0}},
        {{PM_VARIANT_NUMBERS, 1}, {0, 0}},   {{2, 1}, {3, 1}},   {{14, 2}, {16, 1}},
        {{14, 2}, {PM_VARIANT_SUBGROUP, 1}}, {{16, 1}, {14, 2}},
    };
    uint32_t rank = 0;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_true(pm_variant_rank(&ids[i]) > rank);
        rank = pm_variant_rank(&ids[i]);
    }
}

/* What is said is the mean, within the bounds, however sessions are added up. */
static void what_is_said(void **state)
{
    (void)state;
    static const double means[] = {0, -0.05, 0.031, 1, -1, -0.125};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        const struct pm_point_counts counts = pm_variant_counts(7, 9, means[i]);
        const double share =
            (double)counts.counts[PM_VARIANT_SAID] / (double)counts.counts[PM_VARIANT_MOST];
        assert_true(counts.counts[PM_VARIANT_SAID] <= counts.counts[PM_VARIANT_MOST]);
        assert_int_equal(counts.counts[PM_VARIANT_MOST], 9 * PM_VARIANT_UNIT);
        assert_true(fabs(pm_variant_log(share) -
                         fmax(-PM_VARIANT_CLIP, fmin(means[i], PM_VARIANT_CLIP))) < 1e-6);
    }
    const struct pm_point_counts a = pm_variant_counts(7, 8, -0.1), b = pm_variant_counts(7, 24, 0);
    const double share = (double)(a.counts[PM_VARIANT_SAID] + b.counts[PM_VARIANT_SAID]) /
                         (double)(a.counts[PM_VARIANT_MOST] + b.counts[PM_VARIANT_MOST]);
    assert_true(fabs(pm_variant_log(share) + 0.025) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_and_back),
        cmocka_unit_test(names),
        cmocka_unit_test(ranks),
        cmocka_unit_test(what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
