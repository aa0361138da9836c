#include "sampler/sampler.h"
#include "tests/sampler/chi_square.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SAMPLES = 200000, BINS = 20 };

/* Bins of about equal probability under p: bin i holds limits[i-1] < k <= limits[i]. Returns their
 * number. */
static size_t make_bins(double p, double *limits, double *probabilities)
{
    size_t bins = 0;
    double before = 1.0, last = 0.0;
    for (int i = 1; i < BINS; i++) {
        double limit = ceil(log1p(-(double)i / BINS) / log1p(-p));
        if (limit < last + 1.0)
            limit = last + 1.0;
        double after = exp(limit * log1p(-p));
        if (after * SAMPLES < 50.0)
            break;
        limits[bins] = limit;
        probabilities[bins++] = before - after;
        before = after;
        last = limit;
    }
    limits[bins] = INFINITY;
    probabilities[bins++] = before;
    return bins;
}

/* Draws with one p, judges by another. */
static bool fits(double drawn, double judged, uint64_t seed)
{
    double limits[BINS], probabilities[BINS];
    uint64_t counts[BINS] = {0};
    size_t bins = make_bins(judged, limits, probabilities);
    struct pm_random random;
    pm_random_init(&random, seed);
    for (int i = 0; i < SAMPLES; i++) {
        double k = (double)pm_geometric(&random, drawn);
        size_t bin = 0;
        while (k > limits[bin])
            bin++;
        counts[bin]++;
    }
    return chi_square_accepts(counts, probabilities, bins);
}

static void is_geometric(void **state)
{
    (void)state;
    const double p[] = {0.9, 0.5, 0.3, 0.05, 0.01, 1e-4, 1e-9, 1e-15, 3e-17, 1e-18};
    for (size_t i = 0; i < sizeof(p) / sizeof(p[0]); i++) {
        if (!fits(p[i], p[i], 100 + i))
            fail_msg("p = %g", p[i]);
    }
}

static void the_test_can_fail(void **state)
{
    (void)state;
    assert_false(fits(0.0102, 0.01, 7));
    assert_false(fits(0.51, 0.5, 7));
}

/* A p whose mean, 1e19, is near what 64 bits hold: what does not fit saturates, at the right rate.
 */
static void saturates(void **state)
{
    (void)state;
    struct pm_random random;
    pm_random_init(&random, 3);
    uint64_t counts[3] = {0};
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t k = pm_geometric(&random, 1e-19);
        counts[k == PM_NEVER ? 2 : k > UINT64_C(1) << 62]++;
    }
    double low = -expm1(-0x1p62 * 1e-19), high = exp(-0x1p64 * 1e-19);
    const double probabilities[3] = {low, 1.0 - low - high, high};
    assert_true(chi_square_accepts(counts, probabilities, 3));
}

static void has_edges(void **state)
{
    (void)state;
    struct pm_random random;
    pm_random_init(&random, 1);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(pm_geometric(&random, 1.0), 1);
        assert_int_equal(pm_geometric(&random, 2.0), 1);
        assert_true(pm_geometric(&random, 0.0) == PM_NEVER);
        assert_true(pm_geometric(&random, -1.0) == PM_NEVER);
        assert_true(pm_geometric(&random, NAN) == PM_NEVER);
        assert_true(pm_geometric(&random, DBL_TRUE_MIN) == PM_NEVER);
        assert_true(pm_geometric(&random, 1.0 - DBL_EPSILON) <= 2);
        assert_true(pm_geometric(&random, 0.5) >= 1);
    }
}

/* What is drawn with the p before is drawn as with any other. */
static void draws_again(void **state)
{
    (void)state;
    const double p[] = {0.01, 0.06, 0.01, 0.01, 1.0, 0.0, NAN, 1e-19, 1e-19, 0.06, 1.0, 0.06};
    struct pm_geometric_scale scale = {0};
    struct pm_random one, other;
    pm_random_init(&one, 5);
    other = one;
    for (int turn = 0; turn < 1000; turn++)
        for (size_t i = 0; i < sizeof p / sizeof p[0]; i++)
            assert_int_equal(pm_geometric_again(&one, &scale, p[i]), pm_geometric(&other, p[i]));
}

/* Every call of a frame is sampled equally often: hits by position among 100 calls, and their
 * total. */
static void calls_are_sampled_uniformly(void **state)
{
    (void)state;
    enum { CALLS = 100, FRAMES = 40000 };
    const double p = 0.03;
    uint64_t hits[CALLS] = {0}, totals[2] = {0};
    struct pm_random random;
    struct pm_call_sampler sampler;
    pm_random_init(&random, 11);
    pm_call_sampler_begin(&sampler, &random, p);
    for (int frame = 0; frame < FRAMES; frame++) {
        for (int call = 0; call < CALLS; call++)
            hits[call] += pm_call_sampler_hit(&sampler, &random, p);
    }
    assert_true(chi_square_uniform(hits, CALLS));
    for (int call = 0; call < CALLS; call++)
        totals[0] += hits[call];
    totals[1] = (uint64_t)CALLS * FRAMES - totals[0];
    assert_true(chi_square_accepts(totals, (double[]){p, 1.0 - p}, 2));
}

/* A command buffer may start its countdown afresh: the last of a buffer's calls keeps probability
 * p. */
static void a_fresh_start_changes_nothing(void **state)
{
    (void)state;
    enum { CALLS = 7, BUFFERS = 400000 };
    const double p = 0.05;
    uint64_t hits[CALLS] = {0}, totals[2] = {0};
    struct pm_random random;
    pm_random_init(&random, 12);
    for (int buffer = 0; buffer < BUFFERS; buffer++) {
        struct pm_call_sampler sampler;
        pm_call_sampler_begin(&sampler, &random, p);
        for (int call = 0; call < CALLS; call++)
            hits[call] += pm_call_sampler_hit(&sampler, &random, p);
    }
    assert_true(chi_square_uniform(hits, CALLS));
    for (int call = 0; call < CALLS; call++)
        totals[0] += hits[call];
    totals[1] = (uint64_t)CALLS * BUFFERS - totals[0];
    assert_true(chi_square_accepts(totals, (double[]){p, 1.0 - p}, 2));
}

static void never_is_never(void **state)
{
    (void)state;
    struct pm_random random;
    struct pm_call_sampler sampler;
    pm_random_init(&random, 1);
    pm_call_sampler_begin(&sampler, &random, 0.0);
    for (int i = 0; i < 100000; i++)
        assert_false(pm_call_sampler_hit(&sampler, &random, 0.0));
    assert_true(sampler.countdown == PM_NEVER);
    pm_call_sampler_begin(&sampler, &random, 1.0);
    for (int i = 0; i < 1000; i++)
        assert_true(pm_call_sampler_hit(&sampler, &random, 1.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_geometric),
        cmocka_unit_test(the_test_can_fail),
        cmocka_unit_test(saturates),
        cmocka_unit_test(has_edges),
        cmocka_unit_test(draws_again),
        cmocka_unit_test(calls_are_sampled_uniformly),
        cmocka_unit_test(a_fresh_start_changes_nothing),
        cmocka_unit_test(never_is_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
