/*
 * The intervals, by simulation: many samples of clusters from populations whose truth is known, and
 * how often the interval covers it. Deterministic seeds; the table goes to the output.
 */
#include "aggregator/statistics/estimate.h"

#include "base/random.h"
#include "tests/all.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

/* ---- populations ---- */

static double normal(struct pm_random *random)
{
    const double u = 1 - pm_random_unit(random), v = pm_random_unit(random);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

struct cluster {
    uint64_t x, y;
};

static struct cluster with_ratio(double x, double r)
{
    const struct cluster cluster = {.x = (uint64_t)ceil(x)};
    return (struct cluster){.x = cluster.x,
                            .y = (uint64_t)floor((double)cluster.x * fmax(r, 0) + 0.5)};
}

static double unit_range(double r)
{
    return fmin(fmax(r, 0), 1);
}

/* Sessions of about e^8 lanes, which vary by e^±sigma. */
static double lognormal(struct pm_random *random, double sigma)
{
    return exp(8 + sigma * normal(random));
}

/* All lanes or none of a session, with probability p. */
static struct cluster bernoulli(struct pm_random *random, double p)
{
    return with_ratio(1000, pm_random_unit(random) < p);
}

static struct cluster bernoulli_heavy(struct pm_random *random, double p)
{
    return with_ratio(lognormal(random, 1), pm_random_unit(random) < p);
}

/* Scenes with different truths. */
static struct cluster two_scenes(struct pm_random *random, double p)
{
    const double r = pm_random_unit(random) < p ? 0.9 : 0.1;
    return with_ratio(lognormal(random, 0.5), unit_range(r + 0.03 * normal(random)));
}

/* Full screens and draws of a few pixels, which look different. */
static struct cluster screens(struct pm_random *random, double p)
{
    if (pm_random_unit(random) < p)
        return with_ratio(2e6, unit_range(0.3 + 0.1 * normal(random)));
    return with_ratio(3 + pm_random_below(random, 100), pm_random_unit(random));
}

static struct cluster heavy_lognormal(struct pm_random *random, double sigma)
{
    return with_ratio(lognormal(random, sigma), pm_random_unit(random));
}

/* No screen is larger than some: else there would be no variance to speak of. */
static struct cluster heavy_pareto(struct pm_random *random, double alpha)
{
    const double x = 3 * pow(1 - pm_random_unit(random), -1 / alpha);
    return with_ratio(fmin(x, 8e6), pm_random_unit(random));
}

/* Ten times in most sessions, ten million times in some, which are different. */
static struct cluster ten_millions(struct pm_random *random, double p)
{
    if (pm_random_unit(random) < p)
        return with_ratio(1e7, unit_range(0.8 + 0.1 * normal(random)));
    return with_ratio(10, unit_range(0.2 + 0.1 * normal(random)));
}

/* Alike in all sessions, but for a little. */
static struct cluster alike(struct pm_random *random, double sigma)
{
    return with_ratio(lognormal(random, 1), unit_range(0.5 + sigma * normal(random)));
}

static struct cluster loop_normal(struct pm_random *random, double mean)
{
    return with_ratio(lognormal(random, 1), mean * (1 + 0.25 * normal(random)));
}

static struct cluster loop_geometric(struct pm_random *random, double p)
{
    return with_ratio(lognormal(random, 1), floor(log(1 - pm_random_unit(random)) / log(p)));
}

static struct cluster loop_lognormal(struct pm_random *random, double sigma)
{
    return with_ratio(lognormal(random, 1), exp(2 + sigma * normal(random)));
}

/* Four iterations in one scene, sixteen in the other. */
static struct cluster loop_two_scenes(struct pm_random *random, double p)
{
    const double r = pm_random_unit(random) < p ? 16 + normal(random) : 4 + 0.5 * normal(random);
    return with_ratio(lognormal(random, 0.7), r);
}

/* Entered in few sessions, and then for many iterations. */
static struct cluster loop_seldom(struct pm_random *random, double p)
{
    return with_ratio(lognormal(random, 0.7), pm_random_unit(random) < p ? 16 : 0);
}

static struct cluster loop_constant(struct pm_random *random, double count)
{
    return with_ratio(lognormal(random, 1), count);
}

struct population {
    const char *name;
    struct cluster (*draw)(struct pm_random *random, double parameter);
    double parameter;
    bool bounded;
    bool wide; /* the imagined clusters outweigh a variance this small, zeros and ones are too few
                  to hit 95 %, or it is less skewed than what is allowed for: only the lower bound
                  of the coverage is asked for */
};

static const struct population populations[] = {
    {"all or none, 1 %", bernoulli, 0.01, true, true},
    {"all or none, 5 %", bernoulli, 0.05, true, true},
    {"all or none, 20 %", bernoulli, 0.2, true, false},
    {"all or none, 50 %", bernoulli, 0.5, true, false},
    {"all or none, 95 %", bernoulli, 0.95, true, true},
    {"all or none, 99 %", bernoulli, 0.99, true, true},
    {"… 20 %, sizes vary", bernoulli_heavy, 0.2, true, false},
    {"scenes 0.1 and 0.9, 3:1", two_scenes, 0.25, true, false},
    {"scenes 0.1 and 0.9, 1:1", two_scenes, 0.5, true, false},
    {"scenes 0.1 and 0.9, 9:1", two_scenes, 0.1, true, true},
    {"3 pixels and screens 1:1", screens, 0.5, true, true},
    {"3 pixels and screens 7:3", screens, 0.3, true, true},
    {"lognormal sizes, s = 1", heavy_lognormal, 1, true, true},
    {"lognormal sizes, s = 1.5", heavy_lognormal, 1.5, true, true},
    {"Pareto sizes, a = 2", heavy_pareto, 2, true, true},
    {"alike, s = 0.2", alike, 0.2, true, true},
    {"alike, s = 0.02", alike, 0.02, true, true},
    {"loop, normal", loop_normal, 8, false, true},
    {"loop, geometric", loop_geometric, 0.8, false, true},
    {"loop, lognormal s = 0.6", loop_lognormal, 0.6, false, true},
    {"loop, lognormal s = 1", loop_lognormal, 1, false, false},
    {"loop, 4 and 16, 7:3", loop_two_scenes, 0.3, false, false},
    {"loop, 4 and 16, 1:1", loop_two_scenes, 0.5, false, false},
    {"loop, 0 and 16, 6:4", loop_seldom, 0.4, false, false},
    {"loop, always 8", loop_constant, 8, false, true},
};

/* ---- simulation ---- */

#define TRUTH_CLUSTERS 1000000

static int rounds(void)
{
    return pm_test_all() ? 4000 : 1500;
}

static const unsigned sizes[] = {5, 10, 20, 50, 200};
enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

struct truth {
    double mean, ratio;
};

static struct truth find_truth(const struct population *population)
{
    struct pm_random random;
    long double x = 0, y = 0, r = 0;
    pm_random_init(&random, 2026);
    for (int i = 0; i < TRUTH_CLUSTERS; i++) {
        const struct cluster one = population->draw(&random, population->parameter);
        x += one.x;
        y += one.y;
        r += (long double)one.y / one.x;
    }
    return (struct truth){(double)(r / TRUTH_CLUSTERS), (double)(y / x)};
}

/* The estimate of n clusters, as uploads would make them. */
static struct pm_ratio estimate(const struct cluster *clusters, unsigned n, bool bounded)
{
    static const uint8_t once = 1;
    struct pm_statistics statistics;
    struct pm_point_counts *points = calloc(n, sizeof(*points));
    struct pm_shader_profile *shaders = calloc(n, sizeof(*shaders));
    assert_true(points && shaders);
    pm_statistics_init(&statistics);
    for (unsigned i = 0; i < n; i++) {
        points[i] = (struct pm_point_counts){.calls = 1,
                                             .entry_lanes = clusters[i].x,
                                             .entry_subgroups = clusters[i].x,
                                             .counts = {clusters[i].y, 0, clusters[i].y}};
        shaders[i] = (struct pm_shader_profile){.kind = PM_KIND_BLOCK,
                                                .space = 1,
                                                .points = &points[i],
                                                .point_count = 1,
                                                .at_most_once = bounded ? &once : NULL};
    }
    assert_true(pm_statistics_add_profiles(&statistics, shaders, n, NULL));
    struct pm_point_estimate out;
    pm_estimate_point(&statistics, &statistics.points[0], &out);
    pm_statistics_finish(&statistics);
    free(points);
    free(shaders);
    return out.measures[PM_MEASURE_FREQUENCY];
}

#define CLUSTERS_MOST 2000

static struct pm_ratio draw(const struct population *population, struct pm_random *random,
                            unsigned n)
{
    struct cluster clusters[CLUSTERS_MOST];
    for (unsigned i = 0; i < n; i++)
        clusters[i] = population->draw(random, population->parameter);
    return estimate(clusters, n, population->bounded);
}

struct coverage {
    double mean, ratio;           /* percent */
    double mean_half, ratio_half; /* half widths, on average */
};

static struct coverage simulate(const struct population *population, struct truth truth, unsigned n)
{
    struct coverage out = {0};
    struct pm_random random;
    pm_random_init(&random, 7 + n);
    for (int i = 0; i < rounds(); i++) {
        const struct pm_ratio ratio = draw(population, &random, n);
        assert_true(ratio.mean_low <= ratio.mean && ratio.mean <= ratio.mean_high);
        assert_true(ratio.ratio_low <= ratio.ratio && ratio.ratio <= ratio.ratio_high);
        assert_true(ratio.mean_low < ratio.mean_high && ratio.ratio_low < ratio.ratio_high);
        assert_true(ratio.mean_low >= 0 && ratio.ratio_low >= 0);
        assert_true(!population->bounded || (ratio.mean_high <= 1 && ratio.ratio_high <= 1));
        out.mean += ratio.mean_low <= truth.mean && truth.mean <= ratio.mean_high;
        out.ratio += ratio.ratio_low <= truth.ratio && truth.ratio <= ratio.ratio_high;
        out.mean_half += (ratio.mean_high - ratio.mean_low) / 2;
        out.ratio_half += (ratio.ratio_high - ratio.ratio_low) / 2;
    }
    out.mean *= 100.0 / rounds();
    out.ratio *= 100.0 / rounds();
    out.mean_half /= rounds();
    out.ratio_half /= rounds();
    return out;
}

/* Twice the standard error of a coverage of 95 % in so many rounds, in percent. */
static double rounds_error(void)
{
    return 200 * sqrt(0.95 * 0.05 / rounds());
}

/* n >= 10: 95 to 99 %, and above only where that is the floor's price; n = 5, where all may be of
 * one kind: 91 % and more. */
static bool is_right(const struct population *population, unsigned n, double percent)
{
    if (n < 10)
        return percent >= 91 - rounds_error();
    return percent >= 95 - rounds_error() && (percent <= 99 || population->wide || n < 20);
}

static void test_coverage(void **state)
{
    (void)state;
    unsigned wrong = 0;
    printf("Coverage of 95 %% intervals in %d rounds, in percent, of the mean of ratios and the "
           "ratio of sums, and "
           "half their widths\n%-26s",
           rounds(), "clusters");
    for (unsigned i = 0; i < SIZES; i++)
        printf("| %-24u", sizes[i]);
    printf("\n");
    for (size_t i = 0; i < sizeof(populations) / sizeof(*populations); i++) {
        const struct population *population = &populations[i];
        const struct truth truth = find_truth(population);
        printf("%-26s", population->name);
        for (unsigned j = 0; j < SIZES; j++) {
            const struct coverage found = simulate(population, truth, sizes[j]);
            const bool right = is_right(population, sizes[j], found.mean) &&
                               is_right(population, sizes[j], found.ratio);
            wrong += !right;
            printf("|%c%5.1f %5.1f %5.3f %5.3f ", right ? ' ' : '!', found.mean, found.ratio,
                   found.mean_half, found.ratio_half);
        }
        printf("\n");
        fflush(stdout);
    }
    assert_int_equal(wrong, 0);
}

/* A point that some run a million times as often as the others: its ratio of sums is theirs, and
 * its interval holds it. Where they are fewer than one in 16, they are not believed that much. */
static void test_heavy_tails(void **state)
{
    (void)state;
    static const struct population many = {"", ten_millions, 1.0 / 7, true, true};
    static const struct population few = {"", ten_millions, 1.0 / 50, true, true};
    const struct truth truth = find_truth(&many);
    struct pm_random random;
    assert_true(fabs(truth.ratio - 0.8) < 0.01);
    for (unsigned n = 50; n <= CLUSTERS_MOST; n *= 6) {
        const struct coverage found = simulate(&many, truth, n);
        printf("10 or 10 million times, 6:1, %u clusters: %.1f %.1f %.3f %.3f\n", n, found.mean,
               found.ratio, found.mean_half, found.ratio_half);
        assert_true(found.ratio >= 95 - rounds_error());
    }
    pm_random_init(&random, 3);
    const struct pm_ratio found = draw(&few, &random, CLUSTERS_MOST);
    assert_true(found.mean < 0.25 && found.ratio > found.mean + 0.05 && found.ratio < 0.6);
}

/* ---- rogues ---- */

/* Claims: anything at all, often what many others have, or a little more. */
static uint64_t claim(struct pm_random *random, uint64_t honest)
{
    switch (pm_random_below(random, 4)) {
    case 0:
        return UINT64_C(1) << pm_random_below(random, 64);
    case 1:
        return (honest << pm_random_below(random, 12)) + 1;
    case 2:
        return honest * (1 + pm_random_below(random, 64));
    default:
        return (pm_random_next(random) >> pm_random_below(random, 64)) | 1;
    }
}

/* c of n clusters have at most 16 c/n of a ratio of sums, whatever they claim, and c/n of a mean of
 * ratios; of a loop's at most so many times (max(16, 16 of its own mean) and the cells' four). */
static void test_rogues_move_by_their_share(void **state)
{
    (void)state;
    struct pm_random random;
    pm_random_init(&random, 11);
    double most = 0;
    for (int round = 0; round < 3000; round++) {
        struct cluster clusters[CLUSTERS_MOST] = {{0}};
        const bool bounded = round % 3 != 0;
        const unsigned honest = 40 + pm_random_below(&random, 1900);
        const unsigned rogues = 1 + pm_random_below(&random, 8), n = honest + rogues;
        const double sigma = 0.5 * pm_random_below(&random, 4);
        const double truth = bounded ? 0.25 * pm_random_below(&random, 5) : 3;
        for (unsigned i = 0; i < honest; i++) {
            const uint64_t x = 4 * (uint64_t)ceil(lognormal(&random, sigma));
            clusters[i] = (struct cluster){x, (uint64_t)((double)x * truth)};
        }
        const uint64_t x = claim(&random, clusters[0].x);
        const double lie = truth < 0.5 ? 1 : 0;
        for (unsigned i = honest; i < n; i++) {
            const uint64_t own =
                pm_random_below(&random, 2) ? x : claim(&random, clusters[i % honest].x);
            clusters[i] = bounded ? (struct cluster){own, (uint64_t)lie * own}
                                  : (struct cluster){own, claim(&random, clusters[0].x)};
        }
        const struct pm_ratio found = estimate(clusters, n, bounded);
        const double share = (double)rogues / n;
        if (bounded) {
            const double moved = fabs(found.ratio - truth) / fabs(lie - truth);
            assert_true(fabs(found.mean - truth) <= fabs(lie - truth) * share + 1e-6);
            if (moved > 16 * share + 1e-6)
                fail_msg("%u of %u moved the ratio of sums by %g", rogues, n, moved);
            most = fmax(most, moved / share);
        } else {
            const double cap = 4 * 16 * fmax(found.mean, 1);
            assert_true(found.mean <= truth + share * cap &&
                        found.mean >= truth * (1 - share) - 1e-6);
            assert_true(found.ratio <= truth + 16 * share * cap);
            assert_true(found.ratio >= truth * (1 - fmin(16 * share, 1)) - 1e-6);
        }
    }
    /* The bound is what somebody who tries can reach. */
    assert_true(most > 12);
}

/* ---- details ---- */

static struct pm_ratio of_equal(unsigned n, uint64_t y, uint64_t x, bool bounded)
{
    struct cluster clusters[CLUSTERS_MOST];
    for (unsigned i = 0; i < n; i++)
        clusters[i] = (struct cluster){x, y};
    return estimate(clusters, n, bounded);
}

/* Equal samples: never zero width, and narrow enough to publish after some dozens of sessions. */
static void test_equal_samples(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 50, 99, 100, 800};
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        const bool bounded = values[i] <= 100;
        unsigned narrow_at = 0;
        double before = INFINITY;
        for (unsigned n = 1; n <= 100; n++) {
            const struct pm_ratio ratio = of_equal(n, values[i], 100, bounded);
            const double width = ratio.ratio_high - ratio.ratio_low;
            assert_true(fabs(ratio.ratio - (double)values[i] / 100) < 1e-9);
            assert_true(fabs(ratio.mean - ratio.ratio) < 1e-9);
            assert_true(width > 0.5 / n * fmin(0.2, fmax(1, ratio.ratio)));
            assert_true(width < before);
            before = width;
            if (!narrow_at &&
                pm_estimate_is_narrow(ratio.ratio, ratio.ratio_low, ratio.ratio_high, 0.05, 0.1))
                narrow_at = n;
        }
        assert_in_range(narrow_at, 10, 50);
    }
}

