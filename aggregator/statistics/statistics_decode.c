/* Reading the encoding of statistics.h, and adding blobs of it: layout there. */
#include "aggregator/statistics/statistics_encoding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const uint8_t *data;
    size_t size, at;
    unsigned version;
    size_t cells_allocated;
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

static bool take_histogram(struct reader *reader, struct pm_measure_counts *counts)
{
    const uint8_t *bytes = NULL;
    if (!take(reader, 4, &bytes))
        return false;
    const uint32_t mask = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
                          (uint32_t)bytes[3] << 24;
    if (mask >> PM_HISTOGRAM_BINS != 0)
        return refuse(reader, "a histogram bin that is not known");
    uint64_t left = counts->n;
    for (unsigned i = 0; i < PM_HISTOGRAM_BINS; i++) {
        if ((mask >> i & 1) == 0)
            continue;
        if (!take_varint(reader, &counts->histogram[i]))
            return false;
        if (counts->histogram[i] == 0 || counts->histogram[i] > left)
            return refuse(reader, "a histogram that does not add up to its clusters");
        left -= counts->histogram[i];
    }
    return left == 0 || refuse(reader, "a histogram that does not add up to its clusters");
}

/* Room for one more; NULL: there is no memory. */
static struct pm_cell *append_cell(struct reader *reader, struct pm_statistics *statistics)
{
    if (statistics->cell_count == reader->cells_allocated) {
        const size_t allocated = reader->cells_allocated ? 2 * reader->cells_allocated : 64;
        struct pm_cell *cells = realloc(statistics->cells, allocated * sizeof(*cells));
        if (!cells) {
            pm_fail(reader->error, PM_ERROR_MEMORY, "out of memory for %zu cells", allocated);
            return NULL;
        }
        statistics->cells = cells;
        reader->cells_allocated = allocated;
    }
    return memset(&statistics->cells[statistics->cell_count++], 0, sizeof(struct pm_cell));
}

static bool is_between(const struct pm_wide *sum, pm_uint128 low, pm_uint128 high)
{
    const pm_uint128 value = (pm_uint128)sum->limbs[1] << 64 | sum->limbs[0];
    return sum->limbs[2] == 0 && low <= value && value <= high;
}

/* Can n clusters of this class have these sums? */
static bool is_of_class(const struct pm_cell *cell)
{
    const pm_uint128 n = cell->n, least = (pm_uint128)1 << (2 * pm_cell_size(cell->key));
    const unsigned height = pm_cell_height(cell->key);
    const pm_uint128 usual = (pm_uint128)PM_RATIO_USUAL << PM_STATISTICS_RATIO_BITS;
    const pm_uint128 r_least = height == 0 ? 0 : (usual << (2 * height - 2)) + 1;
    const pm_uint128 r_end = (usual << (2 * height)) + 1;
    return is_between(&cell->x, n * least, n * least * 4 - 1) &&
           is_between(&cell->r, n * r_least, n * r_end - 1) && cell->squares >= cell->n * 64 * 64 &&
           cell->squares <= cell->n * 255 * 255;
}

/* The one cluster of a cell. */
static bool take_cluster(struct reader *reader, struct pm_cell *cell)
{
    const uint64_t x = cell->x.limbs[0], y = cell->y.limbs[0];
    if (x == 0 || !is_between(&cell->x, 0, UINT64_MAX) || !is_between(&cell->y, 0, UINT64_MAX))
        return refuse(reader, "a cluster that cannot be");
    const uint64_t r = pm_cluster_ratio(y, x);
    *cell = (struct pm_cell){.key = cell->key};
    if (pm_cell_class(x, r) != pm_cell_class_of(cell->key))
        return refuse(reader, "a cluster of another class than its cell");
    pm_cell_add(cell, y, x, r);
    return true;
}

static bool take_cell(struct reader *reader, struct pm_cell *cell)
{
    uint64_t head;
    if (!take_varint(reader, &head))
        return false;
    const enum pm_cell_form form = head % PM_CELL_FORMS;
    cell->n = head / PM_CELL_FORMS;
    if (cell->n == 0 || cell->n > PM_CLUSTERS_MOST || form > PM_CELL_ALWAYS)
        return refuse(reader, "a cell with more or fewer clusters than there can be");
    const bool several = cell->n > 1;
    if (!take_wide(reader, &cell->x) || (form == PM_CELL_ANY && !take_wide(reader, &cell->y)) ||
        (several && !take_varint(reader, &cell->squares)) ||
        (several && form == PM_CELL_ANY &&
         (!take_wide(reader, &cell->r) || !take_wide(reader, &cell->rr))))
        return false;
    if (form == PM_CELL_ALWAYS) {
        cell->y = cell->x;
        cell->r = cell->rr = pm_cell_all_ones(cell->n);
    }
    if (!several && !take_cluster(reader, cell))
        return false;
    if (pm_cell_form_of(cell) != form)
        return refuse(reader, "a cell that is not in its shortest form");
    return is_of_class(cell) || refuse(reader, "sums that clusters of their class cannot have");
}

