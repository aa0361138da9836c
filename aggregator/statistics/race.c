#include "aggregator/statistics/race.h"

#include "base/alike.h"
#include <math.h>
#include <stdlib.h>

#define ALPHA 0.05
#define INDIFFERENT 0.005
#define UNSURE 0.1 /* that another is faster by more than that */
#define FLOOR 0.05 /* of all measurements: spread evenly, so that none is forgotten */
enum { STEPS = 256, LEAST_CLUSTERS = 8 };

/* What is believed of each arm. */
struct judged {
    struct pm_anytime *seen; /* of who chooses; then of who is held out */
    struct pm_belief *beliefs;
    double *best; /* how likely each is the fastest */
};

void pm_race_add(struct pm_race_arm *arm, double log_ratio, bool held_out)
{
    const double x = fmax(-PM_RACE_CLIP, fmin(log_ratio, PM_RACE_CLIP));
    pm_anytime_add(held_out ? &arm->held_out : &arm->choosing, x);
}

static double above(const struct pm_belief *belief, double x)
{
    return 0.5 * erfc((x - belief->mean) / (belief->deviation * sqrt(2)));
}

/* How likely each is the fastest: the integral of its density times that all others are slower. */
static void find_best(const struct pm_belief *beliefs, size_t count, double *best)
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
            best[i] += exp(-z * z / 2) / beliefs[i].deviation * product /
                       fmax(above(&beliefs[i], x), 1e-300);
        }
    }
    for (size_t i = 0; i < count; i++)
        all += best[i];
    for (size_t i = 0; i < count; i++)
        best[i] = all > 0 ? best[i] / all : 1.0 / (double)count;
}

/* Half of the draws take the fastest, half the fastest of the others. */
static void find_shares(struct pm_race_arm *arms, const double *best, size_t count)
{
    double odds = 0;
    for (size_t i = 0; i < count; i++)
        odds += best[i] / fmax(1 - best[i], 1e-9);
    double all = 0;
    for (size_t i = 0; i < count; i++) {
        const double p = best[i], own = p / fmax(1 - p, 1e-9);
        arms[i].share = p * (1 + fmax(odds - own, 0)) / 2;
        all += arms[i].share;
    }
    for (size_t i = 0; i < count; i++)
        arms[i].share = (1 - FLOOR) * arms[i].share / all + FLOOR / (double)count;
}

/* The first that hardly any other is faster than by more than what does not matter. */
static size_t nominate(const struct pm_race_arm *arms, const struct pm_belief *beliefs,
                       size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (arms[i].choosing.count >= LEAST_CLUSTERS && beliefs[i].mean < 0 &&
            pm_alike_doubt(beliefs, count, i, INDIFFERENT).most <= UNSURE)
            return i;
    return PM_RACE_NONE;
}

static void finish(struct judged *judged)
{
    free(judged->seen);
    free(judged->beliefs);
    free(judged->best);
}

static bool init(struct judged *judged, size_t count, struct pm_error *error)
{
    *judged = (struct judged){calloc(count + 1, sizeof(*judged->seen)),
                              calloc(count + 1, sizeof(*judged->beliefs)),
                              calloc(count + 1, sizeof(*judged->best))};
    if (judged->seen && judged->beliefs && judged->best)
        return true;
    finish(judged);
    return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu variants", count);
}

/* Not faster than the original by the margin, by all that is known of it. */
static bool gains_too_little(const struct pm_race_arm *arm, size_t count)
{
    struct pm_anytime all = arm->choosing;
    pm_anytime_merge(&all, &arm->held_out);
    return pm_anytime_interval(&all, ALPHA / (double)count).low > -PM_RACE_MARGIN;
}

/* Whether the nominee, if there is one, wins: by what was held out. beliefs: room for all. */
static bool wins(const struct pm_race_arm *arms, size_t count, size_t nominee, size_t standing,
                 struct judged *judged)
{
    if (nominee == PM_RACE_NONE ||
        !(pm_anytime_interval(&arms[nominee].held_out, ALPHA / (double)count).high <
          -PM_RACE_MARGIN))
        return false;
    if (standing == PM_RACE_NONE)
        return true;
    for (size_t i = 0; i < count; i++)
        judged->seen[i] = arms[i].held_out;
    pm_believe(judged->seen, count, judged->beliefs);
    return pm_belief_is_faster(&judged->beliefs[nominee], &judged->beliefs[standing],
                               PM_RACE_ALIKE) >= 1 - ALPHA;
}

bool pm_race_judge(struct pm_race_arm *arms, size_t count, size_t standing,
                   struct pm_race_result *result, struct pm_error *error)
{
    struct judged judged;
    *result = (struct pm_race_result){.winner = PM_RACE_NONE};
    if (!init(&judged, count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        judged.seen[i] = arms[i].choosing;
    pm_believe(judged.seen, count, judged.beliefs);
    find_best(judged.beliefs, count, judged.best);
    if (count > 0)
        find_shares(arms, judged.best, count);
    const size_t nominee = nominate(arms, judged.beliefs, count);
    if (standing != PM_RACE_NONE && gains_too_little(&arms[standing], count))
        standing = PM_RACE_NONE;
    const bool won = wins(arms, count, nominee, standing, &judged);
    finish(&judged);
    result->winner = won ? nominee : standing;
    if (result->winner == PM_RACE_NONE)
        return true;
    const struct pm_anytime *held = &arms[result->winner].held_out;
    result->gain = pm_anytime_interval(held, ALPHA);
    result->mean = pm_anytime_mean(held);
    return true;
}
