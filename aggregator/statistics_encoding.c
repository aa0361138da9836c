/* The encoding of statistics.h: layout there. */
#include "aggregator/statistics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char magic[4] = {'P', 'M', 's', 't'};

/* ---- writing ---- */

static bool put_varint(struct pm_buffer *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t size = 0;
    while (value >= 0x80) {
        bytes[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = (uint8_t)value;
    return pm_buffer_append(out, bytes, size);
}

static bool put_wide(struct pm_buffer *out, const struct pm_wide *wide)
{
    uint8_t bytes[1 + PM_WIDE_BYTES];
    uint8_t size = 0;
    for (uint8_t i = 0; i < PM_WIDE_BYTES; i++) {
        bytes[1 + i] = (uint8_t)(wide->limbs[i / 8] >> (i % 8 * 8));
        if (bytes[1 + i] != 0)
            size = (uint8_t)(i + 1);
    }
    bytes[0] = size;
    return pm_buffer_append(out, bytes, 1 + (size_t)size);
}

static bool put_measure(struct pm_buffer *out, const struct pm_measure_sums *sums)
{
    if (!put_varint(out, sums->n))
        return false;
    if (sums->n == 0)
        return true;
    uint32_t mask = 0;
    for (unsigned i = 0; i < PM_HISTOGRAM_BINS; i++)
        mask |= (uint32_t)(sums->histogram[i] != 0) << i;
    const uint8_t mask_bytes[4] = {(uint8_t)mask, (uint8_t)(mask >> 8), (uint8_t)(mask >> 16),
                                   (uint8_t)(mask >> 24)};
    if (!put_wide(out, &sums->x) || !put_wide(out, &sums->y) || !put_wide(out, &sums->xx) ||
        !put_wide(out, &sums->xy) || !put_wide(out, &sums->yy) || !put_wide(out, &sums->r) ||
        !put_wide(out, &sums->rr) || !pm_buffer_append(out, mask_bytes, sizeof(mask_bytes)))
        return false;
    for (unsigned i = 0; i < PM_HISTOGRAM_BINS; i++) {
        if (sums->histogram[i] != 0 && !put_varint(out, sums->histogram[i]))
            return false;
    }
    return true;
}

static bool put_bitmap(struct pm_buffer *out, const struct pm_statistics *statistics)
{
    if (!statistics->at_most_once)
        return put_varint(out, 0);
    return put_varint(out, 1) &&
           pm_buffer_append(out, statistics->at_most_once, ((size_t)statistics->space + 7) / 8);
}

static bool put_all(const struct pm_statistics *statistics, struct pm_buffer *out)
{
    const unsigned measures = pm_measure_count(statistics->kind);
    const uint8_t head[2] = {PM_STATISTICS_VERSION, (uint8_t)statistics->kind};
    if (!pm_buffer_append(out, magic, sizeof(magic)) ||
        !pm_buffer_append(out, head, sizeof(head)) || !put_varint(out, statistics->space) ||
        !put_bitmap(out, statistics) || !put_wide(out, &statistics->entry_lanes) ||
        !put_varint(out, statistics->count))
        return false;
    uint32_t next = 0;
    for (size_t i = 0; i < statistics->count; i++) {
        const struct pm_point_statistics *point = &statistics->points[i];
        if (!put_varint(out, point->point - next) || !put_varint(out, point->calls) ||
            !put_varint(out, point->sessions))
            return false;
        for (unsigned j = 0; j < measures; j++) {
            if (!put_measure(out, &point->measures[j]))
                return false;
        }
        next = point->point + 1;
    }
    return true;
}

bool pm_statistics_encode(const struct pm_statistics *statistics, struct pm_buffer *out,
                          struct pm_error *error)
{
    if (statistics->space == 0)
        return pm_fail(error, PM_ERROR_INPUT, "statistics of no shader cannot be encoded");
    if (!put_all(statistics, out))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory, or statistics above %zu bytes",
                       out->cap);
    return true;
}

/* ---- reading ---- */

struct reader {
    const uint8_t *data;
    size_t size, at;
    struct pm_error *error;
};

static bool refuse(struct reader *reader, const char *what)
{
    return pm_fail(reader->error, PM_ERROR_INPUT, "statistics: byte %zu: %s", reader->at, what);
}

static bool take(struct reader *reader, size_t size, const uint8_t **bytes)
{
    if (size > reader->size - reader->at)
        return refuse(reader, "ends too early");
    *bytes = reader->data + reader->at;
    reader->at += size;
    return true;
}

static bool take_varint(struct reader *reader, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t *byte = NULL;
        if (!take(reader, 1, &byte))
            return false;
        if (shift == 63 && *byte > 1)
            return refuse(reader, "a number above 64 bits");
        *value |= (uint64_t)(*byte & 0x7f) << shift;
        if (*byte < 0x80) {
            if (*byte == 0 && shift > 0)
                return refuse(reader, "a number that is not in its shortest form");
            return true;
        }
    }
}

