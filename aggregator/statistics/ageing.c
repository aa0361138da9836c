#include "aggregator/statistics/ageing.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void pm_aged_init(struct pm_aged *aged)
{
    memset(aged, 0, sizeof(*aged));
}

void pm_aged_finish(struct pm_aged *aged)
{
    free(aged->at_most_once);
    free(aged->points);
    free(aged->cells);
    pm_aged_init(aged);
}

bool pm_aged_is_at_most_once(const struct pm_aged *aged, uint32_t point)
{
    return point < aged->space && aged->at_most_once &&
           (aged->at_most_once[point / 8] >> (point % 8) & 1) != 0;
}

uint32_t pm_ageing_first_day(uint32_t today, uint32_t retention)
{
    return retention == 0 || today < retention ? 0 : today - retention + 1;
}

struct pm_aged_cell pm_aged_cell_of(const struct pm_cell *cell)
{
    const long double r = ldexpl(pm_wide_value(&cell->r), -PM_STATISTICS_RATIO_BITS);
    const int unit = 4 * (int)pm_cell_size(cell->key) - 12; /* of the squares, in powers of two */
    return (struct pm_aged_cell){
        .key = cell->key,
        .w = (long double)cell->n,
        .ww = (long double)cell->n,
        .x = pm_wide_value(&cell->x),
        .y = pm_wide_value(&cell->y),
        .r = r,
        .xx = ldexpl((long double)cell->squares, unit),
        .wwr = r,
        .wwrr = ldexpl(pm_wide_value(&cell->rr), -PM_STATISTICS_RATIO_BITS),
    };
}

static void weigh(struct pm_aged_cell *cell, long double w)
{
    const long double ww = w * w;
    cell->w *= w;
    cell->x *= w;
    cell->y *= w;
    cell->r *= w;
    cell->ww *= ww;
    cell->xx *= ww;
    cell->wwr *= ww;
    cell->wwrr *= ww;
}

static void add_cell(struct pm_aged_cell *into, const struct pm_aged_cell *from)
{
    into->w += from->w;
    into->x += from->x;
    into->y += from->y;
    into->r += from->r;
    into->ww += from->ww;
    into->xx += from->xx;
    into->wwr += from->wwr;
    into->wwrr += from->wwrr;
}

bool pm_counts_above_one(const struct pm_measure_counts *counts)
{
    for (unsigned bin = PM_HISTOGRAM_ONE + 1; bin < PM_HISTOGRAM_BINS; bin++) {
        if (counts->histogram[bin] != 0)
            return true;
    }
    return false;
}

/* n more clusters of the day, which weigh w each. */
static void add_day(struct pm_aged_measure *into, uint64_t n, uint32_t day, long double w)
{
    const bool same = into->last_n > 0 && into->last == day;
    const uint64_t before = same ? into->last_n : 0;
    if (n == 0)
        return;
    into->n += n;
    into->w += w * (long double)n;
    into->roots += w * (sqrtl((long double)(before + n)) - sqrtl((long double)before));
    into->days += same ? 0 : w;
    into->last = day;
    into->last_n = before + n;
}

static void weigh_point(struct pm_aged_point *point, long double w)
{
    for (unsigned i = 0; i < PM_MEASURES; i++) {
        point->measures[i].w *= w;
        point->measures[i].roots *= w;
        point->measures[i].days *= w;
    }
}

static void add_point(struct pm_aged_point *into, const struct pm_point_statistics *from,
                      unsigned measures, uint32_t day, long double w)
{
    into->point = from->point;
    into->calls += from->calls;
    into->sessions += from->sessions;
    for (unsigned i = 0; i < measures; i++) {
        const struct pm_measure_counts *counts = &from->measures[i];
        add_day(&into->measures[i], counts->n, day, w);
        into->measures[i].above_one = into->measures[i].above_one || pm_counts_above_one(counts);
    }
}

/* Places for the points of both, ascending; those of `aged` are there already. NULL: no memory. */
static struct pm_aged_point *join(const struct pm_aged *aged, const struct pm_statistics *added,
                                  size_t *count)
{
    struct pm_aged_point *points = calloc(aged->count + added->count + 1, sizeof(*points));
    size_t i = 0, j = 0, out = 0;
    while (points && (i < aged->count || j < added->count)) {
        const uint64_t left = i < aged->count ? aged->points[i].point : UINT64_MAX;
        const uint64_t right = j < added->count ? added->points[j].point : UINT64_MAX;
        if (left <= right)
            points[out] = aged->points[i++];
        else
            points[out].point = (uint32_t)right;
        j += right <= left;
        out++;
    }
    *count = out;
    return points;
}

