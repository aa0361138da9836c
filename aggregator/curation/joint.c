#include "aggregator/curation/joint.h"

#include "aggregator/statistics/estimate.h"
#include <math.h>
#include <stdlib.h>

/* Half of what an interval may have: as pm_is_well_known. weight: how much its measure matters. */
static double half_of(const struct pm_coverage_rules *rules, double estimate, double weight)
{
    return fmax(weight > 0 ? rules->half_width_absolute / weight : INFINITY,
                rules->half_width_relative * estimate);
}

static double error_of(const struct pm_coverage_rules *rules, const struct pm_aged *aged,
                       const struct pm_aged_point *point, const struct pm_point_estimate *found,
                       double least)
{
    struct pm_half_widths halves[PM_MEASURES] = {{0}};
    for (unsigned i = 0; i < pm_measure_count(aged->kind); i++) {
        const double weight =
            pm_estimate_is_share(aged->kind, i) ? pm_share_weight(aged->kind, found) : 1;
        halves[i] = (struct pm_half_widths){half_of(rules, found->measures[i].mean, weight),
                                            half_of(rules, found->measures[i].ratio, weight)};
    }
    return pm_estimate_aged_error(aged, point, halves, least);
}

bool pm_joint_find(const struct pm_coverage_rules *rules, const struct pm_aged *aged,
                   struct pm_point_estimate *points, uint8_t *deficit, uint32_t *count,
                   struct pm_error *error)
{
    const double all = aged->count > 1 ? PM_JOINT_SPENT : PM_JOINT_ERROR;
    const double share = all / (double)(aged->count + (aged->count == 0));
    double sum = 0;
    double *errors = calloc(aged->count + 1, sizeof(*errors));
    *count = 0;
    if (!errors)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", aged->count);
    for (size_t i = 0; i < aged->count; i++) {
        const struct pm_aged_point *point = &aged->points[i];
        errors[i] = error_of(rules, aged, point, &points[point->point], share / PM_JOINT_SPARE);
        sum += errors[i];
    }
    const bool fits = sum <= all;
    for (size_t i = 0; i < aged->count; i++) {
        const struct pm_aged_point *point = &aged->points[i];
        const bool lacks = !fits && errors[i] > share;
        if (lacks) {
            deficit[point->point / 8] =
                (uint8_t)(deficit[point->point / 8] | 1u << (point->point % 8));
            ++*count;
        }
        pm_estimate_aged_point_at(aged, point, fits ? errors[i] * all / sum : share,
                                  &points[point->point]);
    }
    free(errors);
    return true;
}
