#include "aggregator/statistics/provisional.h"

#include <math.h>

#define LEAST_STRENGTH 0.5
#define MOST_STRENGTH 8.0
#define KIND_POINTS 4.0 /* of a shader's, that the mean of the kind counts as */
#define CLUSTERS_KEPT 255

struct pm_evidence pm_evidence_of(const struct pm_ratio *ratio)
{
    const double share = fmin(fmax(ratio->mean, 0), 1);
    return (struct pm_evidence){
        .share = (uint8_t)lround(share * UINT8_MAX),
        .clusters = (uint8_t)(ratio->clusters < CLUSTERS_KEPT ? ratio->clusters : CLUSTERS_KEPT)};
}

static double share_of(const struct pm_evidence *point)
{
    return (double)point->share / UINT8_MAX;
}

void pm_prior_add(struct pm_prior_moments *moments, const struct pm_evidence *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double n = points[i].clusters, r = share_of(&points[i]);
        moments->points += n > 0;
        moments->clusters += n;
        moments->squares += n * n;
        moments->shares += n * r;
        moments->share_squares += n * r * r;
    }
}

void pm_prior_merge(struct pm_prior_moments *moments, const struct pm_prior_moments *other,
                    double most)
{
    const double part = other->points > most ? most / other->points : 1;
    moments->points += part * other->points;
    moments->clusters += part * other->clusters;
    moments->squares += part * other->squares;
    moments->shares += part * other->shares;
    moments->share_squares += part * other->share_squares;
}

struct pm_prior pm_prior_fit(const struct pm_prior_moments *moments)
{
    const double n = moments->clusters, k = moments->points;
    /* Half a cluster at 0 and half of one at 1: never all of it at an end. */
    const double p = (moments->shares + 0.5) / (n + 1), pq = p * (1 - p);
    struct pm_prior prior = {p, 1};
    if (k < 2)
        return prior;
    const double between = moments->share_squares - 2 * p * moments->shares + n * p * p;
    const double room = n - moments->squares / n - (k - 1);
    if (!(room > 0)) /* one cluster a point: nothing tells points from players */
        return prior;
    const double gamma = (between - pq * (k - 1)) / (pq * room);
    const double least = 1 / (1 + MOST_STRENGTH), most = 1 / (1 + LEAST_STRENGTH);
    prior.strength = 1 / fmin(fmax(gamma, least), most) - 1;
    return prior;
}

static enum pm_provisional level_of(const struct pm_evidence *point, double mean, double strength)
{
    const double n = point->clusters, all = strength + n;
    const double share = (strength * mean + n * share_of(point)) / all;
    const double deviation = sqrt(share * (1 - share) / (all + 1));
    return share - deviation > 0.5   ? PM_PROVISIONAL_LIKELY
           : share + deviation < 0.5 ? PM_PROVISIONAL_UNLIKELY
                                     : PM_PROVISIONAL_UNKNOWN;
}

/* What a point counts in its shader's mean. */
static double weight_of(const struct pm_evidence *point, const struct pm_prior *prior)
{
    return point->clusters / (point->clusters + prior->strength);
}

bool pm_provisional_find(const struct pm_evidence *points, uint32_t count,
                         const struct pm_prior *prior, uint32_t least, uint8_t *levels)
{
    double weight = KIND_POINTS, sum = KIND_POINTS * prior->mean;
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        weight += weight_of(&points[i], prior);
        sum += weight_of(&points[i], prior) * share_of(&points[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const double own = weight_of(&points[i], prior);
        const double others = (sum - own * share_of(&points[i])) / (weight - own);
        const bool enough = points[i].clusters > 0 &&
                            points[i].clusters >= (least < CLUSTERS_KEPT ? least : CLUSTERS_KEPT);
        levels[i] = (uint8_t)(enough ? level_of(&points[i], others, prior->strength)
                                     : PM_PROVISIONAL_UNKNOWN);
        any = any || levels[i] != PM_PROVISIONAL_UNKNOWN;
    }
    return any;
}
