#include "tests/aggregator/statistics/statistics_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

/* ---- sums ---- */

static void test_sums_are_exact(void **state)
{
    (void)state;
    /* The largest counters there are, added often enough to overflow 128 bits. */
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    const struct pm_point_counts point = {.point = 2,
                                          .calls = 3,
                                          .entry_lanes = UINT64_MAX,
                                          .entry_subgroups = 1,
                                          .counts = {UINT64_MAX, UINT64_MAX, 1}};
    for (int i = 0; i < 5; i++)
        add_cluster(&statistics, PM_KIND_BLOCK, NULL, &point, 1);
    const struct pm_point_statistics *found = pm_statistics_find(&statistics, 2);
    assert_non_null(found);
    assert_null(pm_statistics_find(&statistics, 1));
    const struct pm_measure_counts *counts = &found->measures[PM_MEASURE_FREQUENCY];
    assert_int_equal(counts->n, 5);
    assert_int_equal(found->calls, 15);
    assert_int_equal(found->sessions, 5);
    const struct pm_cell sums = totals(&statistics, 2, PM_MEASURE_FREQUENCY);
    /* 5 (2^64 - 1) */
    assert_int_equal(sums.x.limbs[0], UINT64_MAX - 4);
    assert_int_equal(sums.x.limbs[1], 4);
    assert_memory_equal(&sums.x, &sums.y, sizeof(sums.x));
    /* r is exactly 1 */
    assert_int_equal(sums.r.limbs[0], UINT64_C(5) << 32);
    assert_int_equal(sums.rr.limbs[0], UINT64_C(5) << 32);
    assert_int_equal(counts->histogram[PM_HISTOGRAM_ONE], 5);
    size_t cells;
    const struct pm_cell *cell = pm_statistics_cells(&statistics, 2, PM_MEASURE_FREQUENCY, &cells);
    assert_int_equal(cells, 1);
    assert_int_equal(pm_cell_size(cell->key), 31);
    assert_int_equal(pm_cell_height(cell->key), 0);
    assert_int_equal(cell->squares, 5 * 255 * 255);
    pm_statistics_finish(&statistics);

    /* A ratio of 2^32 or more is held at the largest number. */
    const struct pm_point_counts loop = {.point = 0,
                                         .calls = 1,
                                         .entry_lanes = 1,
                                         .entry_subgroups = 1,
                                         .counts = {UINT64_MAX, 0, 1}};
    add_cluster(&statistics, PM_KIND_BLOCK, NULL, &loop, 1);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_FREQUENCY).r.limbs[0], UINT64_MAX);
    assert_int_equal(
        statistics.points[0].measures[PM_MEASURE_FREQUENCY].histogram[PM_HISTOGRAM_BINS - 1], 1);
    assert_int_equal(pm_cell_height(statistics.cells[0].key), PM_CELL_HEIGHTS - 1);
    pm_statistics_finish(&statistics);
}

