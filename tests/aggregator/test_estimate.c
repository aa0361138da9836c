/*
 * The intervals, by simulation: many samples of clusters from populations whose truth is known, and
 * how often the interval covers it. Deterministic seeds; the table goes to the output.
 */
#include "aggregator/estimate.h"

#include "base/random.h"
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
    bool wide; /* the imagined clusters outweigh a variance this small, or zeros and ones are too
                  few to hit 95 %: only the lower bound of the coverage is asked for */
    bool five; /* also with five clusters: not where they are all of one kind too often */
};

static const struct population populations[] = {
    {"all or none, 1 %", bernoulli, 0.01, true, true, true},
    {"all or none, 5 %", bernoulli, 0.05, true, true, true},
    {"all or none, 20 %", bernoulli, 0.2, true, false, true},
    {"all or none, 50 %", bernoulli, 0.5, true, false, true},
    {"all or none, 95 %", bernoulli, 0.95, true, true, true},
    {"all or none, 99 %", bernoulli, 0.99, true, true, true},
    {"… 20 %, sizes vary", bernoulli_heavy, 0.2, true, false, true},
    {"scenes 0.1 and 0.9, 3:1", two_scenes, 0.25, true, false, true},
    {"scenes 0.1 and 0.9, 1:1", two_scenes, 0.5, true, false, true},
    {"scenes 0.1 and 0.9, 9:1", two_scenes, 0.1, true, true, true},
    {"3 pixels and screens 1:1", screens, 0.5, true, true, true},
    {"3 pixels and screens 7:3", screens, 0.3, true, true, true},
    {"lognormal sizes, s = 1", heavy_lognormal, 1, true, true, true},
    {"lognormal sizes, s = 1.5", heavy_lognormal, 1.5, true, true, true},
    {"Pareto sizes, a = 2", heavy_pareto, 2, true, true, true},
    {"alike, s = 0.2", alike, 0.2, true, true, true},
    {"alike, s = 0.02", alike, 0.02, true, true, true},
    {"loop, normal", loop_normal, 8, false, true, true},
    {"loop, geometric", loop_geometric, 0.8, false, false, true},
    {"loop, lognormal s = 0.6", loop_lognormal, 0.6, false, false, true},
    {"loop, lognormal s = 1", loop_lognormal, 1, false, false, false},
    {"loop, 4 and 16, 7:3", loop_two_scenes, 0.3, false, false, false},
    {"loop, 4 and 16, 1:1", loop_two_scenes, 0.5, false, false, true},
    {"loop, 0 and 16, 6:4", loop_seldom, 0.4, false, false, true},
    {"loop, always 8", loop_constant, 8, false, true, true},
};

/* ---- simulation ---- */

#define TRUTH_CLUSTERS 1000000
#define ROUNDS 4000

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

/* The sums of n clusters, as uploads would make them. */
static struct pm_measure_sums draw_sums(const struct population *population,
                                        struct pm_random *random, unsigned n)
{
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    for (unsigned i = 0; i < n; i++) {
        const struct cluster one = population->draw(random, population->parameter);
        const struct pm_point_counts point = {.calls = 1,
                                              .entry_lanes = one.x,
                                              .entry_subgroups = one.x,
                                              .counts = {one.y, 0, one.y}};
        const struct pm_shader_profile shader = {
            .kind = PM_KIND_BLOCK, .space = 1, .points = &point, .point_count = 1};
        assert_true(pm_statistics_add_profile(&statistics, &shader, NULL));
    }
    const struct pm_measure_sums sums = statistics.points[0].measures[PM_MEASURE_FREQUENCY];
    pm_statistics_finish(&statistics);
    return sums;
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
    for (int i = 0; i < ROUNDS; i++) {
        const struct pm_measure_sums sums = draw_sums(population, &random, n);
        const struct pm_ratio ratio = pm_estimate_ratio(&sums, population->bounded);
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
    out.mean *= 100.0 / ROUNDS;
    out.ratio *= 100.0 / ROUNDS;
    out.mean_half /= ROUNDS;
    out.ratio_half /= ROUNDS;
    return out;
}

/* Twice the standard error of a coverage of 92 % in so many rounds. */
#define ROUNDS_ERROR 0.85

/* n >= 10: 92 to 99 %, and above only where that is the floor's price; n = 5: 90 % and more. */
static bool is_right(const struct population *population, unsigned n, double percent)
{
    if (n < 10)
        return percent >= 90 - ROUNDS_ERROR || !population->five;
    return percent >= 92 - ROUNDS_ERROR && (percent <= 99 || population->wide || n < 20);
}

static void test_coverage(void **state)
{
    (void)state;
    unsigned wrong = 0;
    printf("Coverage of 95 %% intervals in %d rounds, in percent, of the mean of ratios and the "
           "ratio of sums, and "
           "half their widths\n%-26s",
           ROUNDS, "clusters");
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

/* ---- details ---- */

static struct pm_measure_sums equal_sums(unsigned n, uint64_t y, uint64_t x)
{
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    const struct pm_point_counts point = {
        .calls = 1, .entry_lanes = x, .entry_subgroups = x, .counts = {y, 0, y}};
    const struct pm_shader_profile shader = {
        .kind = PM_KIND_BLOCK, .space = 1, .points = &point, .point_count = 1};
    for (unsigned i = 0; i < n; i++)
        assert_true(pm_statistics_add_profile(&statistics, &shader, NULL));
    const struct pm_measure_sums sums = statistics.points[0].measures[PM_MEASURE_FREQUENCY];
    pm_statistics_finish(&statistics);
    return sums;
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
            const struct pm_measure_sums sums = equal_sums(n, values[i], 100);
            const struct pm_ratio ratio = pm_estimate_ratio(&sums, bounded);
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
    const struct pm_measure_sums sums = {0};
    const struct pm_ratio ratio = pm_estimate_ratio(&sums, false);
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
                const struct pm_measure_sums sums = equal_sums(n, values[i], values[j]);
                const struct pm_ratio ratio = pm_estimate_ratio(&sums, values[i] <= values[j]);
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
        cmocka_unit_test(test_no_clusters),      cmocka_unit_test(test_extremes_are_finite),
        cmocka_unit_test(test_narrowness),       cmocka_unit_test(test_bounded_measures),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
