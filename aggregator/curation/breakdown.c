#include "aggregator/curation/breakdown.h"

#include "aggregator/curation/deficit.h"
#include "aggregator/statistics/estimate.h"
#include <math.h>

/* One estimate of a measure: how much of it one token has. */
struct hold {
    const struct pm_aged *aged;
    const struct pm_aged_point *point;
    unsigned measure;
    double share;    /* of the clusters */
    double believed; /* how many times the average one weighs at most; 1: of the mean of ratios */
    double estimate;
    double weight; /* 0 to 1 */
};

/* By how much `tokens` put it off. */
static double error_of(const struct hold *hold, double tokens)
{
    const double share = hold->share * tokens;
    if (share >= 1)
        return 1;
    struct pm_ratio_span span = {hold->estimate, hold->estimate};
    if (hold->believed > 1)
        span = pm_estimate_ratio_span(hold->aged, hold->point, hold->measure, share);
    const double margin = fmax(span.high, 1 - span.low);
    const double by_others = fmax(span.high - hold->estimate, hold->estimate - span.low);
    const double by_lies = margin * hold->believed * share / (1 - share);
    return fmin(hold->weight * (by_others + by_lies), 1);
}

/* How many put it off by no more than this, of so many. */
static uint32_t tokens_of(const struct hold *hold, double error, uint32_t most)
{
    /* By their lies alone: */
    const double scale = hold->weight * hold->believed * fmax(hold->estimate, 1 - hold->estimate);
    uint32_t least = 0;
    most = (uint32_t)fmin(floor(error / (scale + error) / hold->share), most);
    if (error_of(hold, most) <= error)
        return most;
    while (most - least > 1) {
        const uint32_t middle = least + (most - least) / 2;
        if (error_of(hold, middle) <= error)
            least = middle;
        else
            most = middle;
    }
    return least;
}

/* Both estimates of a measure; false: it has no bound, or nothing to hold. */
static bool holds_of(const struct pm_aged *aged, const struct pm_aged_point *point,
                     const struct pm_point_estimate *found, unsigned measure, struct hold holds[2])
{
    const struct pm_aged_measure *counts = &point->measures[measure];
    const struct pm_ratio *ratio = &found->measures[measure];
    if (counts->n == 0 || ratio->clusters == 0 || !pm_estimate_is_bounded(aged, point, measure))
        return false;
    holds[0] = (struct hold){.aged = aged,
                             .point = point,
                             .measure = measure,
                             .share = (double)(counts->days / counts->w),
                             .believed = 1,
                             .estimate = ratio->mean,
                             .weight = pm_estimate_is_share(aged->kind, measure)
                                           ? pm_share_weight(aged->kind, found)
                                           : 1};
    holds[1] = holds[0];
    holds[1].believed = PM_ESTIMATE_STRANGERS_BELIEVED;
    holds[1].estimate = ratio->ratio;
    return true;
}

struct pm_breakdown pm_breakdown_find(const struct pm_aged *aged,
                                      const struct pm_point_estimate *points, double most_error)
{
    struct pm_breakdown out = {.tokens = UINT32_MAX};
    struct hold holds[2];
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < aged->count * pm_measure_count(aged->kind); i++) {
            const struct pm_aged_point *point = &aged->points[i / pm_measure_count(aged->kind)];
            const unsigned measure = (unsigned)(i % pm_measure_count(aged->kind));
            if (!holds_of(aged, point, &points[point->point], measure, holds))
                continue;
            for (unsigned j = 0; j < 2; j++) {
                if (pass == 0)
                    out.tokens = tokens_of(&holds[j], most_error, out.tokens);
                else
                    out.error = fmax(out.error, error_of(&holds[j], fmax(out.tokens, 1)));
            }
        }
    }
    return out;
}
