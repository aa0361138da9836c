#include "aggregator/curation/breakdown.h"

#include "aggregator/curation/deficit.h"
#include "aggregator/statistics/estimate.h"
#include <math.h>

/* One estimate of a measure: how much of it one token has. */
struct hold {
    double share;  /* of all that is summed */
    double margin; /* the larger of the estimate and 1 minus it */
    double weight; /* 0 to 1 */
};

/* By how much `tokens` put it off. */
static double error_of(const struct hold *hold, double tokens)
{
    const double share = hold->share * tokens;
    return share < 1 ? fmin(hold->weight * hold->margin * share / (1 - share), 1) : 1;
}

/* How many put it off by no more than this. */
static uint32_t tokens_of(const struct hold *hold, double error)
{
    const double scale = hold->weight * hold->margin;
    if (scale <= 0 || hold->share <= 0)
        return UINT32_MAX;
    const double tokens = floor(error / (scale + error) / hold->share);
    return tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX;
}

/* Both estimates of a measure; false: it has no bound, or nothing to hold. */
static bool holds_of(const struct pm_aged *aged, const struct pm_aged_point *point,
                     const struct pm_point_estimate *found, unsigned measure, struct hold holds[2])
{
    const struct pm_aged_measure *counts = &point->measures[measure];
    const struct pm_ratio *ratio = &found->measures[measure];
    if (counts->n == 0 || !pm_estimate_is_bounded(aged, point, measure))
        return false;
    const double share = (double)(counts->days / counts->w);
    const double weight =
        pm_estimate_is_share(aged->kind, measure) ? pm_share_weight(aged->kind, found) : 1;
    holds[0] = (struct hold){share, fmax(ratio->mean, 1 - ratio->mean), weight};
    holds[1] = (struct hold){PM_ESTIMATE_STRANGERS_BELIEVED * share,
                             fmax(ratio->ratio, 1 - ratio->ratio), weight};
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
                    out.tokens = (uint32_t)fmin(out.tokens, tokens_of(&holds[j], most_error));
                else
                    out.error = fmax(out.error, error_of(&holds[j], fmax(out.tokens, 1)));
            }
        }
    }
    return out;
}