static void test_no_clusters(void **state)
{
    (void)state;
    const struct pm_ratio ratio = pm_estimate_cells(NULL, 0, &(struct pm_estimate_basis){0});
    assert_int_equal(ratio.clusters, 0);
    assert_true(ratio.mean == 0 && ratio.mean_low == 0 && ratio.mean_high == 1);
    assert_true(ratio.ratio == 0 && ratio.ratio_low == 0 && ratio.ratio_high == 1);
}

/* The largest counters give finite numbers. */
static void test_extremes_are_finite(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 3, UINT64_C(1) << 40, UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 1; j < 5; j++) {
            for (unsigned n = 1; n <= 3; n++) {
                const struct pm_ratio ratio =
                    of_equal(n, values[i], values[j], values[i] <= values[j]);
                assert_true(isfinite(ratio.mean_low) && isfinite(ratio.mean_high));
                assert_true(isfinite(ratio.ratio_low) && isfinite(ratio.ratio_high));
                assert_true(ratio.ratio_low <= ratio.ratio && ratio.ratio <= ratio.ratio_high);
            }
        }
    }
}

static void test_narrowness(void **state)
{
    (void)state;
    assert_true(pm_estimate_is_narrow(0.5, 0.46, 0.55, 0.05, 0.1));
    assert_false(pm_estimate_is_narrow(0.4, 0.3, 0.45, 0.05, 0.1));
    assert_true(pm_estimate_is_narrow(20, 18.5, 22, 0.05, 0.1));
    assert_false(pm_estimate_is_narrow(20, 18, 22.1, 0.05, 0.1));
}