static bool take_wide(struct reader *reader, struct pm_wide *wide)
{
    const uint8_t *size = NULL, *bytes = NULL;
    if (!take(reader, 1, &size))
        return false;
    if (*size > PM_WIDE_BYTES)
        return refuse(reader, "a sum above 192 bits");
    if (!take(reader, *size, &bytes))
        return false;
    if (*size > 0 && bytes[*size - 1] == 0)
        return refuse(reader, "a sum that is not in its shortest form");
    memset(wide, 0, sizeof(*wide));
    for (uint8_t i = 0; i < *size; i++)
        wide->limbs[i / 8] |= (uint64_t)bytes[i] << (i % 8 * 8);
    return true;
}

static bool take_measure(struct reader *reader, struct pm_measure_sums *sums)
{
    const uint8_t *bytes = NULL;
    if (!take_varint(reader, &sums->n))
        return false;
    if (sums->n == 0)
        return true;
    if (!take_wide(reader, &sums->x) || !take_wide(reader, &sums->y) ||
        !take_wide(reader, &sums->xx) || !take_wide(reader, &sums->xy) ||
        !take_wide(reader, &sums->yy) || !take_wide(reader, &sums->r) ||
        !take_wide(reader, &sums->rr) || !take(reader, 4, &bytes))
        return false;
    if (pm_wide_is_zero(&sums->x))
        return refuse(reader, "clusters without a sum of x");
    const uint32_t mask = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
    if (mask >> PM_HISTOGRAM_BINS != 0)
        return refuse(reader, "a histogram bin that is not known");
    uint64_t left = sums->n;
    for (unsigned i = 0; i < PM_HISTOGRAM_BINS; i++) {
        if ((mask >> i & 1) == 0)
            continue;
        if (!take_varint(reader, &sums->histogram[i]))
            return false;
        if (sums->histogram[i] == 0 || sums->histogram[i] > left)
            return refuse(reader, "a histogram that does not add up to its clusters");
        left -= sums->histogram[i];
    }
    return left == 0 || refuse(reader, "a histogram that does not add up to its clusters");
}

static bool take_points(struct reader *reader, struct pm_statistics *statistics, uint64_t count)
{
    const unsigned measures = pm_measure_count(statistics->kind);
    uint64_t next = 0;
    for (; statistics->count < count; statistics->count++) {
        struct pm_point_statistics *point = &statistics->points[statistics->count];
        uint64_t step;
        memset(point, 0, sizeof(*point));
        if (!take_varint(reader, &step))
            return false;
        if (step >= statistics->space - next)
            return refuse(reader, "a point outside the space");
        point->point = (uint32_t)(next + step);
        next = (uint64_t)point->point + 1;
        if (!take_varint(reader, &point->calls) || !take_varint(reader, &point->sessions))
            return false;
        for (unsigned i = 0; i < measures; i++) {
            if (!take_measure(reader, &point->measures[i]))
                return false;
            if (point->measures[i].n > point->sessions)
                return refuse(reader, "a measure with more clusters than sessions");
        }
    }
    return reader->at == reader->size || refuse(reader, "something follows the last point");
}

