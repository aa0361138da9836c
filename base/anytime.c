#include "base/anytime.h"

#include <math.h>

/* The mixture's: of what size of sum of squares it tells the least gain best. That of 16 pairs
 * which differ by 1 %. */
static const double prior = 16 * 0.01 * 0.01;

void pm_anytime_add(struct pm_anytime *seen, double log_ratio)
{
    const double x = fmax(-PM_ANYTIME_CLIP, fmin(log_ratio, PM_ANYTIME_CLIP));
    seen->count += 1;
    seen->sum += x;
    seen->squares += x * x;
}

void pm_anytime_merge(struct pm_anytime *seen, const struct pm_anytime *others)
{
    seen->count += others->count;
    seen->sum += others->sum;
    seen->squares += others->squares;
}

double pm_anytime_mean(const struct pm_anytime *seen)
{
    return seen->count > 0 ? seen->sum / seen->count : 0;
}

/* The logarithm of the mixture for a centre that lies so far from the mean. */
static double evidence(const struct pm_anytime *seen, double distance)
{
    const double mean = pm_anytime_mean(seen);
    const double spread = fmax(seen->squares - seen->sum * mean, 0);
    const double sum = seen->count * distance;
    const double variance = spread + seen->count * distance * distance + prior;
    return sum * sum / (2 * variance) - 0.5 * log(variance / prior);
}

struct pm_anytime_interval pm_anytime_interval(const struct pm_anytime *seen, double alpha)
{
    const double enough = log(1 / alpha), mean = pm_anytime_mean(seen);
    double inside = 0, outside = 2 * PM_ANYTIME_CLIP;
    /* The evidence rises with the distance and falls again far out: if it is enough there, it is so
     * from one distance on. */
    if (!(evidence(seen, outside) >= enough))
        return (struct pm_anytime_interval){-PM_ANYTIME_CLIP, PM_ANYTIME_CLIP};
    for (int i = 0; i < 50; i++) {
        const double middle = (inside + outside) / 2;
        if (evidence(seen, middle) >= enough)
            outside = middle;
        else
            inside = middle;
    }
    return (struct pm_anytime_interval){fmax(mean - outside, -PM_ANYTIME_CLIP),
                                        fmin(mean + outside, PM_ANYTIME_CLIP)};
}

bool pm_anytime_excludes(const struct pm_anytime *seen, double centre, double alpha)
{
    const double enough = log(1 / alpha), distance = fabs(centre - pm_anytime_mean(seen));
    return evidence(seen, distance) >= enough && evidence(seen, 2 * PM_ANYTIME_CLIP) >= enough;
}
