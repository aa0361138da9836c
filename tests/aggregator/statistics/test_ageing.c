/* Weighting by age: against sums over every single cluster, and what curation makes of it. */
#include "aggregator/statistics/ageing.h"

#include "aggregator/aggregator.h"
#include "aggregator/statistics/estimate.h"
#include "tests/aggregator/support.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define HALF_LIFE 14
#define CLUSTERS 400
#define SPACE 9

struct cluster {
    uint32_t day;
    uint64_t x, y;
};

static void add(struct pm_aged *aged, const struct cluster *cluster, uint32_t half_life)
{
    struct pm_statistics one;
    struct pm_error error = {0};
    const struct pm_point_counts point = {.point = 4,
                                          .calls = 1,
                                          .entry_lanes = cluster->x,
                                          .entry_subgroups = cluster->x,
                                          .counts = {cluster->y, 0, cluster->y}};
    const struct pm_shader_profile shader = {
        .kind = PM_KIND_BLOCK, .space = SPACE, .points = &point, .point_count = 1};
    pm_statistics_init(&one);
    if (!pm_statistics_add_profile(&one, &shader, &error) ||
        !pm_aged_add(aged, &one, cluster->day, half_life, &error))
        fail_msg("%s", error.message);
    pm_statistics_finish(&one);
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(1, fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

/* The formulas of estimate.h, over each cluster. */
static void assert_is_brute_force(const struct pm_ratio *found, const struct cluster *clusters,
                                  double half_life)
{
    double w = 0, ww = 0, x = 0, y = 0, r = 0;
    for (size_t i = 0; i < CLUSTERS; i++) {
        const double weight = pow(2, -(60.0 - clusters[i].day) / half_life);
        w += weight;
        ww += weight * weight;
        x += weight * (double)clusters[i].x;
        y += weight * (double)clusters[i].y;
        r += weight * (double)clusters[i].y / (double)clusters[i].x;
    }
    assert_near(found->mean, r / w);
    assert_near(found->ratio, y / x);
    assert_int_equal(found->clusters, CLUSTERS);
    double spread = 0;
    for (size_t i = 0; i < CLUSTERS; i++) {
        const double weight = pow(2, -(60.0 - clusters[i].day) / half_life);
        const double off = (double)clusters[i].y / (double)clusters[i].x - r / w;
        spread += weight * weight * off * off;
    }
    const double k = w * w / ww, variance = k / (k - 1) * spread / (w * w);
    /* The interval's lower end without its floor and skewness is t standard errors away; those
     * only widen it, and not by much with so many clusters. */
    const double error = pm_student_quantile(k - 1) * sqrt(variance);
    assert_true(found->mean_low <= found->mean - error * 0.95);
    assert_true(found->mean_low >= found->mean - error * 1.25);
}

static void test_weights(void **state)
{
    (void)state;
    static struct cluster clusters[CLUSTERS];
    struct pm_random random;
    struct pm_aged ascending, shuffled;
    pm_random_init(&random, 3);
    pm_aged_init(&ascending);
    pm_aged_init(&shuffled);
    for (size_t i = 0; i < CLUSTERS; i++) {
        const uint64_t x = 100 + pm_random_below(&random, 5000);
        clusters[i] = (struct cluster){.day = (uint32_t)(1 + i * 60 / CLUSTERS),
                                       .x = x,
                                       .y = x + pm_random_below(&random, 20000)};
    }
    clusters[CLUSTERS - 1].day = 60;
    for (size_t i = 0; i < CLUSTERS; i++) {
        add(&ascending, &clusters[i], HALF_LIFE);
        add(&shuffled, &clusters[i * 171 % CLUSTERS], HALF_LIFE);
    }
    assert_int_equal(ascending.newest, 60);
    assert_int_equal(ascending.count, 1);
    struct pm_point_estimate estimate, other;
    pm_estimate_aged_point(&ascending, &ascending.points[0], &estimate);
    assert_is_brute_force(&estimate.measures[PM_MEASURE_FREQUENCY], clusters, HALF_LIFE);
    pm_estimate_aged_point(&shuffled, &shuffled.points[0], &other);
    assert_near(other.measures[0].mean_low, estimate.measures[0].mean_low);
    assert_near(other.measures[0].ratio_high, estimate.measures[0].ratio_high);
    pm_aged_finish(&ascending);
    pm_aged_finish(&shuffled);
}

/* One day, and no half-life, are the integers' estimates to the last bit. */
static void test_equal_weights_are_exact(void **state)
{
    (void)state;
    struct pm_random random;
    struct pm_statistics exact;
    struct pm_aged day, unweighted;
    struct pm_error error;
    struct pm_arena *arena = pm_arena_create(0);
    pm_random_init(&random, 4);
    pm_statistics_init(&exact);
    pm_aged_init(&day);
    pm_aged_init(&unweighted);
    for (uint32_t i = 0; i < 50; i++) {
        const struct pm_profile *profile = random_profile(arena, &random, "game", 1, SPACE);
        struct pm_statistics one;
        pm_statistics_init(&one);
        assert_true(pm_statistics_add_profile(&one, &profile->shaders[0], &error));
        assert_true(pm_statistics_merge(&exact, &one, &error));
        pm_statistics_finish(&one);
    }
    assert_true(pm_aged_add(&day, &exact, 20000, HALF_LIFE, &error));
    assert_true(pm_aged_add(&unweighted, &exact, 20000, 0, &error));
    for (size_t i = 0; i < exact.count; i++) {
        struct pm_point_estimate wanted, found;
        pm_estimate_point(&exact, &exact.points[i], &wanted);
        pm_estimate_aged_point(&day, &day.points[i], &found);
        assert_memory_equal(&wanted, &found, sizeof(wanted));
        pm_estimate_aged_point(&unweighted, &unweighted.points[i], &found);
        assert_memory_equal(&wanted, &found, sizeof(wanted));
    }
    pm_statistics_finish(&exact);
    pm_aged_finish(&day);
    pm_aged_finish(&unweighted);
    pm_arena_destroy(arena);
}

static void test_points_of_several_days_and_disagreement(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_aged aged;
    struct pm_statistics first, second, other;
    const uint8_t once[3] = {0xff, 1}, some[3] = {0x0f};
    const struct pm_point_counts low[] = {block_counts(0, 8, 8), block_counts(3, 8, 0)};
    const struct pm_point_counts high[] = {block_counts(3, 8, 8), block_counts(8, 8, 8)};
    struct pm_shader_profile shader = {.kind = PM_KIND_BLOCK,
                                       .space = SPACE,
                                       .at_most_once = once,
                                       .points = low,
                                       .point_count = 2};
    pm_aged_init(&aged);
    pm_statistics_init(&first);
    pm_statistics_init(&second);
    pm_statistics_init(&other);
    assert_true(pm_statistics_add_profile(&first, &shader, &error));
    shader.points = high;
    shader.at_most_once = some;
    assert_true(pm_statistics_add_profile(&second, &shader, &error));
    shader.space = 2 * SPACE;
    assert_true(pm_statistics_add_profile(&other, &shader, &error));
    assert_true(pm_aged_add(&aged, &first, 7, HALF_LIFE, &error));
    assert_true(pm_aged_add(&aged, &second, 7 + HALF_LIFE, HALF_LIFE, &error));
    assert_false(pm_aged_add(&aged, &other, 9, HALF_LIFE, &error));
    assert_non_null(strstr(error.message, "18 does not agree with the 9"));
    assert_int_equal(aged.count, 3);
    assert_int_equal(aged.points[1].point, 3);
    assert_int_equal(aged.points[1].sessions, 2);
    /* The newer cluster ran and weighs twice as much as the older one, which did not. */
    struct pm_point_estimate estimate;
    pm_estimate_aged_point(&aged, &aged.points[1], &estimate);
    assert_near(estimate.measures[0].mean, 2.0 / 3);
    assert_near(estimate.measures[0].ratio, 2.0 / 3);
    assert_true(pm_aged_is_at_most_once(&aged, 3));
    assert_false(pm_aged_is_at_most_once(&aged, 8));
    pm_statistics_finish(&first);
    pm_statistics_finish(&second);
    pm_statistics_finish(&other);
    pm_aged_finish(&aged);
}

static void test_retention_window(void **state)
{
    (void)state;
    assert_int_equal(pm_ageing_first_day(20000, 0), 0);
    assert_int_equal(pm_ageing_first_day(20000, 60), 19941);
    assert_int_equal(pm_ageing_first_day(20000, 1), 20000);
    assert_int_equal(pm_ageing_first_day(5, 60), 0);
}

/* So many alternating clusters on each of the days. */
static struct pm_ratio of_days(unsigned days, unsigned clusters, bool strangers)
{
    struct pm_aged aged;
    struct pm_point_estimate estimate;
    pm_aged_init(&aged);
    aged.strangers = strangers;
    for (unsigned i = 0; i < days * clusters; i++)
        add(&aged, &(struct cluster){20000 + i / clusters, 1000, i % 2 ? 900 : 100}, 0);
    pm_estimate_aged_point(&aged, &aged.points[0], &estimate);
    pm_aged_finish(&aged);
    return estimate.measures[PM_MEASURE_FREQUENCY];
}

/* Ten players who come on twenty days may be ten players: their clusters make the interval of ten,
 * not of two hundred. */
static void test_strangers_who_come_again(void **state)
{
    (void)state;
    const struct pm_ratio once = of_days(1, 10, true), again = of_days(20, 10, true);
    const struct pm_ratio known = of_days(20, 10, false);
    const double width = once.mean_high - once.mean_low;
    assert_int_equal(again.clusters, 200);
    assert_true(again.mean_high - again.mean_low > 0.9 * width);
    assert_true(again.ratio_high - again.ratio_low > 0.9 * (once.ratio_high - once.ratio_low));
    assert_true(known.mean_high - known.mean_low < 0.3 * width);
    assert_near(again.mean, known.mean);
}

/* The same day in several parts (scenes) is one day; and what they have does not depend on it. */
static void test_parts_of_a_day(void **state)
{
    (void)state;
    struct pm_aged aged;
    pm_aged_init(&aged);
    for (unsigned i = 0; i < 90; i++)
        add(&aged, &(struct cluster){20000 + i / 30, 1000, 500}, HALF_LIFE);
    const struct pm_aged_measure *measure = &aged.points[0].measures[PM_MEASURE_FREQUENCY];
    const double w = pow(2, -1.0 / HALF_LIFE);
    assert_near((double)measure->days, 1 + w + w * w);
    assert_near((double)measure->w, 30 * (1 + w + w * w));
    assert_near((double)measure->roots, sqrt(30) * (1 + w + w * w));
    pm_aged_finish(&aged);
}

/* However much strangers claim, each has at most three times an average cluster's part of the ratio
 * of sums. */
static void test_strangers_who_claim(void **state)
{
    (void)state;
    for (unsigned rogues = 1; rogues <= 50; rogues += 7) {
        struct pm_aged aged;
        struct pm_point_estimate estimate;
        pm_aged_init(&aged);
        aged.strangers = true;
        for (unsigned i = 0; i < 1000; i++)
            add(&aged, &(struct cluster){20000, 800 + i % 400, 0}, 0);
        for (unsigned i = 0; i < rogues; i++)
            add(&aged, &(struct cluster){20000, UINT64_C(1) << 40, UINT64_C(1) << 40}, 0);
        pm_estimate_aged_point(&aged, &aged.points[0], &estimate);
        const double share = rogues / (1000.0 + rogues);
        assert_true(estimate.measures[PM_MEASURE_FREQUENCY].ratio <= 3 * share + 1e-9);
        assert_true(estimate.measures[PM_MEASURE_FREQUENCY].ratio >= 2.9 * share);
        assert_near(estimate.measures[PM_MEASURE_FREQUENCY].mean, share);
        pm_aged_finish(&aged);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_equal_weights_are_exact),
        cmocka_unit_test(test_points_of_several_days_and_disagreement),
        cmocka_unit_test(test_retention_window),
        cmocka_unit_test(test_strangers_who_come_again),
        cmocka_unit_test(test_parts_of_a_day),
        cmocka_unit_test(test_strangers_who_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
