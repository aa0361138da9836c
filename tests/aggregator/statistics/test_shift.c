/* Days put together, and what is forgotten when a shader has shifted. */
#include "aggregator/statistics/estimate.h"
#include "aggregator/statistics/series.h"
#include "aggregator/statistics/shift.h"
#include "base/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

enum { SPACE = 4, DAYS = 40, FIRST = 20000, HALF_LIFE = 14, CLUSTERS = 40, WRITES = 1000 };

struct days {
    struct pm_buffer encoded[DAYS];
    struct pm_series_blob blobs[DAYS];
    size_t count;
    struct pm_random random;
};

static int set_up(void **state)
{
    struct days *days = calloc(1, sizeof(*days));
    pm_random_init(&days->random, 3);
    *state = days;
    return 0;
}

static int tear_down(void **state)
{
    struct days *days = *state;
    for (size_t i = 0; i < days->count; i++)
        pm_buffer_finish(&days->encoded[i]);
    free(days);
    return 0;
}

/* A day of so many clusters: point 1 is zero this often, within a fifth; the others are half. */
static void add_day(struct days *days, uint32_t day, uint32_t flags, unsigned clusters,
                    double share)
{
    struct pm_statistics statistics;
    struct pm_error error;
    pm_statistics_init(&statistics);
    for (unsigned i = 0; i < clusters; i++) {
        struct pm_point_counts points[SPACE];
        for (uint32_t j = 0; j < SPACE; j++) {
            const double noise = 1 + 0.4 * (pm_random_unit(&days->random) - 0.5);
            points[j] = (struct pm_point_counts){
                .point = j,
                .calls = 1,
                .entry_lanes = WRITES,
                .entry_subgroups = WRITES,
                .counts = {WRITES, (uint64_t)(WRITES * fmin((j == 1 ? share : 0.5) * noise, 1))}};
        }
        const struct pm_shader_profile shader = {
            .kind = PM_KIND_ZERO, .space = SPACE, .points = points, .point_count = SPACE};
        if (!pm_statistics_add_profile(&statistics, &shader, &error))
            fail_msg("%s", error.message);
    }
    struct pm_buffer *encoded = &days->encoded[days->count];
    pm_buffer_init(encoded, 1 << 20);
    if (!pm_statistics_encode(&statistics, encoded, &error))
        fail_msg("%s", error.message);
    pm_statistics_finish(&statistics);
    days->blobs[days->count++] = (struct pm_series_blob){day, flags, encoded->data, encoded->size};
}

struct known {
    uint32_t since;
    uint64_t exact;          /* sessions */
    struct pm_ratio changed; /* of point 1 */
    uint32_t sessions;       /* that count, of point 0 */
};

static struct known read_days(struct days *days, bool with_flags)
{
    struct pm_series plain, all;
    struct pm_error error;
    struct pm_point_estimate points[2];
    struct known known = {0};
    size_t bad;
    pm_series_init(&plain);
    pm_series_init(&all);
    if (!pm_series_read(days->blobs, days->count, HALF_LIFE, &plain, &all, &known.since, &bad,
                        &error))
        fail_msg("%s", error.message);
    assert_int_equal(bad, days->count);
    struct pm_series *series = with_flags ? &all : &plain;
    for (uint32_t i = 0; i < 2; i++)
        pm_estimate_aged_point(&series->aged, &series->aged.points[i], &points[i]);
    known.exact = series->exact.points[0].sessions;
    known.changed = points[1].measures[PM_MEASURE_ZERO];
    known.sessions = points[0].sessions;
    assert_true(with_flags || all.exact.space == 0);
    pm_series_finish(&plain);
    pm_series_finish(&all);
    return known;
}

static void test_a_patch(void **state)
{
    struct days *days = *state;
    /* In any order: what waits comes first. */
    for (uint32_t i = 20; i > 0; i--)
        add_day(days, FIRST + i, 0, CLUSTERS, 0.1);
    struct known known = read_days(days, false);
    assert_int_equal(known.since, 0);
    assert_int_equal(known.exact, 20 * CLUSTERS);
    for (uint32_t i = 1; i < PM_SHIFT_DAYS; i++) {
        add_day(days, FIRST + 20 + i, 0, CLUSTERS, 0.7);
        known = read_days(days, false);
        assert_int_equal(known.since, 0);
        assert_true(known.changed.mean < 0.3);
    }
    add_day(days, FIRST + 20 + PM_SHIFT_DAYS, 0, CLUSTERS, 0.7);
    known = read_days(days, false);
    assert_int_equal(known.since, FIRST + 21);
    assert_true(fabs(known.changed.mean - 0.7) < 0.02);
    assert_int_equal(known.changed.clusters, PM_SHIFT_DAYS * CLUSTERS);
    /* Of the other points, too; what was counted is all there. */
    assert_int_equal(known.sessions, PM_SHIFT_DAYS * CLUSTERS);
    assert_int_equal(known.exact, (20 + PM_SHIFT_DAYS) * CLUSTERS);
    /* It stays so, and goes back as well. */
    for (uint32_t i = 24; i < 30; i++)
        add_day(days, FIRST + i, 0, CLUSTERS, 0.7);
    assert_int_equal(read_days(days, false).since, FIRST + 21);
    for (uint32_t i = 30; i < 30 + PM_SHIFT_DAYS; i++)
        add_day(days, FIRST + i, 0, CLUSTERS, 0.1);
    known = read_days(days, false);
    assert_int_equal(known.since, FIRST + 30);
    assert_true(fabs(known.changed.mean - 0.1) < 0.02);
}

