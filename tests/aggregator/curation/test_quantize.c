/* How exactly numbers are published (aggregator/curation/quantize.h). */
#include "aggregator/curation/quantize.h"
#include "tests/cmocka_includes.h"
#include <math.h>

static void test_quantized(void **state)
{
    struct pm_point_estimate point = {.calls = 1000, .sessions = 77};
    struct pm_ratio *ratio = &point.measures[0];
    (void)state;
    *ratio = (struct pm_ratio){0.3337, 0.2811, 0.3922, 0.99, 0.951, 1, 77};
    for (unsigned i = 1; i < PM_MEASURES; i++)
        point.measures[i] = (struct pm_ratio){0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 15};
    pm_quantize_points(PM_KIND_BLOCK, &point, 1);
    assert_int_equal(point.calls, 960);
    assert_int_equal(point.sessions, 72);
    assert_int_equal(ratio->clusters, 72);
    /* Half of the half-width is 0.0278: steps of 1/64. */
    assert_true(fabs(ratio->mean - 0.328125) < 1e-12);
    assert_true(ratio->mean_low <= 0.2811 && ratio->mean_low > 0.2811 - 1.0 / 64);
    assert_true(ratio->mean_high >= 0.3922 && ratio->mean_high < 0.3922 + 1.0 / 64);
    assert_true(ratio->ratio_high == 1 && ratio->ratio <= 1);
    /* Where nothing is uncertain there is nothing to hide behind. */
    assert_true(point.measures[1].mean == 0.5 && point.measures[1].clusters == 15);
    const struct pm_lying lying = pm_quantize_lying((struct pm_lying){17, 0.0498});
    assert_int_equal(lying.tokens, 16);
    assert_true(lying.error == 7 / 128.0);
    assert_true(pm_quantize_lying((struct pm_lying){0, 7 / 128.0}).error == 7 / 128.0);
    assert_true(pm_quantize_lying((struct pm_lying){0, 0.0010001}).error == 5 / 4096.0);
    assert_true(pm_quantize_lying((struct pm_lying){0, 0.95}).error == 1);
    assert_true(pm_quantize_lying((struct pm_lying){0, 1}).error == 1);
    assert_true(pm_quantize_lying((struct pm_lying){0, 0}).error == 0);
    assert_int_equal(pm_quantize_count(0), 0);
    assert_int_equal(pm_quantize_count(15), 15);
    assert_int_equal(pm_quantize_count(17), 16);
    assert_true(pm_quantize_count(UINT64_MAX) == UINT64_C(15) << 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
