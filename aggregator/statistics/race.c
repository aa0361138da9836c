#include "aggregator/statistics/race.h"

#include <math.h>
#include <stdlib.h>

#define ALPHA 0.05
#define PRIOR 0.03        /* standard deviation of what variants gain, before anything is known */
#define LEAST_NOISE 0.005 /* of a cluster */
#define INDIFFERENT 0.005
#define UNSURE 0.1 /* that another is faster by more than that */
#define FLOOR 0.05 /* of all measurements: spread evenly, so that none is forgotten */
enum { STEPS = 256, LEAST_CLUSTERS = 8 };

struct belief {
    double mean, deviation;
    double best; /* how likely it is the fastest */
};

void pm_race_add(struct pm_race_arm *arm, double log_ratio, bool held_out)
{
    const double x = fmax(-PM_RACE_CLIP, fmin(log_ratio, PM_RACE_CLIP));
    pm_anytime_add(held_out ? &arm->held_out : &arm->choosing, x);
}

/* Of a cluster, pooled over the arms. */
static double noise_of(const struct pm_race_arm *arms, size_t count)
{
    double squares = 0, freedom = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pm_anytime *seen = &arms[i].choosing;
        if (seen->count < 2)
            continue;
        squares += fmax(seen->squares - seen->sum * pm_anytime_mean(seen), 0);
        freedom += seen->count - 1;
    }
    const double variance = freedom > 0 ? squares / freedom : PRIOR * PRIOR;
    return fmax(variance, LEAST_NOISE * LEAST_NOISE);
}

static double above(const struct belief *belief, double x)
{
    return 0.5 * erfc((x - belief->mean) / (belief->deviation * sqrt(2)));
}

/* How likely each is the fastest: the integral of its density times that all others are slower. */
static void find_best(struct belief *beliefs, size_t count)
{
    double low = INFINITY, high = INFINITY, all = 0;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, beliefs[i].mean - 5 * beliefs[i].deviation);
        high = fmin(high, beliefs[i].mean + 5 * beliefs[i].deviation);
    }
    for (unsigned step = 0; step < STEPS; step++) {
        const double x = low + (high - low) * (step + 0.5) / STEPS;
        double product = 1;
        for (size_t i = 0; i < count; i++)
            product *= fmax(above(&beliefs[i], x), 1e-300);
        for (size_t i = 0; i < count && product > 0; i++) {
            const double z = (x - beliefs[i].mean) / beliefs[i].deviation;
            beliefs[i].best += exp(-z * z / 2) / beliefs[i].deviation * product /
                               fmax(above(&beliefs[i], x), 1e-300);
        }
    }
    for (size_t i = 0; i < count; i++)
        all += beliefs[i].best;
    for (size_t i = 0; i < count; i++)
        beliefs[i].best = all > 0 ? beliefs[i].best / all : 1.0 / (double)count;
}

/* Half of the draws take the fastest, half the fastest of the others. */
static void find_shares(struct pm_race_arm *arms, const struct belief *beliefs, size_t count)
{
    double odds = 0;
    for (size_t i = 0; i < count; i++)
        odds += beliefs[i].best / fmax(1 - beliefs[i].best, 1e-9);
    double all = 0;
    for (size_t i = 0; i < count; i++) {
        const double p = beliefs[i].best, own = p / fmax(1 - p, 1e-9);
        arms[i].share = p * (1 + fmax(odds - own, 0)) / 2;
        all += arms[i].share;
    }
    for (size_t i = 0; i < count; i++)
        arms[i].share = (1 - FLOOR) * arms[i].share / all + FLOOR / (double)count;
}

/* The first that hardly any other is faster than by more than what does not matter. */
static size_t nominate(const struct pm_race_arm *arms, const struct belief *beliefs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double unsure = 0;
        if (arms[i].choosing.count < LEAST_CLUSTERS || !(beliefs[i].mean < 0))
            continue;
        for (size_t j = 0; j < count; j++) {
            const double apart = beliefs[i].mean - INDIFFERENT - beliefs[j].mean;
            if (j != i)
                unsure += 0.5 * erfc(-apart /
                                     (hypot(beliefs[i].deviation, beliefs[j].deviation) * sqrt(2)));
        }
        if (unsure <= UNSURE)
            return i;
    }
    return PM_RACE_NONE;
}

bool pm_race_judge(struct pm_race_arm *arms, size_t count, struct pm_race_result *result,
                   struct pm_error *error)
{
    *result = (struct pm_race_result){.winner = PM_RACE_NONE};
    struct belief *beliefs = calloc(count + 1, sizeof(*beliefs));
    if (!beliefs)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu variants", count);
    const double noise = noise_of(arms, count);
    for (size_t i = 0; i < count; i++) {
        const double weight = arms[i].choosing.count + noise / (PRIOR * PRIOR);
        beliefs[i] = (struct belief){.mean = arms[i].choosing.sum / weight,
                                     .deviation = sqrt(noise / weight)};
    }
    find_best(beliefs, count);
    if (count > 0)
        find_shares(arms, beliefs, count);
    const size_t nominee = nominate(arms, beliefs, count);
    free(beliefs);
    if (nominee == PM_RACE_NONE)
        return true;
    const struct pm_anytime *held = &arms[nominee].held_out;
    if (!(pm_anytime_interval(held, ALPHA / (double)count).high < -PM_RACE_MARGIN))
        return true;
    result->winner = nominee;
    result->gain = pm_anytime_interval(held, ALPHA);
    result->mean = pm_anytime_mean(held);
    return true;
}
