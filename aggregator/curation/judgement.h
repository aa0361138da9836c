/*
 * What is known of one shader's points: the estimate of each, whether it is covered, and whether it
 * is known well enough to be published (estimate.h).
 *
 * Thread safety: one thread at a time.
 */
#pragma once

#include "aggregator/curation/breakdown.h"
#include "aggregator/curation/judged_points.h"
#include "aggregator/statistics/estimate.h"
#include "aggregator/statistics/series.h"

struct pm_judgement {
    const struct pm_statistics *statistics;
    const struct pm_aged *aged;
    struct pm_point_estimate *points; /* `space` of them, of the pool */
    uint8_t *deficit;                 /* a bit a point that lacks samples; its own */
    uint32_t covered, lacking;        /* points */
    bool asks; /* none lacks any, but those in the deficit have something left out (deficit.h) */
    struct pm_breakdown breakdown; /* where somebody sees it; whoever judges fills it */
};

/* By what one judges; what it points to outlives what is judged. */
struct pm_judging {
    const struct pm_coverage_rules *rules;
    bool publish_all;              /* every covered shader, whatever its intervals */
    struct pm_judged_points *pool; /* of the points */
};

/* Estimates every point of the space. The judgement is to be finished also after a failure, and
 * before the pool judges anew; it points into what was gathered. */
bool pm_judge(const struct pm_judging *judging, const struct pm_series *gathered,
              struct pm_judgement *out, struct pm_error *error);
/* *judged may be zero. */
void pm_judgement_finish(struct pm_judgement *judged, struct pm_judged_points *pool);

/* Of the point that has most: clusters a day, on average over days that had some; and sessions. */
double pm_judgement_clusters_a_day(const struct pm_judgement *judged);
uint64_t pm_judgement_sessions(const struct pm_judgement *judged);
