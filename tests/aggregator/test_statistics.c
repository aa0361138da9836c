#include "aggregator/statistics.h"

#include "base/random.h"
#include "profile/database.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

#define SPACE 13

/* ---- helpers ---- */

static uint64_t random_count(struct pm_random *random)
{
    return pm_random_next(random) >> pm_random_below(random, 64);
}

static struct pm_point_counts random_point(struct pm_random *random, enum pm_kind kind,
                                           uint32_t index)
{
    struct pm_point_counts point = {.point = index, .calls = pm_random_below(random, 100)};
    point.entry_lanes = random_count(random);
    point.entry_subgroups = point.entry_lanes / (1 + pm_random_below(random, 32));
    if (point.entry_subgroups == 0)
        point.entry_lanes = 0;
    if (point.entry_lanes == 0 || pm_random_below(random, 4) == 0)
        return point;
    point.counts[0] = random_count(random);
    point.counts[1] = point.counts[0] / (1 + pm_random_below(random, 9));
    if (kind == PM_KIND_BLOCK)
        point.counts[2] = (point.counts[0] + 3) / 4;
    return point;
}

/* In any order. */
static size_t random_points(struct pm_random *random, enum pm_kind kind,
                            struct pm_point_counts *points)
{
    size_t count = 0;
    for (uint32_t i = 0; i < SPACE; i++) {
        if (pm_random_below(random, 3) != 0)
            points[count++] = random_point(random, kind, i);
    }
    for (size_t i = count; i > 1; i--) {
        const size_t j = pm_random_below(random, (uint32_t)i);
        const struct pm_point_counts swap = points[i - 1];
        points[i - 1] = points[j];
        points[j] = swap;
    }
    return count;
}

static void add(struct pm_statistics *statistics, enum pm_kind kind, const uint8_t *at_most_once,
                const struct pm_point_counts *points, size_t count)
{
    const struct pm_shader_profile shader = {.kind = kind,
                                             .space = SPACE,
                                             .at_most_once = at_most_once,
                                             .points = points,
                                             .point_count = count};
    struct pm_error error;
    if (!pm_statistics_add_profile(statistics, &shader, &error))
        fail_msg("%s", error.message);
}

static void encode(const struct pm_statistics *statistics, struct pm_buffer *out)
{
    struct pm_error error;
    pm_buffer_init(out, 1 << 20);
    if (!pm_statistics_encode(statistics, out, &error))
        fail_msg("%s", error.message);
}

static void assert_same(const struct pm_statistics *a, const struct pm_statistics *b)
{
    struct pm_buffer left, right;
    encode(a, &left);
    encode(b, &right);
    assert_int_equal(left.size, right.size);
    assert_memory_equal(left.data, right.data, left.size);
    pm_buffer_finish(&left);
    pm_buffer_finish(&right);
}

