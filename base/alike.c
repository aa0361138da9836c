#include "base/alike.h"

#include <math.h>

#define PRIOR 0.03        /* standard deviation of what variants gain, before anything is known */
#define LEAST_NOISE 0.005 /* standard deviation of what is seen once */

double pm_noise(const struct pm_anytime *seen, size_t count)
{
    double squares = 0, freedom = 0;
    for (size_t i = 0; i < count; i++) {
        if (seen[i].count < 2)
            continue;
        squares += fmax(seen[i].squares - seen[i].sum * pm_anytime_mean(&seen[i]), 0);
        freedom += seen[i].count - 1;
    }
    const double variance = freedom > 0 ? squares / freedom : PRIOR * PRIOR;
    return fmax(variance, LEAST_NOISE * LEAST_NOISE);
}

void pm_believe(const struct pm_anytime *seen, size_t count, struct pm_belief *beliefs)
{
    const double noise = pm_noise(seen, count);
    for (size_t i = 0; i < count; i++) {
        const double weight = seen[i].count + noise / (PRIOR * PRIOR);
        beliefs[i] =
            (struct pm_belief){.mean = seen[i].sum / weight, .deviation = sqrt(noise / weight)};
    }
}

double pm_belief_is_faster(const struct pm_belief *one, const struct pm_belief *other, double zone)
{
    const double apart = other->mean - zone - one->mean;
    return 0.5 * erfc(-apart / (hypot(one->deviation, other->deviation) * sqrt(2)));
}

struct pm_doubt pm_alike_doubt(const struct pm_belief *beliefs, size_t count, size_t index,
                               double zone)
{
    struct pm_doubt doubt = {0};
    for (size_t i = 0; i < count; i++) {
        if (i == index)
            continue;
        const double chance = pm_belief_is_faster(&beliefs[i], &beliefs[index], zone);
        doubt.least = fmax(doubt.least, chance);
        doubt.most = fmin(doubt.most + chance, 1);
    }
    return doubt;
}
