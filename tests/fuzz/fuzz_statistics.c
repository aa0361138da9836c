/* Any bytes as the statistics of a shader, which the storage keeps as a blob: alone, and the two
 * halves of an input merged. */
#include "aggregator/statistics/estimate.h"
#include "aggregator/statistics/statistics.h"
#include "tests/fuzz/fuzz.h"
#include <math.h>
#include <string.h>

/* One cluster with x = 32 and y = 16; and three of them beside one with x = 6 and y = 0. */
#define MEASURE "\x01\x02\x04\x01\x20\x01\x10\x40\x00\x00\x00\x01"
#define MEASURES                                                                                   \
    "\x02\x01\x05\x01\x06\x00\x0c\x01\x60\x01\x30\x80\x80\x03\x05\x00\x00\x00\x80\x01"             \
    "\x04\x00\x00\x00\xc0\x41\x00\x00\x00\x01\x03"
#define NONE "\x00\x00\x00"
/* A space of four points with a bitmap, two of the points there. */
#define BLOCKS                                                                                     \
    "PMst\x02\x01\x04\x01\x01\x01\x20\x02\x00\x01\x01" MEASURE MEASURE MEASURE "\x01\x03\x02" NONE
/* No bitmap, one candidate. */
/* The same, and three sessions that said how many values are left out: 167, 167, 166. */
#define LEFT_OUT "PMst\x03\x02\x03\x00\x03\xa6\x01\x01\x02\x01\x20\x01\x02\x01\x04" MEASURE MEASURES
#define ZEROS "PMst\x02\x02\x03\x00\x01\x20\x01\x02\x01\x04" MEASURE MEASURES
/* The same cluster as version 1 had it, and seven, of which one has nearly all of x. */
#define MEASURE_1                                                                                  \
    "\x01\x01\x20\x01\x10\x02\x00\x04\x02\x00\x02\x02\x00\x01\x04\x00\x00\x00\x80"                 \
    "\x08\x00\x00\x00\x00\x00\x00\x00\x40\x40\x00\x00\x00\x01"
#define MEASURES_1                                                                                 \
    "\x07\x02\x06\x04\x02\x06\x04\x03\x06\x00\x10\x03\x06\x00\x10\x03\x06\x00\x10"                 \
    "\x05\x00\x00\x00\x00\x07\x09\x00\x00\x00\x00\x00\x00\x00\x00\x07\x00\x08\x00\x00\x07"
#define ZEROS_1 "PMst\x01\x02\x03\x00\x01\x20\x01\x02\x01\x07" MEASURE_1 MEASURES_1

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT(BLOCKS),
    PM_FUZZ_TEXT(ZEROS),
    PM_FUZZ_TEXT(BLOCKS BLOCKS),
    PM_FUZZ_TEXT(ZEROS_1),
    PM_FUZZ_TEXT(ZEROS ZEROS_1),
    PM_FUZZ_TEXT(LEFT_OUT),
    PM_FUZZ_TEXT(ZEROS LEFT_OUT),
    PM_FUZZ_TEXT("PMst\x02\x01\xff\xff\x3f\x00\x00\xff\xff\x3f"),
    {NULL, 0},
};

/* Holds for sums that no clusters can have, too. */
static void check_ratio(const struct pm_ratio *ratio)
{
    const double numbers[] = {ratio->mean,  ratio->mean_low,  ratio->mean_high,
                              ratio->ratio, ratio->ratio_low, ratio->ratio_high};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        PM_FUZZ_CHECK(isfinite(numbers[i]) && numbers[i] >= 0);
    PM_FUZZ_CHECK(ratio->mean_low <= ratio->mean_high && ratio->ratio_low <= ratio->ratio_high);
}

static bool decode(const uint8_t *data, size_t size)
{
    struct pm_statistics statistics;
    struct pm_error error = {0};
    pm_statistics_init(&statistics);
    if (!pm_statistics_decode(data, size, &statistics, &error)) {
        PM_FUZZ_CHECK(error.message[0] != '\0');
        return false;
    }
    /* Equal statistics have equal bytes; those of the first version become such. */
    struct pm_buffer out;
    pm_buffer_init(&out, (size_t)64 << 20);
    PM_FUZZ_CHECK(pm_statistics_encode(&statistics, &out, &error));
    if (data[4] > 1)
        PM_FUZZ_CHECK(out.size == size && memcmp(out.data, data, size) == 0);
    else
        PM_FUZZ_CHECK(decode(out.data, out.size));
    pm_buffer_finish(&out);
    for (size_t i = 0; i < statistics.count; i++) {
        const struct pm_point_statistics *point = &statistics.points[i];
        struct pm_point_estimate estimate = {0};
        PM_FUZZ_CHECK(point->point < statistics.space);
        PM_FUZZ_CHECK(pm_statistics_find(&statistics, point->point) == point);
        pm_estimate_point(&statistics, point, &estimate);
        for (unsigned j = 0; j < PM_MEASURES; j++)
            check_ratio(&estimate.measures[j]);
    }
    pm_statistics_finish(&statistics);
    return true;
}

/* What is merged of valid blobs is one, whichever comes first. */
static void merge(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    struct pm_buffer one, other;
    struct pm_error error = {0};
    pm_buffer_init(&one, (size_t)64 << 20);
    pm_buffer_init(&other, (size_t)64 << 20);
    const bool merged = pm_statistics_merge_blobs(a, a_size, b, b_size, &one, &error);
    PM_FUZZ_CHECK(pm_statistics_merge_blobs(b, b_size, a, a_size, &other, &error) == merged);
    if (merged) {
        PM_FUZZ_CHECK(one.size == other.size && memcmp(one.data, other.data, one.size) == 0);
        PM_FUZZ_CHECK(decode(one.data, one.size));
    } else {
        PM_FUZZ_CHECK(error.message[0] != '\0');
    }
    pm_buffer_finish(&one);
    pm_buffer_finish(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (decode(data, size))
        merge(data, size, data, size);
    /* The second half starts where its magic is. */
    for (size_t at = 1; at + 4 <= size; at++) {
        if (memcmp(data + at, "PMst", 4) == 0) {
            merge(data, at, data + at, size - at);
            break;
        }
    }
    return 0;
}