/* All cells of a measure at once. */
static struct pm_cell totals(const struct pm_statistics *statistics, uint32_t point,
                             unsigned measure)
{
    struct pm_cell sum = {0};
    size_t count;
    const struct pm_cell *cells = pm_statistics_cells(statistics, point, measure, &count);
    for (size_t i = 0; i < count; i++) {
        sum.n += cells[i].n;
        pm_wide_add(&sum.x, &cells[i].x);
        pm_wide_add(&sum.y, &cells[i].y);
        pm_wide_add(&sum.r, &cells[i].r);
        pm_wide_add(&sum.rr, &cells[i].rr);
    }
    const struct pm_point_statistics *found = pm_statistics_find(statistics, point);
    assert_int_equal(sum.n, found ? found->measures[measure].n : 0);
    return sum;
}

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
        add(&statistics, PM_KIND_BLOCK, NULL, &point, 1);
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
    add(&statistics, PM_KIND_BLOCK, NULL, &loop, 1);
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
    add(&statistics, PM_KIND_BLOCK, NULL, points, 3);
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
    add(&statistics, PM_KIND_ZERO, NULL, &zero, 1);
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
        add(&statistics, PM_KIND_BLOCK, NULL, &point, 1);
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
        add(&whole, kind, NULL, points, count);
        add(&parts[pm_random_below(&random, PARTS)], kind, NULL, points, count);
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
        add(i % 2 ? &a : &b, PM_KIND_BLOCK, NULL, points, count);
        add(&both, PM_KIND_BLOCK, NULL, points, count);
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
    add(&statistics, PM_KIND_BLOCK, first, &point, 1);
    assert_true(pm_statistics_is_at_most_once(&statistics, 0));
    assert_true(pm_statistics_is_at_most_once(&statistics, 8));
    assert_false(pm_statistics_is_at_most_once(&statistics, 1));
    assert_false(pm_statistics_is_at_most_once(&statistics, 13));
    add(&statistics, PM_KIND_BLOCK, second, &point, 1);
    assert_false(pm_statistics_is_at_most_once(&statistics, 0));
    assert_true(pm_statistics_is_at_most_once(&statistics, 2));
    assert_true(pm_statistics_is_at_most_once(&statistics, 8));
    add(&statistics, PM_KIND_BLOCK, NULL, &point, 1);
    assert_null(statistics.at_most_once);
    /* Once lost, never back, in either order. */
    pm_statistics_init(&other);
    pm_statistics_init(&before);
    add(&other, PM_KIND_BLOCK, NULL, &point, 1);
    add(&other, PM_KIND_BLOCK, first, &point, 1);
    add(&before, PM_KIND_BLOCK, first, &point, 1);
    add(&before, PM_KIND_BLOCK, NULL, &point, 1);
    assert_null(other.at_most_once);
    assert_same(&other, &before);
    pm_statistics_finish(&statistics);
    pm_statistics_finish(&other);
    pm_statistics_finish(&before);
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
    add(&a, PM_KIND_BLOCK, NULL, &point, 1);
    assert_true(pm_statistics_merge(&copy, &a, &error));
    assert_false(pm_statistics_add_profile(&a, &shader, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    assert_non_null(strstr(error.message, "space"));
    add(&b, PM_KIND_ZERO, NULL, &point, 1);
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
    shader.kind = (enum pm_kind)4;
    assert_refused(shader, "kind");
    shader.kind = PM_KIND_ZERO;
    assert_refused(shader, "unused");
    points[0].counts[2] = 0;
    points[0].counts[PM_ZERO_ZERO_WRITES] = 5;
    assert_refused(shader, "zero_writes");
    points[0].counts[PM_ZERO_WRITES] = 9;
    assert_refused(shader, "at most once");
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
    points[0].counts[2] = 1;
    assert_refused(shader, "unused");
    points[0] = good;
    shader.at_most_once = &once;
    assert_refused(shader, "one point");
    shader.at_most_once = NULL;
    shader.space = 2;
    assert_refused(shader, "one point");
}

/* ---- encoding ---- */

static void random_statistics(struct pm_statistics *statistics, enum pm_kind kind, uint64_t seed)
{
    struct pm_random random;
    const uint8_t once[] = {0x12, 0x10};
    pm_random_init(&random, seed);
    pm_statistics_init(statistics);
    const uint32_t clusters = 1 + pm_random_below(&random, 4);
    for (uint32_t i = 0; i < clusters; i++) {
        struct pm_point_counts points[SPACE];
        const size_t count = random_points(&random, kind, points);
        for (size_t j = 0; j < count; j++) {
            if (once[points[j].point / 8] >> points[j].point % 8 & 1)
                memset(points[j].counts, 0, sizeof(points[j].counts));
        }
        add(statistics, kind, once, points, count);
    }
}

static void test_encoding_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct pm_statistics statistics, read;
        struct pm_buffer bytes;
        struct pm_error error;
        pm_statistics_init(&statistics);
        struct pm_random random;
        pm_random_init(&random, seed);
        for (int i = 0; i < 3; i++) {
            struct pm_point_counts points[SPACE];
            const size_t count =
                random_points(&random, seed % 3 ? PM_KIND_BLOCK : PM_KIND_ZERO, points);
            add(&statistics, seed % 3 ? PM_KIND_BLOCK : PM_KIND_ZERO, NULL, points, count);
        }
        encode(&statistics, &bytes);
        pm_statistics_init(&read);
        if (!pm_statistics_decode(bytes.data, bytes.size, &read, &error))
            fail_msg("%s", error.message);
        assert_int_equal(read.count, statistics.count);
        assert_memory_equal(read.points, statistics.points, read.count * sizeof(*read.points));
        assert_int_equal(read.cell_count, statistics.cell_count);
        assert_memory_equal(read.cells, statistics.cells, read.cell_count * sizeof(*read.cells));
        assert_same(&read, &statistics);
        pm_statistics_finish(&read);
        pm_statistics_finish(&statistics);
        pm_buffer_finish(&bytes);
    }
    /* With the bitmap. */
    const uint8_t once[] = {0x81, 0x10};
    const struct pm_point_counts point = {
        .point = 12, .entry_lanes = 4, .entry_subgroups = 1, .counts = {4, 4, 1}};
    struct pm_statistics statistics, read;
    struct pm_buffer bytes;
    pm_statistics_init(&statistics);
    pm_statistics_init(&read);
    add(&statistics, PM_KIND_BLOCK, once, &point, 1);
    encode(&statistics, &bytes);
    assert_true(pm_statistics_decode(bytes.data, bytes.size, &read, NULL));
    assert_memory_equal(read.at_most_once, once, sizeof(once));
    pm_statistics_finish(&read);
    pm_statistics_finish(&statistics);
    pm_buffer_finish(&bytes);
}