/* Is every point of `added` among those of `aged`? So it is on nearly every day but the first. */
static bool has_all(const struct pm_aged *aged, const struct pm_statistics *added)
{
    size_t i = 0;
    for (size_t j = 0; j < added->count; j++, i++) {
        while (i < aged->count && aged->points[i].point < added->points[j].point)
            i++;
        if (i == aged->count || aged->points[i].point != added->points[j].point)
            return false;
    }
    return true;
}

/* After thousands of half-lives there is nothing left that could be divided by. */
static bool weighs(const struct pm_aged_cell *cell)
{
    return cell->ww >= LDBL_MIN;
}

/* The cells of both; those of `added` weigh w. NULL: no memory. */
static struct pm_aged_cell *join_cells(const struct pm_aged *aged,
                                       const struct pm_statistics *added, long double w,
                                       size_t *count)
{
    struct pm_aged_cell *cells =
        malloc((aged->cell_count + added->cell_count + 1) * sizeof(*cells));
    size_t i = 0, j = 0, out = 0;
    while (cells && (i < aged->cell_count || j < added->cell_count)) {
        const uint64_t left = i < aged->cell_count ? aged->cells[i].key : UINT64_MAX;
        const uint64_t right = j < added->cell_count ? added->cells[j].key : UINT64_MAX;
        struct pm_aged_cell cell = {.key = left < right ? left : right};
        if (left <= right)
            cell = aged->cells[i++];
        if (right <= left) {
            struct pm_aged_cell more = pm_aged_cell_of(&added->cells[j++]);
            weigh(&more, w);
            add_cell(&cell, &more);
        }
        if (weighs(&cell))
            cells[out++] = cell;
    }
    *count = out;
    return cells;
}

/* Has, or gets, every point of `added`. false: no memory. */
static bool make_places(struct pm_aged *aged, const struct pm_statistics *added)
{
    size_t count;
    if (has_all(aged, added))
        return true;
    struct pm_aged_point *points = join(aged, added, &count);
    if (!points)
        return false;
    free(aged->points);
    aged->points = points;
    aged->count = count;
    return true;
}

/* What all say runs at most once. */
static bool meet(struct pm_aged *aged, const struct pm_statistics *added)
{
    const size_t bytes = ((size_t)added->space + 7) / 8;
    if (aged->space == 0 && added->at_most_once) {
        aged->at_most_once = malloc(bytes);
        if (!aged->at_most_once)
            return false;
        memcpy(aged->at_most_once, added->at_most_once, bytes);
    }
    for (size_t i = 0; aged->at_most_once && i < bytes; i++)
        aged->at_most_once[i] =
            (uint8_t)(aged->at_most_once[i] & (added->at_most_once ? added->at_most_once[i] : 0));
    return true;
}

/* The weight of a day that is so many days older than the newest. */
static long double weight(uint32_t age, uint32_t half_life)
{
    return half_life == 0 ? 1 : exp2l(-(long double)age / half_life);
}

bool pm_aged_add(struct pm_aged *aged, const struct pm_statistics *statistics, uint32_t day,
                 uint32_t half_life, struct pm_error *error)
{
    if (statistics->space == 0)
        return true;
    if (aged->space != 0 && (aged->space != statistics->space || aged->kind != statistics->kind))
        return pm_fail(error, PM_ERROR_INPUT,
                       "space: %" PRIu32 " does not agree with the %" PRIu32 " of other days",
                       statistics->space, aged->space);
    const bool newer = aged->space == 0 || day > aged->newest;
    if (aged->space != 0 && newer && half_life != 0) {
        const long double w = weight(day - aged->newest, half_life);
        for (size_t i = 0; i < aged->cell_count; i++)
            weigh(&aged->cells[i], w);
        for (size_t i = 0; i < aged->count; i++)
            weigh_point(&aged->points[i], w);
    }
    if (newer)
        aged->newest = day;
    const long double w = weight(aged->newest - day, half_life);
    size_t cell_count;
    struct pm_aged_cell *cells = join_cells(aged, statistics, w, &cell_count);
    if (!cells || !make_places(aged, statistics) || !meet(aged, statistics)) {
        free(cells);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points",
                       aged->count + statistics->count);
    }
    free(aged->cells);
    aged->cells = cells;
    aged->cell_count = cell_count;
    aged->kind = statistics->kind;
    aged->space = statistics->space;
    pm_wide_add(&aged->entry_lanes, &statistics->entry_lanes);

    size_t at = 0;
    for (size_t i = 0; i < statistics->count; i++) {
        while (aged->points[at].point != statistics->points[i].point)
            at++;
        add_point(&aged->points[at], &statistics->points[i], pm_measure_count(statistics->kind),
                  day, w);
    }
    return true;
}