/* Which measures respect [0, 1]. */
static void test_bounded_measures(void **state)
{
    (void)state;
    const uint8_t once = 3;
    struct pm_statistics statistics;
    struct pm_point_estimate estimate;
    pm_statistics_init(&statistics);
    /* Point 0 runs at most once, but parts of its subgroups enter one after the other; point 1 may
     * loop. */
    const struct pm_point_counts points[] = {
        {.point = 0, .calls = 2, .entry_lanes = 64, .entry_subgroups = 8, .counts = {64, 0, 16}},
        {.point = 2, .calls = 2, .entry_lanes = 64, .entry_subgroups = 8, .counts = {64, 64, 8}}};
    const struct pm_shader_profile shader = {.kind = PM_KIND_BLOCK,
                                             .space = 3,
                                             .points = points,
                                             .point_count = 2,
                                             .at_most_once = &once};
    assert_true(pm_statistics_add_profile(&statistics, &shader, NULL));
    pm_estimate_point(&statistics, &statistics.points[0], &estimate);
    assert_int_equal(estimate.calls, 2);
    assert_int_equal(estimate.sessions, 1);
    assert_true(estimate.measures[PM_MEASURE_FREQUENCY].ratio_high == 1);
    assert_true(estimate.measures[PM_MEASURE_UNIFORM].ratio_low == 0);
    assert_true(estimate.measures[PM_MEASURE_SUBGROUPS].ratio == 2);
    assert_true(estimate.measures[PM_MEASURE_SUBGROUPS].ratio_high > 2);
    pm_estimate_point(&statistics, &statistics.points[1], &estimate);
    assert_true(estimate.measures[PM_MEASURE_FREQUENCY].ratio_high > 1);
    assert_true(estimate.measures[PM_MEASURE_UNIFORM].ratio_high == 1);
    pm_statistics_finish(&statistics);

    /* P(zero) is a share; how often a candidate in a loop is written is none, nor is a time. */
    const struct pm_point_counts zero = {
        .calls = 2, .entry_lanes = 64, .entry_subgroups = 8, .counts = {24, 24}};
    const struct pm_shader_profile zeros = {
        .kind = PM_KIND_ZERO, .space = 1, .points = &zero, .point_count = 1};
    assert_true(pm_statistics_add_profile(&statistics, &zeros, NULL));
    pm_estimate_point(&statistics, &statistics.points[0], &estimate);
    assert_true(estimate.measures[PM_MEASURE_ZERO].mean == 1);
    assert_true(estimate.measures[PM_MEASURE_ZERO].ratio_low >= 0);
    assert_true(estimate.measures[PM_MEASURE_ZERO].ratio_low < 1);
    assert_true(estimate.measures[PM_MEASURE_ZERO].ratio_high == 1);
    assert_true(estimate.measures[PM_MEASURE_ZERO].mean_high == 1);
    assert_true(estimate.measures[PM_MEASURE_WRITES].ratio == 3);
    assert_true(estimate.measures[PM_MEASURE_WRITES].ratio_high > 3);
    assert_int_equal(estimate.measures[PM_MEASURES - 1].clusters, 0);
    pm_statistics_finish(&statistics);

    const struct pm_point_counts timed = {
        .calls = 9, .entry_lanes = 9, .entry_subgroups = 9, .counts = {1000, 800}};
    const struct pm_shader_profile timing = {
        .kind = PM_KIND_TIMING, .space = 1, .points = &timed, .point_count = 1};
    for (int i = 0; i < 30; i++)
        assert_true(pm_statistics_add_profile(&statistics, &timing, NULL));
    pm_estimate_point(&statistics, &statistics.points[0], &estimate);
    assert_true(fabs(estimate.measures[PM_MEASURE_TIME].mean - 0.8) < 1e-9);
    assert_true(estimate.measures[PM_MEASURE_TIME].mean_high < 1);
    assert_int_equal(estimate.measures[PM_MEASURE_TIME].clusters, 30);
    assert_int_equal(estimate.measures[PM_MEASURE_WRITES].clusters, 0);
    pm_statistics_finish(&statistics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_samples),
        cmocka_unit_test(test_no_clusters),
        cmocka_unit_test(test_extremes_are_finite),
        cmocka_unit_test(test_narrowness),
        cmocka_unit_test(test_bounded_measures),
        cmocka_unit_test(test_rogues_move_by_their_share),
        cmocka_unit_test(test_heavy_tails),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
