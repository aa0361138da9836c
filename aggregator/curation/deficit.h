/*
 * When a point needs no more samples, and so leaves the deficit: it is covered, and its estimates
 * are well known (DESIGN, PGO database).
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/statistics/ageing.h"
#include "profile/database.h"

struct pm_coverage_rules {
    double half_width_absolute, half_width_relative; /* that intervals may have */
    uint32_t sessions_for_never; /* entries after which a point that never ran is covered */
    uint32_t pairs_for_timing;   /* timed pairs after which a timing is covered */
};

/* As pm_aggregator_is_covered and pm_aggregator_is_well_known. */
bool pm_is_covered(const struct pm_coverage_rules *rules, enum pm_kind kind,
                   const struct pm_point_estimate *point);
bool pm_is_well_known(const struct pm_coverage_rules *rules, enum pm_kind kind,
                      const struct pm_point_estimate *point);

/* The same of one of its measures. */
bool pm_is_measure_well_known(const struct pm_coverage_rules *rules, enum pm_kind kind,
                              const struct pm_point_estimate *point, unsigned measure);

/* Whether some cluster counted lanes alone, and so took no measure of subgroups. How often blocks
 * run is published without these then, until they are well known, too: how many subgroups enter of
 * all points or of none, as readers weigh blocks against each other. How many clusters did so plays
 * no part: what is published stays so when more come who count all. */
bool pm_some_counted_lanes_alone(const struct pm_aged *aged);

/* How often the point runs at most, up to 1: a share of its runs (uniform lanes, zero writes, equal
 * loads) that is off by some hundredths is off by that many hundredths of this only. */
double pm_share_weight(enum pm_kind kind, const struct pm_point_estimate *point);

/* Half of the measure's interval that is furthest from narrow, as far as it counts, and what it may
 * be. Both 0 where nothing was measured. */
struct pm_width {
    double have, need;
};
struct pm_width pm_widest(const struct pm_coverage_rules *rules, enum pm_kind kind,
                          const struct pm_point_estimate *point);