static void test_what_is_no_patch(void **state)
{
    struct days *days = *state;
    /* Weekends. */
    for (uint32_t i = 0; i < 28; i++)
        add_day(days, FIRST + i, 0, CLUSTERS, i % 7 > 4 ? 0.7 : 0.1);
    assert_int_equal(read_days(days, false).since, 0);
    /* As much as ageing follows. */
    for (uint32_t i = 28; i < 34; i++)
        add_day(days, FIRST + i, 0, CLUSTERS, 0.24);
    assert_int_equal(read_days(days, false).since, 0);
    /* A few players. */
    for (uint32_t i = 34; i < 37; i++)
        add_day(days, FIRST + i, 0, PM_SHIFT_CLUSTERS - 1, 1);
    assert_int_equal(read_days(days, false).since, 0);
}

/* Profiles with flags are looked at together with the others, and none of both is of before. */
static void test_flags(void **state)
{
    struct days *days = *state;
    for (uint32_t i = 0; i < 10 + PM_SHIFT_DAYS; i++) {
        add_day(days, FIRST + i, 1, CLUSTERS, i < 10 ? 0.1 : 0.7);
        add_day(days, FIRST + i, 0, CLUSTERS / 4, i < 10 ? 0.1 : 0.7);
    }
    struct known known = read_days(days, true);
    assert_int_equal(known.since, FIRST + 10);
    assert_int_equal(known.sessions, PM_SHIFT_DAYS * (CLUSTERS + CLUSTERS / 4));
    assert_true(fabs(known.changed.mean - 0.7) < 0.02);
    known = (struct known){0};
    struct pm_series plain, all;
    struct pm_error error;
    size_t bad;
    pm_series_init(&plain);
    pm_series_init(&all);
    assert_true(pm_series_read(days->blobs, days->count, HALF_LIFE, &plain, &all, &known.since,
                               &bad, &error));
    assert_int_equal(plain.aged.points[0].sessions, PM_SHIFT_DAYS * (CLUSTERS / 4));
    pm_series_finish(&plain);
    pm_series_finish(&all);
}

/* A space costs an uploader nothing: what is kept goes by what was measured. */
static void test_a_large_space(void **state)
{
    struct pm_shift shift = {.half_life = HALF_LIFE};
    struct pm_error error;
    uint32_t since = 0;
    bool found = false;
    (void)state;
    for (uint32_t day = 0; day < 20 && !found; day++) {
        struct pm_statistics statistics;
        pm_statistics_init(&statistics);
        for (uint32_t i = 0; i < CLUSTERS; i++) {
            /* Others on the days between. */
            struct pm_point_counts points[2] = {{.point = 7 + day % 2}, {.point = 1000000}};
            for (int j = 0; j < 2; j++) {
                points[j].calls = 1;
                points[j].entry_lanes = points[j].entry_subgroups = WRITES;
                points[j].counts[PM_ZERO_WRITES] = WRITES;
                points[j].counts[PM_ZERO_ZERO_WRITES] = (j > 0 && day >= 12 ? 800 : 100) + i;
            }
            const struct pm_shader_profile shader = {.kind = PM_KIND_ZERO,
                                                     .space = PM_STATISTICS_MAX_SPACE,
                                                     .points = points,
                                                     .point_count = 2};
            assert_true(pm_statistics_add_profile(&statistics, &shader, &error));
        }
        assert_true(pm_shift_add(&shift, &statistics, FIRST + day, &error));
        pm_statistics_finish(&statistics);
        assert_in_range(shift.row_count, 1, 3 * pm_measure_count(PM_KIND_ZERO));
        found = pm_shift_find(&shift, &since);
        assert_int_equal(found, day == 12 + PM_SHIFT_DAYS - 1);
    }
    assert_true(found);
    assert_int_equal(since, FIRST + 12);
    pm_shift_finish(&shift);
}

static void test_damaged(void **state)
{
    struct days *days = *state;
    struct pm_series plain, all;
    struct pm_error error;
    uint32_t since;
    size_t bad;
    for (uint32_t i = 0; i < 3; i++)
        add_day(days, FIRST + i, 0, CLUSTERS, 0.1);
    days->blobs[1].size--;
    pm_series_init(&plain);
    pm_series_init(&all);
    assert_false(
        pm_series_read(days->blobs, days->count, HALF_LIFE, &plain, &all, &since, &bad, &error));
    assert_int_equal(bad, 1);
    pm_series_finish(&plain);
    pm_series_finish(&all);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_patch),       TEST(test_what_is_no_patch), TEST(test_flags),
        TEST(test_a_large_space), TEST(test_damaged),
    };
    return cmocka_run_group_tests_name("shift", tests, NULL, NULL);
}