static void test_measures(void **state)
{
    (void)state;
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    const struct pm_point_counts points[] = {
        {.point = 0, .calls = 1, .entry_lanes = 100, .entry_subgroups = 20, .counts = {40, 30, 10}},
        {.point = 1, .calls = 1, .entry_lanes = 100, .entry_subgroups = 20},
        {.point = 2, .calls = 1}, /* its shader was never entered */
    };
    add_cluster(&statistics, PM_KIND_BLOCK, NULL, points, 3);
    const struct pm_point_statistics *ran = pm_statistics_find(&statistics, 0);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_FREQUENCY).x.limbs[0], 100);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_FREQUENCY).y.limbs[0], 40);
    assert_int_equal(ran->measures[PM_MEASURE_FREQUENCY].histogram[5],
                     1); /* 0.4 is in [0.4, 0.5) */
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_UNIFORM).x.limbs[0], 40);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_UNIFORM).y.limbs[0], 30);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_UNIFORM).r.limbs[0], UINT64_C(3) << 30);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_SUBGROUPS).x.limbs[0], 20);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_SUBGROUPS).y.limbs[0], 10);
    const struct pm_point_statistics *never = pm_statistics_find(&statistics, 1);
    assert_int_equal(never->sessions, 1);
    assert_int_equal(never->measures[PM_MEASURE_FREQUENCY].histogram[0], 1);
    assert_int_equal(never->measures[PM_MEASURE_UNIFORM].n, 0); /* x is 0: no cluster */
    assert_int_equal(pm_statistics_find(&statistics, 2)->sessions, 0);
    assert_int_equal(pm_statistics_find(&statistics, 2)->calls, 1);
    /* Points 0 and 1 were one batch of 100 lanes. */
    assert_int_equal(statistics.entry_lanes.limbs[0], 100);
    pm_statistics_finish(&statistics);

    const struct pm_point_counts zero = {
        .point = 0, .calls = 1, .entry_lanes = 64, .entry_subgroups = 2, .counts = {8, 6, 0}};
    add_cluster(&statistics, PM_KIND_ZERO, NULL, &zero, 1);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_ZERO).x.limbs[0], 8);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_ZERO).y.limbs[0], 6);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_WRITES).x.limbs[0], 2);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_WRITES).y.limbs[0], 8);
    pm_statistics_finish(&statistics);

    const struct pm_point_counts timed = {
        .point = 0, .calls = 16, .entry_lanes = 16, .entry_subgroups = 16, .counts = {8000, 6000}};
    const struct pm_shader_profile timing = {
        .kind = PM_KIND_TIMING, .space = 1, .points = &timed, .point_count = 1};
    assert_true(pm_statistics_add_profile(&statistics, &timing, NULL));
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_TIME).x.limbs[0], 8000);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_TIME).y.limbs[0], 6000);
    assert_int_equal(statistics.points[0].measures[PM_MEASURE_TIME].histogram[8], 1);
    assert_int_equal(statistics.points[0].calls, 16);
    pm_statistics_finish(&statistics);
}

/* How often a block runs is of all sessions, which subgroups were whole of those that counted it.
 */
static void test_lanes_alone(void **state)
{
    (void)state;
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    const struct pm_point_counts all = {
        .calls = 1, .entry_lanes = 100, .entry_subgroups = 20, .counts = {40, 30, 10}};
    const struct pm_point_counts alone = {
        .calls = 1, .entry_lanes = 300, .counts = {60}, .lanes_alone = 60};
    const struct pm_point_counts both = {.calls = 2,
                                         .entry_lanes = 400,
                                         .entry_subgroups = 20,
                                         .counts = {100, 30, 10},
                                         .lanes_alone = 60};
    const struct pm_point_counts never = {.calls = 1, .entry_lanes = 100};
    add_cluster(&statistics, PM_KIND_BLOCK, NULL, &all, 1);
    add_cluster(&statistics, PM_KIND_BLOCK, NULL, &alone, 1);
    add_cluster(&statistics, PM_KIND_BLOCK, NULL, &never, 1);
    const struct pm_point_statistics *point = pm_statistics_find(&statistics, 0);
    assert_int_equal(point->sessions, 3);
    assert_int_equal(point->measures[PM_MEASURE_FREQUENCY].n, 3);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_FREQUENCY).x.limbs[0], 500);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_FREQUENCY).y.limbs[0], 100);
    assert_int_equal(point->measures[PM_MEASURE_UNIFORM].n, 1);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_UNIFORM).x.limbs[0], 40);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_UNIFORM).y.limbs[0], 30);
    assert_int_equal(point->measures[PM_MEASURE_SUBGROUPS].n, 1);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_SUBGROUPS).x.limbs[0], 20);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_SUBGROUPS).y.limbs[0], 10);
    pm_statistics_finish(&statistics);

    /* One cluster of both, as of a player's day. */
    add_cluster(&statistics, PM_KIND_BLOCK, NULL, &both, 1);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_FREQUENCY).x.limbs[0], 400);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_FREQUENCY).y.limbs[0], 100);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_UNIFORM).x.limbs[0], 40);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_UNIFORM).y.limbs[0], 30);
    pm_statistics_finish(&statistics);
}

