#include "aggregator/curation/judged_points.h"

#include "aggregator/statistics/estimate.h"
#include <stdlib.h>
#include <string.h>

void pm_judged_points_finish(struct pm_judged_points *all)
{
    free(all->points);
    *all = (struct pm_judged_points){0};
}

struct pm_point_estimate pm_judged_points_unmeasured(void)
{
    struct pm_point_estimate none = {0};
    for (unsigned i = 0; i < PM_MEASURES; i++)
        none.measures[i] = pm_estimate_cells(NULL, 0, &(struct pm_estimate_basis){0});
    return none;
}

static bool make_room(struct pm_judged_points *all, uint32_t space)
{
    const struct pm_point_estimate none = pm_judged_points_unmeasured();
    if (space <= all->count)
        return true;
    struct pm_point_estimate *points = reallocarray(all->points, space, sizeof(*points));
    if (!points)
        return false;
    all->points = points;
    for (; all->count < space; all->count++)
        points[all->count] = none;
    return true;
}

struct pm_point_estimate *pm_judged_points_take(struct pm_judged_points *all,
                                                const struct pm_aged *aged)
{
    if (!make_room(all, aged->space > 0 ? aged->space : 1))
        return NULL;
    for (size_t i = 0; i < aged->count; i++)
        pm_estimate_aged_point(aged, &aged->points[i], &all->points[aged->points[i].point]);
    return all->points;
}

void pm_judged_points_give_back(struct pm_judged_points *all, const struct pm_aged *aged)
{
    const struct pm_point_estimate none = pm_judged_points_unmeasured();
    for (size_t i = 0; i < aged->count; i++)
        all->points[aged->points[i].point] = none;
}

struct pm_point_estimate *pm_judged_points_copy(const struct pm_judged_points *all,
                                                const struct pm_aged *aged)
{
    struct pm_point_estimate *copy = malloc(((size_t)aged->space + 1) * sizeof(*copy));
    struct pm_point_estimate none = pm_judged_points_unmeasured();
    size_t at = 0;
    if (!copy)
        return NULL;
    for (unsigned i = pm_measure_count(aged->kind); i < PM_MEASURES; i++)
        none.measures[i] = (struct pm_ratio){0};
    for (uint32_t i = 0; i < aged->space; i++) {
        const bool known = at < aged->count && aged->points[at].point == i;
        copy[i] = known ? all->points[i] : none;
        at += known;
    }
    return copy;
}
