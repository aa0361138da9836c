/* What writing and reading the encoding of statistics.h share. */
#pragma once

#include "aggregator/statistics/statistics_private.h"

static const char pm_statistics_magic[4] = {'P', 'M', 's', 't'};

/* Of a point: timings have had a spread only since version 4. */
static inline unsigned pm_statistics_measures(enum pm_kind kind, unsigned version)
{
    return kind == PM_KIND_TIMING && version < 4 ? 1 : pm_measure_count(kind);
}

/* Whether some session said how sure its trial was. */
static inline bool pm_statistics_has_spread(const struct pm_statistics *statistics)
{
    bool has = false;
    for (size_t i = 0; statistics->kind == PM_KIND_TIMING && i < statistics->count; i++)
        has = has || statistics->points[i].measures[PM_MEASURE_SPREAD].n > 0;
    return has;
}

/* Most cells are of points that never run, or always: then Σx says the rest. */
enum pm_cell_form { PM_CELL_ANY, PM_CELL_NEVER, PM_CELL_ALWAYS, PM_CELL_FORMS = 4 };

/* The sums of r and of r² where every r is 1. */
static inline struct pm_wide pm_cell_all_ones(uint64_t n)
{
    return (struct pm_wide){{n << PM_STATISTICS_RATIO_BITS, n >> PM_STATISTICS_RATIO_BITS, 0}};
}

static inline bool pm_wide_is_same(const struct pm_wide *a, const struct pm_wide *b)
{
    return a->limbs[0] == b->limbs[0] && a->limbs[1] == b->limbs[1] && a->limbs[2] == b->limbs[2];
}

static inline enum pm_cell_form pm_cell_form_of(const struct pm_cell *cell)
{
    const struct pm_wide ones = pm_cell_all_ones(cell->n);
    if (pm_wide_is_zero(&cell->y) && pm_wide_is_zero(&cell->r) && pm_wide_is_zero(&cell->rr))
        return PM_CELL_NEVER;
    if (pm_wide_is_same(&cell->x, &cell->y) && pm_wide_is_same(&cell->r, &ones) &&
        pm_wide_is_same(&cell->rr, &ones))
        return PM_CELL_ALWAYS;
    return PM_CELL_ANY;
}
