#include "aggregator/ageing.h"

#include <inttypes.h>
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
    pm_aged_init(aged);
}

bool pm_aged_is_at_most_once(const struct pm_aged *aged, uint32_t point)
{
    return point < aged->space && aged->at_most_once &&
           (aged->at_most_once[point / 8] >> (point % 8) & 1) != 0;
}

bool pm_aged_is_dominated(const struct pm_aged_sums *sums)
{
    if (sums->n == 0)
        return false;
    const long double equal = sums->w / sums->ww * sums->w;
    const long double effective = sums->x / sums->wwxx * sums->x;
    return equal >= 20 && effective * 10 < equal;
}

uint32_t pm_ageing_first_day(uint32_t today, uint32_t retention)
{
    return retention == 0 || today < retention ? 0 : today - retention + 1;
}

void pm_aged_of(const struct pm_measure_sums *sums, struct pm_aged_sums *out)
{
    memset(out, 0, sizeof(*out));
    out->n = sums->n;
    for (unsigned bin = PM_HISTOGRAM_ONE + 1; bin < PM_HISTOGRAM_BINS; bin++)
        out->above_one = out->above_one || sums->histogram[bin] != 0;
    out->w = out->ww = (long double)sums->n;
    out->x = pm_wide_value(&sums->x);
    out->y = pm_wide_value(&sums->y);
    out->r = out->wwr = ldexpl(pm_wide_value(&sums->r), -PM_STATISTICS_RATIO_BITS);
    out->wwrr = ldexpl(pm_wide_value(&sums->rr), -2 * PM_STATISTICS_RATIO_BITS);
    out->wwxx = pm_wide_value(&sums->xx);
    out->wwxy = pm_wide_value(&sums->xy);
    out->wwyy = pm_wide_value(&sums->yy);
}

static void weigh(struct pm_aged_sums *sums, long double w)
{
    const long double ww = w * w;
    sums->w *= w;
    sums->x *= w;
    sums->y *= w;
    sums->r *= w;
    sums->ww *= ww;
    sums->wwr *= ww;
    sums->wwrr *= ww;
    sums->wwxx *= ww;
    sums->wwxy *= ww;
    sums->wwyy *= ww;
}

static void add_sums(struct pm_aged_sums *into, const struct pm_aged_sums *from)
{
    into->n += from->n;
    into->above_one = into->above_one || from->above_one;
    into->w += from->w;
    into->x += from->x;
    into->y += from->y;
    into->r += from->r;
    into->ww += from->ww;
    into->wwr += from->wwr;
    into->wwrr += from->wwrr;
    into->wwxx += from->wwxx;
    into->wwxy += from->wwxy;
    into->wwyy += from->wwyy;
}

static void add_point(struct pm_aged_point *into, const struct pm_point_statistics *from,
                      unsigned measures, long double w)
{
    into->point = from->point;
    into->calls += from->calls;
    into->sessions += from->sessions;
    for (unsigned i = 0; i < measures; i++) {
        struct pm_aged_sums added;
        if (from->measures[i].n == 0)
            continue;
        pm_aged_of(&from->measures[i], &added);
        weigh(&added, w);
        add_sums(&into->measures[i], &added);
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
    if (!has_all(aged, statistics)) {
        size_t count;
        struct pm_aged_point *points = join(aged, statistics, &count);
        if (!points)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points",
                           aged->count + statistics->count);
        free(aged->points);
        aged->points = points;
        aged->count = count;
    }
    if (!meet(aged, statistics))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %" PRIu32 " points",
                       statistics->space);

    const unsigned measures = pm_measure_count(statistics->kind);
    if (aged->space != 0 && day > aged->newest && half_life != 0) {
        const long double w = weight(day - aged->newest, half_life);
        for (size_t i = 0; i < aged->count; i++) {
            for (unsigned j = 0; j < measures; j++)
                weigh(&aged->points[i].measures[j], w);
        }
    }
    if (aged->space == 0 || day > aged->newest)
        aged->newest = day;
    aged->kind = statistics->kind;
    aged->space = statistics->space;
    pm_wide_add(&aged->entry_lanes, &statistics->entry_lanes);

    const long double w = weight(aged->newest - day, half_life);
    size_t at = 0;
    for (size_t i = 0; i < statistics->count; i++) {
        while (aged->points[at].point != statistics->points[i].point)
            at++;
        add_point(&aged->points[at], &statistics->points[i], measures, w);
    }
    return true;
}
