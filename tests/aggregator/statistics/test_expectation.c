#include "aggregator/statistics/expectation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
/* cmocka wants these before it. */
#include <cmocka.h>

static void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b)))
        fail_msg("%.12g, not %.12g", a, b);
}

static double choose(uint32_t n, uint32_t k)
{
    double value = 1;
    for (uint32_t i = 0; i < k; i++)
        value *= (double)(n - i) / (i + 1);
    return k > n ? 0 : value;
}

/* The sum that DESIGN writes; its terms alternate, so only small n. */
static double alternating(uint32_t n, uint32_t b)
{
    double sum = 0;
    for (uint32_t k = 1; k <= n; k++)
        sum += (k % 2 ? 1 : -1) * choose(n, k) / (1 - choose(n - k, b) / choose(n, b));
    return sum;
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    double harmonic = 0;
    for (uint32_t n = 1; n <= 3000; n++) {
        harmonic += 1.0 / n;
        if (n < 20 || n % 500 == 0)
            assert_near(pm_expected_samples(n, 1), n * harmonic, 1e-9);
    }
}

static void test_batches(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 16; n++) {
        for (uint32_t b = 1; b <= n; b++)
            assert_near(pm_expected_samples(n, b), alternating(n, b), 1e-6);
    }
    assert_near(pm_expected_samples(5, 9), 1, 1e-12);
    assert_true(pm_expected_samples(0, 8) == 0);
    assert_true(pm_expected_samples(8, 0) == 0);
}

/* Where the chain ends, the limit takes over. */
static void test_many_points(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 8, 64, 1000};
    for (unsigned i = 0; i < 4; i++) {
        const double last = pm_expected_samples(PM_EXPECTATION_EXACT, batches[i]);
        const double next = pm_expected_samples(PM_EXPECTATION_EXACT + 1, batches[i]);
        assert_near(next, last, 2e-3);
    }
    assert_near(pm_expected_samples(1000000, 1), 1000000 * (log(1e6) + 0.5772156649), 1e-5);
}

static void test_share(void **state)
{
    (void)state;
    assert_near(pm_expected_share(10, 1, 1), 0.1, 1e-12);
    assert_near(pm_expected_share(10, 2, 2), 1 - 0.8 * 0.8, 1e-12);
    assert_true(pm_expected_share(10, 10, 1) == 1 && pm_expected_share(10, 10, 5) == 1);
    assert_true(pm_expected_share(10, 3, 0) == 0 && pm_expected_share(0, 3, 5) == 0);
    assert_true(pm_expected_share(10, 3, 1e9) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_at_a_time),
        cmocka_unit_test(test_batches),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