static bool take_cells(struct reader *reader, struct pm_statistics *statistics,
                       struct pm_point_statistics *point, unsigned measure)
{
    struct pm_measure_counts *counts = &point->measures[measure];
    uint64_t count, next = 0;
    if (!take_varint(reader, &count))
        return false;
    if (count > PM_CELL_CLASSES)
        return refuse(reader, "more cells than there are classes");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t step;
        if (!take_varint(reader, &step))
            return false;
        if (step >= PM_CELL_CLASSES - next)
            return refuse(reader, "a class that is not known");
        struct pm_cell *cell = append_cell(reader, statistics);
        if (!cell)
            return false;
        cell->key = pm_cell_key(point->point, measure, (unsigned)(next + step));
        next += step + 1;
        if (!take_cell(reader, cell))
            return false;
        counts->n += cell->n;
    }
    return count == 0 || take_histogram(reader, counts);
}

/* Version 1: n and the sums of all clusters at once. */
static bool take_sums(struct reader *reader, struct pm_statistics *statistics,
                      struct pm_point_statistics *point, unsigned measure)
{
    struct pm_measure_counts *counts = &point->measures[measure];
    struct pm_whole_sums sums;
    struct pm_wide unused;
    struct pm_cell cells[2];
    if (!take_varint(reader, &counts->n))
        return false;
    if (counts->n == 0)
        return true;
    if (!take_wide(reader, &sums.x) || !take_wide(reader, &sums.y) ||
        !take_wide(reader, &sums.xx) || !take_wide(reader, &unused) ||
        !take_wide(reader, &unused) || !take_wide(reader, &sums.r) || !take_wide(reader, &sums.rr))
        return false;
    const unsigned count = pm_cells_of_sums(counts->n, &sums, cells);
    if (count == 0)
        return refuse(reader, "sums that no clusters can have");
    for (unsigned i = 0; i < count; i++) {
        struct pm_cell *cell = append_cell(reader, statistics);
        if (!cell)
            return false;
        *cell = cells[i];
        cell->key |= pm_cell_key(point->point, measure, 0);
    }
    return take_histogram(reader, counts);
}

static bool take_points(struct reader *reader, struct pm_statistics *statistics, uint64_t count)
{
    const unsigned measures = pm_statistics_measures(statistics->kind, reader->version);
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
            if (!(reader->version == 1 ? take_sums(reader, statistics, point, i)
                                       : take_cells(reader, statistics, point, i)))
                return false;
            if (point->measures[i].n > point->sessions)
                return refuse(reader, "a measure with more clusters than sessions");
        }
    }
    if (reader->version == 4 && !pm_statistics_has_spread(statistics))
        return refuse(reader, "spreads that are none");
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

static bool take_majority(struct reader *reader, struct pm_majority *majority)
{
    uint64_t all, some;
    if (!take_varint(reader, &majority->sessions) || !take_varint(reader, &all) ||
        !take_varint(reader, &some))
        return false;
    if (majority->sessions == 0 || majority->sessions > PM_CLUSTERS_MOST)
        return refuse(reader, "more or fewer sessions than there can be");
    if ((all | some) >> PM_MAJORITY_BITS != 0 || (all & some) != 0)
        return refuse(reader, "a number that cannot be");
    for (unsigned i = 0; i < PM_MAJORITY_BITS; i++) {
        majority->bits[i] = (all >> i & 1) != 0 ? majority->sessions : 0;
        if ((some >> i & 1) == 0)
            continue;
        if (!take_varint(reader, &majority->bits[i]))
            return false;
        if (majority->bits[i] == 0 || majority->bits[i] >= majority->sessions)
            return refuse(reader, "a bit that some have and some have not, and it is not so");
    }
    return true;
}

static bool take_head(struct reader *reader, struct pm_statistics *statistics, uint64_t *count)
{
    const uint8_t *bytes = NULL;
    uint64_t space;
    if (!take(reader, 6, &bytes))
        return false;
    if (memcmp(bytes, pm_statistics_magic, sizeof(pm_statistics_magic)) != 0)
        return refuse(reader, "these are no statistics");
    if (bytes[4] == 0 || bytes[4] > PM_STATISTICS_VERSION)
        return pm_fail(reader->error, PM_ERROR_UNSUPPORTED,
                       "statistics: byte 4: version %u, and only those up to %u are known here",
                       bytes[4], PM_STATISTICS_VERSION);
    reader->version = bytes[4];
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
    if (reader->version == 4 && statistics->kind != PM_KIND_TIMING)
        return refuse(reader, "spreads, and no timing");
    if (reader->version == 3 && statistics->kind != PM_KIND_ZERO)
        return refuse(reader, "values that are left out, and no zeros");
    if (reader->version == 3 && !take_majority(reader, &statistics->left_out))
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