static void test_refuses_truncated_and_longer(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct pm_statistics statistics, read;
        struct pm_buffer bytes;
        struct pm_error error;
        random_statistics(&statistics, PM_KIND_ZERO, seed);
        encode(&statistics, &bytes);
        for (size_t size = 0; size < bytes.size; size++) {
            /* A copy of that size, so that reading beyond it would be seen. */
            uint8_t *copy = malloc(size ? size : 1);
            assert_non_null(copy);
            memcpy(copy, bytes.data, size);
            pm_statistics_init(&read);
            assert_false(pm_statistics_decode(copy, size, &read, &error));
            assert_non_null(strstr(error.message, "byte"));
            assert_null(read.points);
            assert_null(read.cells);
            free(copy);
        }
        pm_statistics_init(&read);
        assert_true(pm_buffer_append(&bytes, "", 1));
        assert_false(pm_statistics_decode(bytes.data, bytes.size, &read, &error));
        pm_buffer_finish(&bytes);
        pm_statistics_finish(&statistics);
    }
}

static void test_damaged_is_refused_or_canonical(void **state)
{
    (void)state;
    struct pm_random random;
    size_t refused = 0;
    pm_random_init(&random, 7);
    for (uint64_t round = 1; round <= 4000; round++) {
        struct pm_statistics statistics, read;
        struct pm_buffer bytes, again;
        random_statistics(&statistics, PM_KIND_ZERO, round % 8 + 1);
        encode(&statistics, &bytes);
        const uint32_t flips = 1 + pm_random_below(&random, 3);
        for (uint32_t i = 0; i < flips; i++)
            bytes.data[pm_random_below(&random, (uint32_t)bytes.size)] ^=
                (uint8_t)(1u << pm_random_below(&random, 8));
        pm_statistics_init(&read);
        /* What is still read is the one encoding of what it says. */
        if (pm_statistics_decode(bytes.data, bytes.size, &read, NULL)) {
            encode(&read, &again);
            assert_int_equal(again.size, bytes.size);
            assert_memory_equal(again.data, bytes.data, bytes.size);
            pm_buffer_finish(&again);
        } else {
            refused++;
        }
        pm_statistics_finish(&read);
        pm_statistics_finish(&statistics);
        pm_buffer_finish(&bytes);
    }
    assert_true(refused > 100);
}