static void test_histogram_bins(void **state)
{
    (void)state;
    static const struct {
        uint64_t y;
        unsigned bin;
    } cases[] = {{0, 0},       {1, 1},        {99, 1},       {100, 2},        {899, 9},
                 {900, 10},    {999, 10},     {1000, 11},    {1001, 12},      {1500, 12},
                 {1501, 13},   {2000, 13},    {3000, 14},    {4000, 15},      {6000, 16},
                 {8000, 17},   {8001, 18},    {16000, 18},   {32000, 19},     {64000, 20},
                 {256000, 21}, {4096000, 22}, {4096001, 23}, {UINT64_MAX, 23}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pm_statistics statistics;
        pm_statistics_init(&statistics);
        const struct pm_point_counts point = {.calls = 1,
                                              .entry_lanes = 1000,
                                              .entry_subgroups = 1000,
                                              .counts = {cases[i].y, 0, cases[i].y != 0}};
        add_cluster(&statistics, PM_KIND_BLOCK, NULL, &point, 1);
        assert_int_equal(
            statistics.points[0].measures[PM_MEASURE_FREQUENCY].histogram[cases[i].bin], 1);
        pm_statistics_finish(&statistics);
    }
}

/* ---- merging ---- */

/* The same clusters, dealt to several statistics and merged in any order and grouping, give the
 * same bytes. */
static void merge_any_order(enum pm_kind kind, uint64_t seed)
{
    enum { CLUSTERS = 24, PARTS = 6 };
    struct pm_random random;
    pm_random_init(&random, seed);
    struct pm_statistics whole, parts[PARTS];
    pm_statistics_init(&whole);
    for (size_t i = 0; i < PARTS; i++)
        pm_statistics_init(&parts[i]);
    for (size_t i = 0; i < CLUSTERS; i++) {
        struct pm_point_counts points[SPACE];
        const size_t count = random_points(&random, kind, points);
        struct pm_statistics *part = &parts[pm_random_below(&random, PARTS)];
        if (kind == PM_KIND_ZERO) {
            const uint32_t candidates = random_candidates(&random);
            add_zeros(&whole, candidates, points, count);
            add_zeros(part, candidates, points, count);
            continue;
        }
        add_cluster(&whole, kind, NULL, points, count);
        add_cluster(part, kind, NULL, points, count);
    }
    struct pm_error error;
    for (size_t left = PARTS; left > 1; left--) {
        const size_t from = pm_random_below(&random, (uint32_t)left);
        struct pm_statistics taken = parts[from];
        parts[from] = parts[left - 1];
        const size_t into = pm_random_below(&random, (uint32_t)left - 1);
        assert_true(pm_statistics_merge(&parts[into], &taken, &error));
        pm_statistics_finish(&taken);
    }
    assert_same(&whole, &parts[0]);
    pm_statistics_finish(&parts[0]);
    pm_statistics_finish(&whole);
}

static void test_merge_is_commutative_and_associative(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        merge_any_order(PM_KIND_BLOCK, seed);
        merge_any_order(PM_KIND_ZERO, seed);
    }
}

static void test_merge_blobs(void **state)
{
    (void)state;
    struct pm_random random;
    pm_random_init(&random, 99);
    struct pm_statistics a, b, both;
    pm_statistics_init(&a);
    pm_statistics_init(&b);
    pm_statistics_init(&both);
    for (int i = 0; i < 10; i++) {
        struct pm_point_counts points[SPACE];
        const size_t count = random_points(&random, PM_KIND_BLOCK, points);
        add_cluster(i % 2 ? &a : &b, PM_KIND_BLOCK, NULL, points, count);
        add_cluster(&both, PM_KIND_BLOCK, NULL, points, count);
    }
    struct pm_buffer left, right, sum, other, expected;
    struct pm_error error;
    encode(&a, &left);
    encode(&b, &right);
    encode(&both, &expected);
    pm_buffer_init(&sum, 1 << 20);
    pm_buffer_init(&other, 1 << 20);
    assert_true(
        pm_statistics_merge_blobs(left.data, left.size, right.data, right.size, &sum, &error));
    assert_true(
        pm_statistics_merge_blobs(right.data, right.size, left.data, left.size, &other, &error));
    assert_int_equal(sum.size, expected.size);
    assert_memory_equal(sum.data, expected.data, sum.size);
    assert_int_equal(other.size, expected.size);
    assert_memory_equal(other.data, expected.data, sum.size);
    /* What is no blob is refused, on either side. */
    assert_false(pm_statistics_merge_blobs("x", 1, right.data, right.size, &sum, &error));
    assert_false(pm_statistics_merge_blobs(left.data, left.size, "", 0, &sum, &error));
    pm_buffer_finish(&left);
    pm_buffer_finish(&right);
    pm_buffer_finish(&sum);
    pm_buffer_finish(&other);
    pm_buffer_finish(&expected);
    pm_statistics_finish(&a);
    pm_statistics_finish(&b);
    pm_statistics_finish(&both);
}

