/* Intervals that hold together: what it takes until a shader's points are known all at once. */
#include "aggregator/curation/joint.h"
#include "aggregator/statistics/estimate.h"
#include <math.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { MOST = 32, WRITES = 100 };

static const struct pm_coverage_rules rules = {
    .half_width_absolute = 0.05, .half_width_relative = 0.10, .sessions_for_never = 20};

struct shader {
    struct pm_aged aged;
    struct pm_point_estimate points[MOST];
    uint8_t deficit[MOST / 8];
    uint32_t lacking, space;
};

/* Of each cluster every point is all zero or never: of the first `unsure` points one in ten, of
 * the others none. */
static void make(struct shader *shader, uint32_t space, uint32_t unsure, unsigned clusters)
{
    struct pm_statistics statistics;
    struct pm_error error;
    memset(shader, 0, sizeof(*shader));
    pm_statistics_init(&statistics);
    pm_aged_init(&shader->aged);
    shader->space = space;
    for (unsigned i = 0; i < clusters; i++) {
        struct pm_point_counts counts[MOST];
        for (uint32_t j = 0; j < space; j++) {
            const bool zero = j < unsure && (i + j) % 10 == 0;
            counts[j] = (struct pm_point_counts){.point = j,
                                                 .calls = 1,
                                                 .entry_lanes = WRITES,
                                                 .entry_subgroups = WRITES,
                                                 .counts = {WRITES, zero ? WRITES : 0}};
        }
        const struct pm_shader_profile profile = {
            .kind = PM_KIND_ZERO, .space = space, .points = counts, .point_count = space};
        if (!pm_statistics_add_profile(&statistics, &profile, &error))
            fail_msg("%s", error.message);
    }
    assert_true(pm_aged_add(&shader->aged, &statistics, 0, 0, &error));
    pm_statistics_finish(&statistics);
    for (uint32_t i = 0; i < space; i++) {
        pm_estimate_aged_point(&shader->aged, &shader->aged.points[i], &shader->points[i]);
        assert_true(pm_is_well_known(&rules, PM_KIND_ZERO, &shader->points[i]));
    }
    assert_true(pm_joint_find(&rules, &shader->aged, shader->points, shader->deficit,
                              &shader->lacking, &error));
}

static double half_of(const struct shader *shader, uint32_t point)
{
    const struct pm_ratio *zero = &shader->points[point].measures[PM_MEASURE_ZERO];
    return (zero->ratio_high - zero->ratio_low) / 2;
}

/* As many uploads as each point needs by itself, and then as all need together. */
static void test_all_at_once(void **state)
{
    struct shader shader;
    (void)state;
    make(&shader, 1, 1, 160);
    assert_int_equal(shader.lacking, 0);
    const double alone = half_of(&shader, 0);
    pm_aged_finish(&shader.aged);
    make(&shader, 16, 16, 160);
    assert_int_equal(shader.lacking, 16);
    assert_int_equal(shader.deficit[0] & shader.deficit[1], 0xFF);
    assert_true(half_of(&shader, 3) > 0.05);
    assert_false(pm_is_well_known(&rules, PM_KIND_ZERO, &shader.points[3]));
    pm_aged_finish(&shader.aged);
    make(&shader, 16, 16, 400);
    assert_int_equal(shader.lacking, 0);
    for (uint32_t i = 0; i < 16; i++)
        assert_true(pm_is_well_known(&rules, PM_KIND_ZERO, &shader.points[i]));
    /* Wider than one of 95 %, of as many clusters. */
    assert_true(half_of(&shader, 0) > 1.3 * alone * sqrt(160.0 / 400));
    pm_aged_finish(&shader.aged);
}

/* What is known far better than is asked for costs the others little. */
static void test_the_sure_cost_nothing(void **state)
{
    struct shader shader;
    (void)state;
    make(&shader, 32, 1, 260);
    assert_int_equal(shader.lacking, 0);
    assert_true(half_of(&shader, 0) <= 0.05);
    assert_true(half_of(&shader, 1) <= 0.05);
    pm_aged_finish(&shader.aged);
    make(&shader, 32, 32, 260);
    assert_int_equal(shader.lacking, 32);
    pm_aged_finish(&shader.aged);
}

/* The least error is that of the interval which is just as wide. */
static void test_least_error(void **state)
{
    struct shader shader;
    struct pm_point_estimate found;
    (void)state;
    make(&shader, 1, 1, 200);
    for (double half = 0.03; half < 0.2; half *= 1.3) {
        const struct pm_half_widths halves[PM_MEASURES] = {
            [PM_MEASURE_ZERO] = {half, half}, [PM_MEASURE_WRITES] = {INFINITY, INFINITY}};
        double errors[PM_MEASURES];
        pm_estimate_aged_errors(&shader.aged, &shader.aged.points[0], halves, 1e-12, errors);
        pm_estimate_aged_point_at(&shader.aged, &shader.aged.points[0], errors, &found);
        const double error = errors[PM_MEASURE_ZERO];
        const struct pm_ratio *zero = &found.measures[PM_MEASURE_ZERO];
        if (error > 1e-11 && fabs((zero->mean_high - zero->mean_low) / 2 - half) > 1e-3 * half)
            fail_msg("error %g: half of it is %g, not %g", error,
                     (zero->mean_high - zero->mean_low) / 2, half);
    }
    pm_aged_finish(&shader.aged);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_the_sure_cost_nothing),
        cmocka_unit_test(test_least_error),
    };
    return cmocka_run_group_tests_name("joint", tests, NULL, NULL);
}
