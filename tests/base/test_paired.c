#include "base/paired.h"
#include "base/random.h"
#include "tests/cmocka_includes.h"
#include <math.h>

/* From tables of the distribution. */
static void test_student_quantile(void **state)
{
    (void)state;
    static const struct {
        double degrees, t;
    } known[] = {{1, 12.7062},  {2, 4.30265},  {3, 3.18245},   {7, 2.36462},
                 {9, 2.26216},  {12, 2.17881}, {17, 2.10982},  {25, 2.05954},
                 {40, 2.02108}, {80, 1.99006}, {200, 1.97190}, {1000, 1.96234}};
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        assert_true(fabs(pm_student_quantile(known[i].degrees) / known[i].t - 1) < 1e-3);
    assert_true(pm_student_quantile(0) == 12.7062);
    assert_true(pm_student_quantile(-3) == 12.7062);
    assert_true(pm_student_quantile(NAN) == 12.7062);
    assert_true(fabs(pm_student_quantile(1e30) - 1.959964) < 1e-9);
    for (double degrees = 1; degrees < 300; degrees *= 1.01)
        assert_true(pm_student_quantile(degrees) > pm_student_quantile(degrees * 1.01));
}

/* A sum of twelve uniform numbers is close to normal, with variance 1. */
static double normal(struct pm_random *random)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += pm_random_unit(random);
    return sum;
}

/* How many of 2,000 intervals miss the truth, for samples of `count`, some of them disturbed. */
static int misses(size_t count, double trim, double disturbed, double *width)
{
    struct pm_random random;
    pm_random_init(&random, 7);
    int missed = 0;
    *width = 0;
    for (int i = 0; i < 2000; i++) {
        double sample[64];
        for (size_t j = 0; j < count; j++) {
            sample[j] = log(0.9) + 0.05 * normal(&random);
            if (pm_random_unit(&random) < disturbed)
                sample[j] += pm_random_unit(&random) < 0.5 ? 2 : -2;
        }
        struct pm_paired out = pm_paired_interval(sample, count, trim);
        missed += out.low > 0.9 || out.high < 0.9;
        *width += (out.high - out.low) / 2000;
        assert_true(out.low <= out.ratio && out.ratio <= out.high);
    }
    return missed;
}

static void intervals_cover(void **state)
{
    (void)state;
    double width;
    for (size_t count = 8; count <= 64; count *= 2) {
        assert_in_range(misses(count, 0, 0, &width), 60, 140);
        assert_in_range(misses(count, 0.2, 0, &width), 50, 160);
    }
}

static void outliers_do_not_decide(void **state)
{
    (void)state;
    double plain, trimmed;
    misses(32, 0, 0.05, &plain);
    assert_true(misses(32, 0.2, 0.05, &trimmed) < 160);
    assert_true(trimmed < plain / 4);
}

static void few_say_nothing(void **state)
{
    (void)state;
    double one[] = {log(2)};
    struct pm_paired out = pm_paired_interval(one, 1, 0);
    assert_true(fabs(out.ratio - 2) < 1e-12 && out.low == 0 && isinf(out.high));
    out = pm_paired_interval(one, 0, 0.2);
    assert_true(out.low == 0 && isinf(out.high));
    double equal[] = {0, 0, 0};
    out = pm_paired_interval(equal, 3, 0);
    assert_true(out.ratio == 1 && out.low == 1 && out.high == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_student_quantile),
        cmocka_unit_test(intervals_cover),
        cmocka_unit_test(outliers_do_not_decide),
        cmocka_unit_test(few_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
