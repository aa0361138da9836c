/* What a few clusters say of a share, with a prior that is learned. */
#include "aggregator/statistics/provisional.h"
#include "base/random.h"
#include <math.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static struct pm_evidence evidence(double share, uint32_t clusters)
{
    return pm_evidence_of(&(struct pm_ratio){.mean = share, .clusters = clusters});
}

static void test_evidence(void **state)
{
    (void)state;
    const struct pm_evidence most = evidence(1e9, 1000), least = evidence(-1, 0);
    assert_int_equal(most.share, 255);
    assert_int_equal(most.clusters, 255);
    assert_int_equal(least.share, 0);
    assert_int_equal(least.clusters, 0);
}

/* Points drawn from a beta distribution: the fit finds its mean and how wide it is. */
static void fits(double low, double share_low, double high, double strength)
{
    struct pm_prior_moments moments = {0};
    uint64_t random = 7;
    for (int i = 0; i < 4000; i++) {
        const double p = i % 100 < 100 * share_low ? low : high;
        const int n = 5 + i % 7;
        int ones = 0;
        for (int j = 0; j < n; j++) {
            random = pm_random_mix(random + 1);
            ones += (double)(random >> 11) * 0x1p-53 < p;
        }
        const struct pm_evidence point = evidence((double)ones / n, (uint32_t)n);
        pm_prior_add(&moments, &point, 1);
    }
    const struct pm_prior prior = pm_prior_fit(&moments);
    assert_true(fabs(prior.mean - (share_low * low + (1 - share_low) * high)) < 0.02);
    assert_true(fabs(prior.strength - strength) < 0.15 * strength);
}

static void test_fit(void **state)
{
    (void)state;
    /* Two values of mean m and variance v are as wide as Beta with strength m(1-m)/v - 1. */
    fits(0.2, 0.5, 0.8, 0.25 / 0.09 - 1);
    fits(0.1, 0.75, 0.7, 0.25 * 0.75 / 0.0675 - 1);
    fits(0.01, 0.7, 0.99, 0.5); /* wider than is believed */
    fits(0.3, 0.5, 0.3, 8);     /* narrower */
}

static void test_without_points(void **state)
{
    (void)state;
    const struct pm_prior_moments none = {0};
    const struct pm_prior prior = pm_prior_fit(&none);
    assert_true(prior.mean == 0.5 && prior.strength == 1);
    struct pm_prior_moments zeros = {0};
    const struct pm_evidence never[] = {evidence(0, 200), evidence(0, 200)};
    pm_prior_add(&zeros, never, 2);
    const struct pm_prior low = pm_prior_fit(&zeros);
    assert_true(low.mean > 0 && low.mean < 0.01 && isfinite(low.strength));
}

/* However many points one sum is of. */
static void test_merge(void **state)
{
    (void)state;
    struct pm_prior_moments all = {0}, large = {0}, small = {0};
    const struct pm_evidence one = evidence(1, 10), zero = evidence(0, 10);
    for (int i = 0; i < 10000; i++)
        pm_prior_add(&large, &one, 1);
    for (int i = 0; i < 100; i++)
        pm_prior_add(&small, &zero, 1);
    pm_prior_merge(&all, &large, 100);
    pm_prior_merge(&all, &small, 100);
    assert_true(fabs(all.points - 200) < 1e-9);
    assert_true(fabs(pm_prior_fit(&all).mean - 0.5) < 0.01);
}

static void test_levels(void **state)
{
    (void)state;
    const struct pm_prior prior = {0.2, 1};
    const struct pm_evidence points[] = {evidence(1, 5), evidence(0, 5), evidence(0.5, 5),
                                         evidence(1, 4), evidence(0, 0)};
    uint8_t levels[5];
    assert_true(pm_provisional_find(points, 5, &prior, 5, levels));
    const uint8_t expected[] = {PM_PROVISIONAL_LIKELY, PM_PROVISIONAL_UNLIKELY,
                                PM_PROVISIONAL_UNKNOWN, PM_PROVISIONAL_UNKNOWN,
                                PM_PROVISIONAL_UNKNOWN};
    assert_memory_equal(levels, expected, sizeof(expected));
    assert_false(pm_provisional_find(points, 5, &prior, 6, levels));
    assert_false(pm_provisional_find(&points[4], 1, &prior, 0, levels));
}

/* The same two clusters say more in a shader whose other points are alike, and what they say is
 * shrunk where those are not. */
static void test_other_points(void **state)
{
    (void)state;
    const struct pm_prior prior = {0.3, 4};
    struct pm_evidence points[12];
    uint8_t levels[12];
    points[0] = evidence(1, 2);
    for (int i = 1; i < 12; i++)
        points[i] = evidence(1, 200);
    pm_provisional_find(points, 12, &prior, 1, levels);
    assert_int_equal(levels[0], PM_PROVISIONAL_LIKELY);
    for (int i = 1; i < 12; i++)
        points[i] = evidence(0, 200);
    pm_provisional_find(points, 12, &prior, 1, levels);
    assert_int_equal(levels[0], PM_PROVISIONAL_UNKNOWN);
    assert_int_equal(levels[1], PM_PROVISIONAL_UNLIKELY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evidence),       cmocka_unit_test(test_fit),
        cmocka_unit_test(test_without_points), cmocka_unit_test(test_merge),
        cmocka_unit_test(test_levels),         cmocka_unit_test(test_other_points),
    };
    return cmocka_run_group_tests_name("provisional", tests, NULL, NULL);
}