static void test_refuses_unknown_versions(void **state)
{
    (void)state;
    struct pm_statistics statistics, read;
    struct pm_buffer bytes;
    struct pm_error error;
    random_statistics(&statistics, PM_KIND_ZERO, 1);
    encode(&statistics, &bytes);
    pm_statistics_init(&read);
    bytes.data[4]++;
    assert_false(pm_statistics_decode(bytes.data, bytes.size, &read, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "version 3"));
    bytes.data[4]--;
    bytes.data[5] = 9;
    assert_false(pm_statistics_decode(bytes.data, bytes.size, &read, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    bytes.data[0] = 'X';
    assert_false(pm_statistics_decode(bytes.data, bytes.size, &read, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    pm_buffer_finish(&bytes);
    pm_statistics_finish(&statistics);
}

/* ---- version 1 ---- */

static void put_number(struct pm_buffer *out, uint64_t value)
{
    uint8_t size = 0;
    for (uint64_t rest = value; rest != 0; rest >>= 8)
        size++;
    assert_true(pm_buffer_append(out, &size, 1));
    for (uint8_t i = 0; i < size; i++)
        assert_true(pm_buffer_append(out, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1));
}

/* One candidate of one, its writes; the values fit what is written here. */
static void old_blob(struct pm_buffer *out, const uint64_t (*clusters)[2], uint8_t n)
{
    uint64_t x = 0, y = 0, xx = 0, xy = 0, yy = 0, r = 0, bins[PM_HISTOGRAM_BINS] = {0};
    struct pm_wide rr = {0};
    pm_buffer_init(out, 4096);
    assert_true(pm_buffer_append(out, "PMst\x01\x02\x01\x00\x01\x20\x01\x00", 12));
    assert_true(pm_buffer_append(out, &(uint8_t[]){n, n, 0}, 3)); /* calls, sessions, no zeros */
    for (uint8_t i = 0; i < n; i++) {
        const uint64_t ratio = (clusters[i][1] << 32) / clusters[i][0];
        x += clusters[i][0];
        y += clusters[i][1];
        xx += clusters[i][0] * clusters[i][0];
        xy += clusters[i][0] * clusters[i][1];
        yy += clusters[i][1] * clusters[i][1];
        r += ratio;
        pm_wide_add_128(&rr, (pm_uint128)ratio * ratio);
        bins[clusters[i][1] == 0 ? 0 : PM_HISTOGRAM_ONE]++;
    }
    assert_true(pm_buffer_append(out, &n, 1));
    const uint64_t sums[] = {x, y, xx, xy, yy, r};
    for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
        put_number(out, sums[i]);
    assert_true(rr.limbs[0] == 0 && rr.limbs[1] < 256 && rr.limbs[2] == 0);
    assert_true(pm_buffer_append(out, &(uint8_t[]){9, 0, 0, 0, 0, 0, 0, 0, 0}, 9));
    assert_true(pm_buffer_append(out, &(uint8_t){(uint8_t)rr.limbs[1]}, 1));
    assert_true(pm_buffer_append(out, &(uint8_t[]){bins[0] > 0, bins[11] > 0 ? 8 : 0, 0, 0}, 4));
    for (unsigned i = 0; i < PM_HISTOGRAM_BINS; i++) {
        if (bins[i] > 0)
            assert_true(pm_buffer_append(out, &(uint8_t){(uint8_t)bins[i]}, 1));
    }
}

static struct pm_cell read_old(const uint64_t (*clusters)[2], uint8_t n,
                               struct pm_statistics *statistics)
{
    struct pm_buffer bytes;
    struct pm_error error = {0};
    old_blob(&bytes, clusters, n);
    pm_statistics_init(statistics);
    if (!pm_statistics_decode(bytes.data, bytes.size, statistics, &error))
        fail_msg("%s", error.message);
    pm_buffer_finish(&bytes);
    /* It is written as the second. */
    struct pm_statistics again;
    pm_statistics_init(&again);
    encode(statistics, &bytes);
    assert_int_equal(bytes.data[4], 2);
    if (!pm_statistics_decode(bytes.data, bytes.size, &again, &error))
        fail_msg("%s", error.message);
    assert_same(&again, statistics);
    pm_statistics_finish(&again);
    pm_buffer_finish(&bytes);
    assert_int_equal(statistics->points[0].sessions, n);
    return totals(statistics, 0, PM_MEASURE_WRITES);
}

static void test_version_1(void **state)
{
    (void)state;
    struct pm_statistics statistics, now;
    /* One cluster is what it would be today. */
    const uint64_t one[1][2] = {{32, 32}};
    const struct pm_point_counts point = {
        .calls = 1, .entry_lanes = 32, .entry_subgroups = 32, .counts = {32, 0, 0}};
    const struct pm_shader_profile shader = {
        .kind = PM_KIND_ZERO, .space = 1, .points = &point, .point_count = 1};
    read_old(one, 1, &statistics);
    pm_statistics_init(&now);
    assert_true(pm_statistics_add_profile(&now, &shader, NULL));
    assert_memory_equal(&statistics.cells[0].x, &now.cells[1].x, sizeof(struct pm_wide) * 4);
    pm_statistics_finish(&now);
    pm_statistics_finish(&statistics);

    /* Of many, the sums and how many weigh are kept: here two of eight. */
    const uint64_t many[8][2] = {{1000, 1000}, {1000, 0}, {1, 1}, {1, 1},
                                 {1, 1},       {1, 1},    {1, 0}, {1, 0}};
    const struct pm_cell all = read_old(many, 8, &statistics);
    assert_int_equal(all.n, 8);
    assert_int_equal(all.x.limbs[0], 2006);
    assert_int_equal(all.y.limbs[0], 1004);
    assert_int_equal(all.r.limbs[0], UINT64_C(5) << 32);
    assert_int_equal(all.rr.limbs[0], UINT64_C(5) << 32);
    assert_int_equal(statistics.cell_count, 2);
    assert_int_equal(statistics.cells[0].n, 6);
    assert_int_equal(statistics.cells[1].n, 2);
    assert_int_equal(pm_cell_size(statistics.cells[1].key), 4);
    assert_int_equal(statistics.points[0].measures[PM_MEASURE_WRITES].histogram[11], 5);
    /* New uploads of the same day are added. */
    assert_true(pm_statistics_add_profile(&statistics, &shader, NULL));
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_WRITES).n, 9);
    assert_int_equal(totals(&statistics, 0, PM_MEASURE_WRITES).x.limbs[0], 2038);
    pm_statistics_finish(&statistics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_measures),
        cmocka_unit_test(test_histogram_bins),
        cmocka_unit_test(test_merge_is_commutative_and_associative),
        cmocka_unit_test(test_merge_blobs),
        cmocka_unit_test(test_at_most_once_needs_all),
        cmocka_unit_test(test_merge_refuses_other_shaders),
        cmocka_unit_test(test_refuses_what_cannot_be),
        cmocka_unit_test(test_refuses_timings_that_cannot_be),
        cmocka_unit_test(test_encoding_round_trip),
        cmocka_unit_test(test_refuses_truncated_and_longer),
        cmocka_unit_test(test_damaged_is_refused_or_canonical),
        cmocka_unit_test(test_refuses_unknown_versions),
        cmocka_unit_test(test_version_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
