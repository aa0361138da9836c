#include "aggregator/curation/deficit.h"

#include "aggregator/statistics/estimate.h"
#include <math.h>

bool pm_is_covered(const struct pm_coverage_rules *rules, enum pm_kind kind,
                   const struct pm_point_estimate *point)
{
    if (kind == PM_KIND_TIMING)
        return point->calls >= rules->pairs_for_timing &&
               point->measures[PM_MEASURE_TIME].clusters > 0;
    const bool ran = pm_kind_counts_entries(kind) ? point->measures[PM_MEASURE_FREQUENCY].ratio > 0
                                                  : point->measures[0].clusters > 0;
    return ran || point->sessions >= rules->sessions_for_never;
}

/* A trial's spread is told, and is no reason to want more of them. */
static bool decides(enum pm_kind kind, unsigned measure)
{
    return kind != PM_KIND_TIMING || measure == PM_MEASURE_TIME;
}

/* weight: how much the measure matters, from 0 to 1. */
static bool is_narrow(const struct pm_coverage_rules *rules, const struct pm_ratio *ratio,
                      double weight)
{
    const double absolute = rules->half_width_absolute, relative = rules->half_width_relative;
    return pm_estimate_is_narrow(ratio->mean * weight, ratio->mean_low * weight,
                                 ratio->mean_high * weight, absolute, relative) &&
           pm_estimate_is_narrow(ratio->ratio * weight, ratio->ratio_low * weight,
                                 ratio->ratio_high * weight, absolute, relative);
}

/* Without it, a block that runs in one session of a thousand would hold its shader back for ever.
 */
double pm_share_weight(enum pm_kind kind, const struct pm_point_estimate *point)
{
    const unsigned runs = kind == PM_KIND_ZERO       ? PM_MEASURE_WRITES
                          : kind == PM_KIND_CONSTANT ? PM_MEASURE_LOADS
                                                     : PM_MEASURE_FREQUENCY;
    return fmin(point->measures[runs].ratio_high, 1);
}

bool pm_is_measure_well_known(const struct pm_coverage_rules *rules, enum pm_kind kind,
                              const struct pm_point_estimate *point, unsigned measure)
{
    const double weight = pm_estimate_is_share(kind, measure) ? pm_share_weight(kind, point) : 1;
    const struct pm_ratio *ratio = &point->measures[measure];
    return !decides(kind, measure) || ratio->clusters == 0 || is_narrow(rules, ratio, weight);
}

bool pm_is_well_known(const struct pm_coverage_rules *rules, enum pm_kind kind,
                      const struct pm_point_estimate *point)
{
    for (unsigned i = 0; i < pm_measure_count(kind); i++) {
        if (!pm_is_measure_well_known(rules, kind, point, i))
            return false;
    }
    return true;
}

/* Who counts subgroups counts those that enter the shader, too. */
bool pm_some_counted_lanes_alone(const struct pm_aged *aged)
{
    for (size_t i = 0; pm_kind_counts_entries(aged->kind) && i < aged->count; i++) {
        const struct pm_aged_measure *measures = aged->points[i].measures;
        if (measures[PM_MEASURE_SUBGROUPS].n < measures[PM_MEASURE_FREQUENCY].n)
            return true;
    }
    return false;
}

/* Of one interval. */
static void widen(const struct pm_coverage_rules *rules, double estimate, double low, double high,
                  struct pm_width *widest)
{
    const struct pm_width one = {
        (high - low) / 2, fmax(rules->half_width_absolute, rules->half_width_relative * estimate)};
    if (one.have * widest->need > widest->have * one.need || widest->need == 0)
        *widest = one;
}

struct pm_width pm_widest(const struct pm_coverage_rules *rules, enum pm_kind kind,
                          const struct pm_point_estimate *point)
{
    struct pm_width widest = {0};
    for (unsigned i = 0; i < pm_measure_count(kind); i++) {
        const double weight = pm_estimate_is_share(kind, i) ? pm_share_weight(kind, point) : 1;
        const struct pm_ratio *measure = &point->measures[i];
        if (measure->clusters == 0 || !decides(kind, i))
            continue;
        widen(rules, measure->mean * weight, measure->mean_low * weight,
              measure->mean_high * weight, &widest);
        widen(rules, measure->ratio * weight, measure->ratio_low * weight,
              measure->ratio_high * weight, &widest);
    }
    return widest;
}