static void test_at_most_once_needs_all(void **state)
{
    (void)state;
    const uint8_t first[] = {0x05, 0x01}, second[] = {0x04, 0xff};
    const struct pm_point_counts point = {.calls = 1};
    struct pm_statistics statistics, other, before;
    pm_statistics_init(&statistics);
    add_cluster(&statistics, PM_KIND_BLOCK, first, &point, 1);
    assert_true(pm_statistics_is_at_most_once(&statistics, 0));
    assert_true(pm_statistics_is_at_most_once(&statistics, 8));
    assert_false(pm_statistics_is_at_most_once(&statistics, 1));
    assert_false(pm_statistics_is_at_most_once(&statistics, 13));
    add_cluster(&statistics, PM_KIND_BLOCK, second, &point, 1);
    assert_false(pm_statistics_is_at_most_once(&statistics, 0));
    assert_true(pm_statistics_is_at_most_once(&statistics, 2));
    assert_true(pm_statistics_is_at_most_once(&statistics, 8));
    add_cluster(&statistics, PM_KIND_BLOCK, NULL, &point, 1);
    assert_null(statistics.at_most_once);
    /* Once lost, never back, in either order. */
    pm_statistics_init(&other);
    pm_statistics_init(&before);
    add_cluster(&other, PM_KIND_BLOCK, NULL, &point, 1);
    add_cluster(&other, PM_KIND_BLOCK, first, &point, 1);
    add_cluster(&before, PM_KIND_BLOCK, first, &point, 1);
    add_cluster(&before, PM_KIND_BLOCK, NULL, &point, 1);
    assert_null(other.at_most_once);
    assert_same(&other, &before);
    pm_statistics_finish(&statistics);
    pm_statistics_finish(&other);
    pm_statistics_finish(&before);
}

static void say(struct pm_statistics *statistics, uint32_t left_out, unsigned times)
{
    const struct pm_point_counts point = {.calls = 1};
    for (unsigned i = 0; i < times; i++)
        add_zeros(statistics, SPACE + left_out, &point, 1);
}

static void test_the_majority_says_what_is_left_out(void **state)
{
    (void)state;
    const uint32_t most = (1u << PM_LEFT_OUT_BITS) - 1;
    const struct pm_point_counts point = {.calls = 1};
    struct pm_statistics statistics, other;
    pm_statistics_init(&statistics);
    pm_statistics_init(&other);
    assert_int_equal(pm_statistics_candidates(&statistics), 0);
    /* Who does not know has no vote. */
    add_zeros(&statistics, 0, &point, 1);
    add_zeros(&statistics, 0, &point, 1);
    assert_int_equal(pm_statistics_candidates(&statistics), 0);
    say(&statistics, 167, 1);
    assert_int_equal(pm_statistics_candidates(&statistics), SPACE + 167);
    /* As many against: it is not known. One more, and it is, whatever the others made up. */
    say(&statistics, most, 1);
    assert_int_equal(pm_statistics_candidates(&statistics), 0);
    say(&statistics, 167, 3);
    say(&statistics, 0, 1);
    say(&statistics, most - 167, 1);
    assert_int_equal(pm_statistics_candidates(&statistics), SPACE + 167);
    /* What most say from now on wins, once they are most. */
    say(&other, 20, 8);
    assert_true(pm_statistics_merge(&statistics, &other, NULL));
    assert_int_equal(pm_statistics_candidates(&statistics), SPACE + 20);
    /* None and all are numbers, too. */
    say(&statistics, 0, 100);
    assert_int_equal(pm_statistics_candidates(&statistics), SPACE);
    say(&statistics, most, 200);
    assert_int_equal(pm_statistics_candidates(&statistics), SPACE + most);
    pm_statistics_finish(&statistics);
    pm_statistics_finish(&other);
}

