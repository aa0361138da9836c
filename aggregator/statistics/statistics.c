#include "aggregator/statistics/statistics_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pm_statistics_init(struct pm_statistics *statistics)
{
    memset(statistics, 0, sizeof(*statistics));
}

void pm_statistics_finish(struct pm_statistics *statistics)
{
    free(statistics->at_most_once);
    free(statistics->points);
    free(statistics->cells);
    pm_statistics_init(statistics);
}

const struct pm_point_statistics *pm_statistics_find(const struct pm_statistics *statistics,
                                                     uint32_t point)
{
    size_t low = 0, high = statistics->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (statistics->points[middle].point < point)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == statistics->count || statistics->points[low].point != point)
        return NULL;
    return &statistics->points[low];
}

static size_t lower_bound(const struct pm_statistics *statistics, uint64_t key)
{
    return pm_cell_lower_bound(statistics->cells, sizeof(*statistics->cells),
                               statistics->cell_count, key);
}

const struct pm_cell *pm_statistics_cells(const struct pm_statistics *statistics, uint32_t point,
                                          unsigned measure, size_t *count)
{
    const size_t first = lower_bound(statistics, pm_cell_key(point, measure, 0));
    *count = lower_bound(statistics, pm_cell_key(point, measure + 1, 0)) - first;
    return *count > 0 ? &statistics->cells[first] : NULL;
}

bool pm_statistics_is_at_most_once(const struct pm_statistics *statistics, uint32_t point)
{
    return point < statistics->space && statistics->at_most_once &&
           (statistics->at_most_once[point / 8] >> (point % 8) & 1) != 0;
}

uint32_t pm_statistics_candidates(const struct pm_statistics *statistics)
{
    uint32_t left_out;
    return pm_majority_find(&statistics->left_out, &left_out) ? statistics->space + left_out : 0;
}

/* ---- merging ---- */

void pm_statistics_intersect(struct pm_statistics *into, const uint8_t *bitmap)
{
    bool any = false;
    if (!into->at_most_once)
        return;
    for (size_t i = 0; bitmap && i < ((size_t)into->space + 7) / 8; i++) {
        into->at_most_once[i] &= bitmap[i];
        any = any || into->at_most_once[i] != 0;
    }
    if (!any) {
        free(into->at_most_once);
        into->at_most_once = NULL;
    }
}

static void add_point(struct pm_point_statistics *into, const struct pm_point_statistics *from)
{
    into->calls += from->calls;
    into->sessions += from->sessions;
    for (unsigned i = 0; i < PM_MEASURES; i++) {
        if (from->measures[i].n == 0)
            continue;
        into->measures[i].n += from->measures[i].n;
        for (unsigned j = 0; j < PM_HISTOGRAM_BINS; j++)
            into->measures[i].histogram[j] += from->measures[i].histogram[j];
    }
}

/* How many points of `from` are not in `into`. */
static size_t count_new(const struct pm_statistics *into, const struct pm_statistics *from)
{
    size_t fresh = 0, i = 0;
    for (size_t j = 0; j < from->count; j++) {
        while (i < into->count && into->points[i].point < from->points[j].point)
            i++;
        fresh += i == into->count || into->points[i].point != from->points[j].point;
    }
    return fresh;
}

/* Merges the sorted points of `from` into those of `into`, from the back, so that it works in
 * place. A point that stays where it is is not touched: mostly all do. */
static void merge_points(struct pm_statistics *into, const struct pm_statistics *from, size_t fresh)
{
    struct pm_point_statistics *points = into->points;
    size_t i = into->count, j = from->count, out = into->count + fresh;
    into->count = out;
    while (j > 0) {
        const struct pm_point_statistics *added = &from->points[j - 1];
        out--;
        if (i == 0 || points[i - 1].point < added->point) {
            points[out] = *added;
            j--;
            continue;
        }
        i--;
        if (out != i)
            points[out] = points[i];
        if (points[out].point == added->point) {
            add_point(&points[out], added);
            j--;
        }
    }
}

/* The same for cells. */
static size_t count_new_cells(const struct pm_statistics *into, const struct pm_statistics *from)
{
    size_t fresh = 0, i = 0;
    for (size_t j = 0; j < from->cell_count; j++) {
        while (i < into->cell_count && into->cells[i].key < from->cells[j].key)
            i++;
        fresh += i == into->cell_count || into->cells[i].key != from->cells[j].key;
    }
    return fresh;
}

static void merge_cells(struct pm_statistics *into, const struct pm_statistics *from, size_t fresh)
{
    struct pm_cell *cells = into->cells;
    size_t i = into->cell_count, j = from->cell_count, out = into->cell_count + fresh;
    into->cell_count = out;
    while (j > 0) {
        const struct pm_cell *added = &from->cells[j - 1];
        out--;
        if (i == 0 || cells[i - 1].key < added->key) {
            cells[out] = *added;
            j--;
            continue;
        }
        i--;
        if (out != i)
            cells[out] = cells[i];
        if (cells[out].key == added->key) {
            pm_cell_add_cell(&cells[out], added);
            j--;
        }
    }
}

/* Room for so many more of both. */
static bool make_room(struct pm_statistics *into, size_t points, size_t cells,
                      struct pm_error *error)
{
    if (points > 0) {
        struct pm_point_statistics *grown =
            realloc(into->points, (into->count + points) * sizeof(*grown));
        if (!grown)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points",
                           into->count + points);
        into->points = grown;
    }
    if (cells > 0) {
        struct pm_cell *grown = realloc(into->cells, (into->cell_count + cells) * sizeof(*grown));
        if (!grown)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu cells",
                           into->cell_count + cells);
        into->cells = grown;
    }
    return true;
}

bool pm_statistics_merge(struct pm_statistics *into, const struct pm_statistics *from,
                         struct pm_error *error)
{
    if (from->space == 0)
        return true;
    if (into->space != 0 && into->kind != from->kind)
        return pm_fail(error, PM_ERROR_INPUT, "kind: %d does not agree with the %d known before",
                       (int)from->kind, (int)into->kind);
    if (into->space != 0 && into->space != from->space)
        return pm_fail(error, PM_ERROR_INPUT,
                       "space: %" PRIu32 " does not agree with the %" PRIu32 " known before",
                       from->space, into->space);

    const size_t fresh = count_new(into, from), fresh_cells = count_new_cells(into, from);
    if (!make_room(into, fresh, fresh_cells, error))
        return false;
    if (into->space == 0 && from->at_most_once) {
        const size_t bytes = ((size_t)from->space + 7) / 8;
        into->at_most_once = malloc(bytes);
        if (!into->at_most_once)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu bytes", bytes);
        memcpy(into->at_most_once, from->at_most_once, bytes);
    }
    into->kind = from->kind;
    into->space = from->space;
    pm_statistics_intersect(into, from->at_most_once);
    pm_majority_add(&into->left_out, &from->left_out);
    pm_wide_add(&into->entry_lanes, &from->entry_lanes);
    merge_points(into, from, fresh);
    merge_cells(into, from, fresh_cells);
    return true;
}
