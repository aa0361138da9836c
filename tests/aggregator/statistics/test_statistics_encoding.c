/* How statistics are written and read, those of version 1 too. */
#include "tests/aggregator/statistics/statistics_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants these before it. */
#include <cmocka.h>

/* ---- versions 2 and 3 ---- */

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
        add_cluster(statistics, kind, once, points, count);
        if (kind == PM_KIND_ZERO)
            pm_majority_say(&statistics->left_out, pm_random_below(&random, 1u << 10));
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
            if (seed % 3)
                add_cluster(&statistics, PM_KIND_BLOCK, NULL, points, count);
            else
                add_zeros(&statistics, random_candidates(&random), points, count);
        }
        encode(&statistics, &bytes);
        pm_statistics_init(&read);
        if (!pm_statistics_decode(bytes.data, bytes.size, &read, &error))
            fail_msg("%s", error.message);
        assert_int_equal(read.count, statistics.count);
        assert_memory_equal(read.points, statistics.points, read.count * sizeof(*read.points));
        assert_int_equal(read.cell_count, statistics.cell_count);
        assert_memory_equal(read.cells, statistics.cells, read.cell_count * sizeof(*read.cells));
        assert_memory_equal(&read.left_out, &statistics.left_out, sizeof(read.left_out));
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
    add_cluster(&statistics, PM_KIND_BLOCK, once, &point, 1);
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
    bytes.data[4] = PM_STATISTICS_VERSION + 1;
    assert_false(pm_statistics_decode(bytes.data, bytes.size, &read, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "version 5"));
    bytes.data[4] = PM_STATISTICS_VERSION;
    bytes.data[5] = 9;
    assert_false(pm_statistics_decode(bytes.data, bytes.size, &read, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    bytes.data[0] = 'X';
    assert_false(pm_statistics_decode(bytes.data, bytes.size, &read, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    pm_buffer_finish(&bytes);
    pm_statistics_finish(&statistics);
}

/* What nobody said takes no byte, and what was written before is what it was. */
static void test_version_2_where_nothing_is_left_out(void **state)
{
    (void)state;
    /* A space of 13, no bitmap, no entry lanes, one point. */
    static const char before[] = "PMst\x02\x02\x0d\x00\x00\x01\x00\x01\x00\x00";
    /* Three sessions: one said 5, the others 4. */
    static const char since[] = "PMst\x03\x02\x0d\x00\x03\x04\x01\x01\x00\x01\x00\x03\x00\x00";
    const struct pm_point_counts point = {.calls = 1};
    struct pm_statistics read, made;
    struct pm_buffer bytes;
    struct pm_error error = {0};
    pm_statistics_init(&read);
    pm_statistics_init(&made);
    if (!pm_statistics_decode(before, sizeof(before), &read, &error))
        fail_msg("%s", error.message);
    assert_int_equal(pm_statistics_candidates(&read), 0);
    encode(&read, &bytes);
    assert_int_equal(bytes.size, sizeof(before));
    assert_memory_equal(bytes.data, before, sizeof(before));
    pm_buffer_finish(&bytes);
    pm_statistics_finish(&read);

    add_zeros(&made, SPACE + 4, &point, 1);
    add_zeros(&made, SPACE + 5, &point, 1);
    add_zeros(&made, SPACE + 4, &point, 1);
    encode(&made, &bytes);
    assert_int_equal(bytes.size, sizeof(since));
    assert_memory_equal(bytes.data, since, sizeof(since));
    if (!pm_statistics_decode(since, sizeof(since), &read, &error))
        fail_msg("%s", error.message);
    assert_int_equal(pm_statistics_candidates(&read), SPACE + 4);
    pm_buffer_finish(&bytes);
    pm_statistics_finish(&read);
    pm_statistics_finish(&made);
}

static struct pm_statistics timings(const uint64_t *spreads, size_t count)
{
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    for (size_t i = 0; i < count; i++) {
        const struct pm_point_counts point = {.calls = 8,
                                              .entry_lanes = 8,
                                              .entry_subgroups = 8,
                                              .counts = {1000 + i, 900, spreads[i]}};
        const struct pm_shader_profile shader = {
            .kind = PM_KIND_TIMING, .space = 1, .points = &point, .point_count = 1};
        assert_true(pm_statistics_add_profile(&statistics, &shader, NULL));
    }
    return statistics;
}

/* What was written before is read and written as it was. */
static void test_version_4_where_trials_said_their_spread(void **state)
{
    (void)state;
    static const uint64_t none[2], some[] = {0, 30, 50};
    struct pm_statistics before = timings(none, 2), since = timings(some, 3), read;
    struct pm_buffer old, new;
    struct pm_error error = {0};
    encode(&before, &old);
    encode(&since, &new);
    assert_int_equal(old.data[4], 2);
    assert_int_equal(new.data[4], 4);
    for (int i = 0; i < 2; i++) {
        const struct pm_buffer *blob = i ? &new : &old;
        pm_statistics_init(&read);
        if (!pm_statistics_decode(blob->data, blob->size, &read, &error))
            fail_msg("%s", error.message);
        assert_int_equal(read.points[0].measures[PM_MEASURE_TIME].n, i ? 3 : 2);
        assert_int_equal(read.points[0].measures[PM_MEASURE_SPREAD].n, i ? 2 : 0);
        assert_same(&read, i ? &since : &before);
        /* Both are merged, in either order. */
        assert_true(pm_statistics_merge(&read, i ? &before : &since, &error));
        assert_int_equal(read.points[0].measures[PM_MEASURE_TIME].n, 5);
        assert_int_equal(totals(&read, 0, PM_MEASURE_SPREAD).n, 2);
        pm_statistics_finish(&read);
    }
    /* Neither without a spread, nor of another kind; both would have two forms. */
    pm_statistics_init(&read);
    old.data[4] = 4;
    assert_true(pm_buffer_append(&old, "", 1)); /* no cells of the second measure */
    assert_false(pm_statistics_decode(old.data, old.size, &read, &error));
    assert_non_null(strstr(error.message, "spreads that are none"));
    new.data[5] = PM_KIND_ZERO;
    assert_false(pm_statistics_decode(new.data, new.size, &read, &error));
    assert_non_null(strstr(error.message, "spreads, and no timing"));
    pm_buffer_finish(&old);
    pm_buffer_finish(&new);
    pm_statistics_finish(&before);
    pm_statistics_finish(&since);
}

static void test_refuses_majorities_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        const char *head; /* kind, space, no bitmap, and what is wrong */
        size_t size;
        const char *why;
    } cases[] = {
        {"\x01\x0d\x00\x03\x04\x00", 6, "no zeros"},
        {"\x02\x0d\x00\x00\x00\x00", 6, "sessions"},
        {"\x02\x0d\x00\x81\x80\x80\x80\x80\x80\x20\x00\x00", 12, "sessions"},
        {"\x02\x0d\x00\x03\x80\x80\x40\x00", 8, "cannot be"},
        {"\x02\x0d\x00\x03\x00\x80\x80\x40", 8, "cannot be"},
        {"\x02\x0d\x00\x03\x05\x01\x01", 7, "cannot be"},
        {"\x02\x0d\x00\x03\x04\x01\x00", 7, "some have"},
        {"\x02\x0d\x00\x03\x04\x01\x03", 7, "some have"},
        {"\x02\x0d\x00\x03\x04\x01", 6, "too early"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct pm_statistics read;
        struct pm_error error = {0};
        char bytes[64] = "PMst\x03";
        memcpy(bytes + 5, cases[i].head, cases[i].size);
        pm_statistics_init(&read);
        assert_false(pm_statistics_decode(bytes, 5 + cases[i].size, &read, &error));
        if (!strstr(error.message, cases[i].why))
            fail_msg("\"%s\" does not name \"%s\"", error.message, cases[i].why);
    }
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
        cmocka_unit_test(test_encoding_round_trip),
        cmocka_unit_test(test_refuses_truncated_and_longer),
        cmocka_unit_test(test_damaged_is_refused_or_canonical),
        cmocka_unit_test(test_refuses_unknown_versions),
        cmocka_unit_test(test_version_2_where_nothing_is_left_out),
        cmocka_unit_test(test_version_4_where_trials_said_their_spread),
        cmocka_unit_test(test_refuses_majorities_that_cannot_be),
        cmocka_unit_test(test_version_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