static void test_merge_refuses_other_shaders(void **state)
{
    (void)state;
    struct pm_statistics a, b, empty, copy;
    struct pm_error error;
    const struct pm_point_counts point = {.calls = 1};
    const struct pm_shader_profile shader = {
        .kind = PM_KIND_BLOCK, .space = 12, .points = &point, .point_count = 1};
    pm_statistics_init(&a);
    pm_statistics_init(&b);
    pm_statistics_init(&empty);
    pm_statistics_init(&copy);
    add_cluster(&a, PM_KIND_BLOCK, NULL, &point, 1);
    assert_true(pm_statistics_merge(&copy, &a, &error));
    assert_false(pm_statistics_add_profile(&a, &shader, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_non_null(strstr(error.message, "space"));
    add_cluster(&b, PM_KIND_ZERO, NULL, &point, 1);
    assert_false(pm_statistics_merge(&a, &b, &error));
    assert_non_null(strstr(error.message, "kind"));
    /* An empty one merges with anything. */
    assert_true(pm_statistics_merge(&a, &empty, &error));
    assert_same(&a, &copy);
    pm_statistics_finish(&copy);
    pm_statistics_finish(&a);
    pm_statistics_finish(&b);
}

/* ---- what cannot be ---- */

static void assert_refused(struct pm_shader_profile shader, const char *field)
{
    struct pm_statistics statistics;
    struct pm_error error = {0};
    pm_statistics_init(&statistics);
    assert_false(pm_statistics_add_profile(&statistics, &shader, &error));
    if (!strstr(error.message, field))
        fail_msg("\"%s\" does not name \"%s\"", error.message, field);
    assert_true(error.code == PM_ERROR_INPUT || error.code == PM_ERROR_UNSUPPORTED);
    assert_int_equal(statistics.space, 0);
    pm_statistics_finish(&statistics);
}

static void test_refuses_what_cannot_be(void **state)
{
    (void)state;
    const uint8_t once[] = {0xff, 0x1f};
    const struct pm_point_counts good = {
        .entry_lanes = 8, .entry_subgroups = 2, .counts = {4, 2, 1}};
    struct pm_point_counts points[SPACE + 1] = {good, good};
    struct pm_shader_profile shader = {.kind = PM_KIND_BLOCK,
                                       .space = SPACE,
                                       .points = points,
                                       .point_count = 1,
                                       .at_most_once = once};
    points[0].point = SPACE;
    assert_refused(shader, "point 13");
    points[0] = good;
    points[0].counts[PM_BLOCK_UNIFORM_LANES] = 5;
    assert_refused(shader, "uniform_lanes");
    points[0] = good;
    points[0].counts[PM_BLOCK_SUBGROUPS] = 5;
    assert_refused(shader, "subgroups");
    points[0].counts[PM_BLOCK_SUBGROUPS] = 0;
    assert_refused(shader, "subgroups");
    points[0] = good;
    points[0].counts[PM_BLOCK_LANES] = 9;
    assert_refused(shader, "at most once");
    points[0] = good;
    points[0].entry_subgroups = 9;
    assert_refused(shader, "entry_subgroups");
    points[0] = good;
    points[0].entry_lanes = points[0].entry_subgroups = 0;
    assert_refused(shader, "entry");
    points[0] = good;
    shader.point_count = 2;
    assert_refused(shader, "twice");
    shader.point_count = SPACE + 1;
    assert_refused(shader, "points");
    shader.point_count = 1;
    shader.space = 0;
    assert_refused(shader, "space");
    shader.space = UINT32_MAX;
    assert_refused(shader, "space");
    shader.space = SPACE;
    shader.kind = (enum pm_kind)(PM_KIND_LAST + 1);
    assert_refused(shader, "kind");
    shader.kind = PM_KIND_ZERO;
    assert_refused(shader, "unused");
    points[0].counts[2] = 0;
    points[0].counts[PM_ZERO_ZERO_WRITES] = 5;
    assert_refused(shader, "zero_writes");
    points[0].counts[PM_ZERO_WRITES] = 9;
    assert_refused(shader, "at most once");
    points[0].counts[PM_ZERO_WRITES] = points[0].counts[PM_ZERO_ZERO_WRITES] = 0;
    shader.candidates = SPACE - 1;
    assert_refused(shader, "candidates is below");
    shader.candidates = SPACE + (1u << PM_LEFT_OUT_BITS);
    assert_refused(shader, "candidates is far above");
    shader.candidates = SPACE;
    shader.kind = PM_KIND_BLOCK;
    assert_refused(shader, "candidates is there");
}

/* Of lanes that were counted alone nobody knows which were of whole subgroups. */
static void test_refuses_what_lanes_alone_cannot_be(void **state)
{
    (void)state;
    const struct pm_point_counts good = {
        .entry_lanes = 8, .entry_subgroups = 2, .counts = {6, 2, 1}, .lanes_alone = 4};
    struct pm_point_counts point = good;
    struct pm_shader_profile shader = {
        .kind = PM_KIND_BLOCK, .space = 1, .points = &point, .point_count = 1};
    point.counts[PM_BLOCK_UNIFORM_LANES] = 3;
    assert_refused(shader, "uniform_lanes: 3 is above lanes that were not counted alone, 2");
    point = good;
    point.counts[PM_BLOCK_SUBGROUPS] = 3;
    assert_refused(shader, "subgroups: 3 is above lanes that were not counted alone, 2");
    point = good;
    point.lanes_alone = 7;
    assert_refused(shader, "lanes_alone: 7 is above lanes, 6");
    point.lanes_alone = UINT64_MAX; /* what is known of would be 7 */
    assert_refused(shader, "lanes_alone");
    point = good;
    point.lanes_alone = 6;
    assert_refused(shader, "uniform_lanes");
    point.counts[PM_BLOCK_UNIFORM_LANES] = 0;
    assert_refused(shader, "subgroups");
    point = good;
    point.entry_subgroups = 0;
    assert_refused(shader, "entry_subgroups: 0, and yet it has counts");
    point = good;
    point.entry_lanes = point.entry_subgroups = 0;
    point.counts[1] = point.counts[2] = 0;
    point.lanes_alone = 6;
    assert_refused(shader, "entry_lanes: 0, and yet it has lanes");
    point = good;
    point.counts[2] = 0;
    shader.kind = PM_KIND_ZERO;
    assert_refused(shader, "lanes_alone");
}

static void test_refuses_timings_that_cannot_be(void **state)
{
    (void)state;
    const uint8_t once = 1;
    const struct pm_point_counts good = {
        .calls = 4, .entry_lanes = 4, .entry_subgroups = 4, .counts = {100, 90}};
    struct pm_point_counts points[1] = {good};
    struct pm_shader_profile shader = {
        .kind = PM_KIND_TIMING, .space = 1, .points = points, .point_count = 1};
    points[0].counts[PM_TIMING_ORIGINAL] = 0;
    assert_refused(shader, "original_ns");
    points[0] = good;
    points[0].entry_subgroups = 3;
    assert_refused(shader, "entry_subgroups");
    points[0].entry_lanes = points[0].entry_subgroups = 0;
    assert_refused(shader, "entry_subgroups");
    points[0] = good;
    points[0].counts[PM_TIMING_ORIGINAL] = points[0].counts[PM_TIMING_VARIANT] = 0;
    points[0].counts[PM_TIMING_SPREAD] = 1;
    assert_refused(shader, "spread");
    points[0] = good;
    shader.at_most_once = &once;
    assert_refused(shader, "one point");
    shader.at_most_once = NULL;
    shader.space = 2;
    assert_refused(shader, "one point");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_measures),
        cmocka_unit_test(test_lanes_alone),
        cmocka_unit_test(test_histogram_bins),
        cmocka_unit_test(test_merge_is_commutative_and_associative),
        cmocka_unit_test(test_merge_blobs),
        cmocka_unit_test(test_at_most_once_needs_all),
        cmocka_unit_test(test_the_majority_says_what_is_left_out),
        cmocka_unit_test(test_merge_refuses_other_shaders),
        cmocka_unit_test(test_refuses_what_cannot_be),
        cmocka_unit_test(test_refuses_what_lanes_alone_cannot_be),
        cmocka_unit_test(test_refuses_timings_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