static bool take_bitmap(struct reader *reader, struct pm_statistics *statistics)
{
    const uint32_t space = statistics->space;
    const size_t size = ((size_t)space + 7) / 8;
    const uint8_t *bytes = NULL;
    uint64_t present;
    if (!take_varint(reader, &present))
        return false;
    if (present == 0)
        return true;
    if (present != 1)
        return refuse(reader, "neither a bitmap nor none");
    if (!take(reader, size, &bytes))
        return false;
    if (space % 8 != 0 && bytes[size - 1] >> (space % 8) != 0)
        return refuse(reader, "a bitmap with bits beyond the space");
    bool any = false;
    for (size_t i = 0; i < size; i++)
        any = any || bytes[i] != 0;
    if (!any)
        return refuse(reader, "a bitmap of nothing");
    statistics->at_most_once = malloc(size);
    if (!statistics->at_most_once)
        return pm_fail(reader->error, PM_ERROR_MEMORY, "out of memory for %" PRIu32 " points",
                       space);
    memcpy(statistics->at_most_once, bytes, size);
    return true;
}

static bool take_head(struct reader *reader, struct pm_statistics *statistics, uint64_t *count)
{
    const uint8_t *bytes = NULL;
    uint64_t space;
    if (!take(reader, 6, &bytes))
        return false;
    if (memcmp(bytes, magic, sizeof(magic)) != 0)
        return refuse(reader, "these are no statistics");
    if (bytes[4] != PM_STATISTICS_VERSION)
        return pm_fail(reader->error, PM_ERROR_UNSUPPORTED,
                       "statistics: byte 4: version %u, and only %u is known here", bytes[4],
                       PM_STATISTICS_VERSION);
    statistics->kind = (enum pm_kind)bytes[5];
    if (pm_measure_count(statistics->kind) == 0)
        return pm_fail(reader->error, PM_ERROR_UNSUPPORTED,
                       "statistics: byte 5: kind %u is not known", bytes[5]);
    if (!take_varint(reader, &space))
        return false;
    if (space == 0 || space > PM_STATISTICS_MAX_SPACE)
        return refuse(reader, "a space out of range");
    statistics->space = (uint32_t)space;
    if (!take_bitmap(reader, statistics))
        return false;
    if (!take_wide(reader, &statistics->entry_lanes) || !take_varint(reader, count))
        return false;
    /* A point takes three bytes at least, which bounds what a damaged number can make this
     * allocate. */
    if (*count > space || *count > (reader->size - reader->at) / 3)
        return refuse(reader, "more points than there can be");
    return true;
}

bool pm_statistics_decode(const void *data, size_t size, struct pm_statistics *statistics,
                          struct pm_error *error)
{
    struct reader reader = {.data = data, .size = size, .error = error};
    uint64_t count;
    if (!take_head(&reader, statistics, &count))
        goto error;
    statistics->points = calloc((size_t)count + 1, sizeof(*statistics->points));
    if (!statistics->points) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for %" PRIu64 " points", count);
        goto error;
    }
    if (!take_points(&reader, statistics, count))
        goto error;
    return true;

error:
    pm_statistics_finish(statistics);
    return false;
}

bool pm_statistics_merge_blobs(const void *old, size_t old_size, const void *added,
                               size_t added_size, struct pm_buffer *out, struct pm_error *error)
{
    struct pm_statistics sum, more;
    pm_statistics_init(&sum);
    pm_statistics_init(&more);
    const bool done = pm_statistics_decode(old, old_size, &sum, error) &&
                      pm_statistics_decode(added, added_size, &more, error) &&
                      pm_statistics_merge(&sum, &more, error) &&
                      pm_statistics_encode(&sum, out, error);
    pm_statistics_finish(&more);
    pm_statistics_finish(&sum);
    return done;
}
