/* Writing the encoding of statistics.h: layout there. */
#include "aggregator/statistics/statistics_encoding.h"

/* Room for a varint, and for a wide. */
#define VARINT_MOST 10
#define WIDE_MOST (1 + PM_WIDE_BYTES)

/* These write what they are given, and return how many bytes it was. */
static size_t write_varint(uint8_t *bytes, uint64_t value)
{
    size_t size = 0;
    while (value >= 0x80) {
        bytes[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[size++] = (uint8_t)value;
    return size;
}

static size_t write_wide(uint8_t *bytes, const struct pm_wide *wide)
{
    int limb = 2;
    while (limb > 0 && wide->limbs[limb] == 0)
        limb--;
    uint8_t size = (uint8_t)(8 * limb);
    for (uint64_t rest = wide->limbs[limb]; rest != 0; rest >>= 8)
        size++;
    bytes[0] = size;
    for (uint8_t i = 0; i < size; i++)
        bytes[1 + i] = (uint8_t)(wide->limbs[i / 8] >> (i % 8 * 8));
    return 1 + (size_t)size;
}

static bool put_varint(struct pm_buffer *out, uint64_t value)
{
    uint8_t bytes[VARINT_MOST];
    return pm_buffer_append(out, bytes, write_varint(bytes, value));
}

static bool put_wide(struct pm_buffer *out, const struct pm_wide *wide)
{
    uint8_t bytes[WIDE_MOST];
    return pm_buffer_append(out, bytes, write_wide(bytes, wide));
}

static bool put_histogram(struct pm_buffer *out, const struct pm_measure_counts *counts)
{
    uint8_t bytes[4 + PM_HISTOGRAM_BINS * VARINT_MOST] = {0};
    size_t size = 4;
    for (unsigned i = 0; i < PM_HISTOGRAM_BINS; i++) {
        if (counts->histogram[i] == 0)
            continue;
        bytes[i / 8] = (uint8_t)(bytes[i / 8] | 1u << (i % 8));
        size += write_varint(bytes + size, counts->histogram[i]);
    }
    return pm_buffer_append(out, bytes, size);
}

/* step: from the class before. Of one cluster x and y say it all. */
static bool put_cell(struct pm_buffer *out, const struct pm_cell *cell, uint64_t step)
{
    uint8_t bytes[3 * VARINT_MOST + 4 * WIDE_MOST];
    const enum pm_cell_form form = pm_cell_form_of(cell);
    size_t size = write_varint(bytes, step);
    size += write_varint(bytes + size, cell->n * PM_CELL_FORMS + form);
    size += write_wide(bytes + size, &cell->x);
    if (form == PM_CELL_ANY)
        size += write_wide(bytes + size, &cell->y);
    if (cell->n > 1)
        size += write_varint(bytes + size, cell->squares);
    if (cell->n > 1 && form == PM_CELL_ANY) {
        size += write_wide(bytes + size, &cell->r);
        size += write_wide(bytes + size, &cell->rr);
    }
    return pm_buffer_append(out, bytes, size);
}

/* *at: the measure's first cell; moved behind its last. */
static bool put_measure(struct pm_buffer *out, const struct pm_statistics *statistics,
                        const struct pm_point_statistics *point, unsigned measure, size_t *at)
{
    const uint64_t end = pm_cell_key(point->point, measure + 1, 0);
    uint64_t next = pm_cell_key(point->point, measure, 0);
    size_t last = *at;
    while (last < statistics->cell_count && statistics->cells[last].key < end)
        last++;
    if (!put_varint(out, last - *at))
        return false;
    if (last == *at)
        return true;
    for (; *at < last; ++*at) {
        const struct pm_cell *cell = &statistics->cells[*at];
        if (!put_cell(out, cell, cell->key - next))
            return false;
        next = cell->key + 1;
    }
    return put_histogram(out, &point->measures[measure]);
}

static bool put_bitmap(struct pm_buffer *out, const struct pm_statistics *statistics)
{
    if (!statistics->at_most_once)
        return put_varint(out, 0);
    return put_varint(out, 1) &&
           pm_buffer_append(out, statistics->at_most_once, ((size_t)statistics->space + 7) / 8);
}

/* Nothing where nobody said a number. */
static bool put_majority(struct pm_buffer *out, const struct pm_majority *majority)
{
    uint32_t all = 0, some = 0;
    for (unsigned i = 0; i < PM_MAJORITY_BITS; i++) {
        const bool set = majority->bits[i] > 0, by_all = majority->bits[i] == majority->sessions;
        all |= (uint32_t)(set && by_all) << i;
        some |= (uint32_t)(set && !by_all) << i;
    }
    if (majority->sessions == 0)
        return true;
    if (!put_varint(out, majority->sessions) || !put_varint(out, all) || !put_varint(out, some))
        return false;
    for (unsigned i = 0; i < PM_MAJORITY_BITS; i++) {
        if ((some >> i & 1) != 0 && !put_varint(out, majority->bits[i]))
            return false;
    }
    return true;
}

/* The oldest that can say it. */
static uint8_t version_of(const struct pm_statistics *statistics)
{
    if (pm_statistics_has_spread(statistics))
        return 4;
    return statistics->left_out.sessions > 0 ? 3 : 2;
}

static bool put_all(const struct pm_statistics *statistics, struct pm_buffer *out)
{
    const uint8_t version = version_of(statistics);
    const unsigned measures = pm_statistics_measures(statistics->kind, version);
    const uint8_t head[2] = {version, (uint8_t)statistics->kind};
    if (!pm_buffer_append(out, pm_statistics_magic, sizeof(pm_statistics_magic)) ||
        !pm_buffer_append(out, head, sizeof(head)) || !put_varint(out, statistics->space) ||
        !put_bitmap(out, statistics) || !put_majority(out, &statistics->left_out) ||
        !put_wide(out, &statistics->entry_lanes) || !put_varint(out, statistics->count))
        return false;
    uint32_t next = 0;
    size_t cell = 0;
    for (size_t i = 0; i < statistics->count; i++) {
        const struct pm_point_statistics *point = &statistics->points[i];
        if (!put_varint(out, point->point - next) || !put_varint(out, point->calls) ||
            !put_varint(out, point->sessions))
            return false;
        for (unsigned j = 0; j < measures; j++) {
            if (!put_measure(out, statistics, point, j, &cell))
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
