#include "base/halving.h"

#include "base/alike.h"
#include <math.h>
#include <stdlib.h>

/* Of one variant: what it is to be shown slower by. */
#define ALPHA 0.05
/* The last round measures two that are left against each other; those that are alike go on for so
 * many rounds at most. */
enum { LEAST_LEFT = 1, ROUNDS = 6, HOPELESS_AFTER = 3 };
/* Of so many the noise is known. */
enum { NOISE_OF = 4 };
/* Standard error of each in the first round. */
#define ACCURACY 0.025
/* As many measurements of one as matter: a percent is three of their standard errors where one has
 * 10 %. */
#define LAST 1024
#define HOPELESS 0.14 /* 15 % slower */
#define OF_FEW 0.35   /* of a few more is asked: this over the square root of how many */
/* Logarithm. Trials do not take what gains less for faster (layer/trial/verdict.c). */
#define ZONE 0.01
/* Likewise. What differs less between two variants may do so by the process alone. */
#define ALIKE 0.02
#define BEATEN 0.9 /* chance that another is faster by more than what is alike */
/* Chance that one gains as much itself: to be taken before the fastest, and to stay for that. */
#define GAINS 0.5
#define MAY_GAIN 0.3

void pm_halving_init(struct pm_halving *halving, uint32_t count)
{
    *halving = (struct pm_halving){0};
    pm_halving_add(halving, count);
}

uint32_t pm_halving_add(struct pm_halving *halving, uint32_t count)
{
    const uint32_t room = PM_HALVING_MOST - halving->count, added = count < room ? count : room;
    for (uint32_t i = 0; i < added; i++)
        halving->rank[halving->count + i] = halving->count + i;
    halving->count += added;
    halving->round = 0;
    return added;
}

void pm_halving_leave(struct pm_halving *halving, uint32_t variant)
{
    halving->left[variant] = true;
}

void pm_halving_take(struct pm_halving *halving, uint32_t variant, const struct pm_anytime *seen)
{
    halving->seen[variant] = *seen;
    const bool slower = pm_anytime_mean(seen) > 0 && pm_anytime_excludes(seen, 0, ALPHA);
    if (slower || pm_halving_is_hopeless(seen))
        pm_halving_leave(halving, variant);
}

bool pm_halving_is_hopeless(const struct pm_anytime *seen)
{
    return seen->count >= HOPELESS_AFTER &&
           pm_anytime_mean(seen) > fmax(HOPELESS, OF_FEW / sqrt(seen->count));
}

static uint32_t count_left(const struct pm_halving *halving)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < halving->count; i++)
        count += !halving->left[i];
    return count;
}

/* The fastest of those that go on. */
static uint32_t fastest(const struct pm_halving *halving, const bool *taken)
{
    uint32_t found = halving->count;
    for (uint32_t i = 0; i < halving->count; i++)
        if (!halving->left[i] && !(taken && taken[i]) &&
            (found == halving->count ||
             pm_anytime_mean(&halving->seen[i]) < pm_anytime_mean(&halving->seen[found])))
            found = i;
    return found;
}

static const struct pm_belief own; /* of what the variants would replace */

/* Leaves the slower half, but for those before the fastest that it has not beaten: which of them
 * would go is chance. */
static void halve(struct pm_halving *halving)
{
    bool keeps[PM_HALVING_MOST] = {false};
    struct pm_belief beliefs[PM_HALVING_MOST];
    const uint32_t count = count_left(halving), half = count / 2, best = fastest(halving, NULL);
    const double beaten = 1 - (1 - BEATEN) / count; /* the fastest of many is the luckiest, too */
    for (uint32_t i = 0; i < half; i++)
        keeps[fastest(halving, keeps)] = true;
    pm_believe(halving->seen, halving->count, beliefs);
    for (uint32_t i = 0; i < halving->count; i++)
        keeps[i] |= halving->rank[i] < halving->rank[best] &&
                    pm_belief_is_faster(&beliefs[i], &own, ZONE) >= MAY_GAIN &&
                    pm_belief_is_faster(&beliefs[best], &beliefs[i], ALIKE) <= beaten;
    for (uint32_t i = 0; i < halving->count; i++)
        halving->left[i] |= !keeps[i];
    halving->round++;
}

/* Those left that were measured less often, to `due`; returns how many. */
static uint32_t find_due(const struct pm_halving *halving, double wanted, uint32_t *due)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < halving->count; i++)
        if (!halving->left[i] && halving->seen[i].count < wanted)
            due[count++] = i;
    return count;
}

/* How often each is measured in the first round: as the noise asks for, once that of a few is
 * known, or of all (over). */
static uint32_t first_round(struct pm_halving *halving, bool over)
{
    uint32_t known = 0;
    for (uint32_t i = 0; i < halving->count; i++)
        known += halving->seen[i].count >= PM_HALVING_FIRST;
    if (halving->first == 0 && (known >= NOISE_OF || over)) {
        const double wanted = ceil(pm_noise(halving->seen, halving->count) / (ACCURACY * ACCURACY));
        halving->first = (uint32_t)fmin(fmax(wanted, PM_HALVING_FIRST), PM_HALVING_NOISY);
    }
    return halving->first > 0 ? halving->first : PM_HALVING_FIRST;
}

bool pm_halving_next(struct pm_halving *halving, struct pm_random *random, uint32_t *variant,
                     uint32_t *times)
{
    uint32_t due[PM_HALVING_MOST];
    while (count_left(halving) > 0) {
        /* Each round they have been measured twice as often as before in all. */
        const uint32_t first = first_round(halving, false);
        const double wanted = fmin(ldexp(first, (int)halving->round), LAST);
        const uint32_t count = find_due(halving, wanted, due);
        if (count > 0) {
            *variant = due[pm_random_below(random, count)];
            *times = (uint32_t)(wanted - halving->seen[*variant].count);
            return true;
        }
        if (count_left(halving) <= LEAST_LEFT || halving->round + 1 >= ROUNDS)
            return false;
        if (first_round(halving, true) == first)
            halve(halving);
    }
    return false;
}

static bool is_better(const struct pm_anytime *a, const struct pm_anytime *b)
{
    return a->count != b->count ? a->count > b->count : pm_anytime_mean(a) < pm_anytime_mean(b);
}

uint32_t pm_halving_best(const struct pm_halving *halving, uint32_t *variants, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < halving->count; i++) {
        const struct pm_anytime *seen = &halving->seen[i];
        if (!(seen->count > 0) || !(pm_anytime_mean(seen) < 0))
            continue;
        uint32_t at = count < most ? count++ : count;
        for (; at > 0 && is_better(seen, &halving->seen[variants[at - 1]]); at--)
            if (at < most)
                variants[at] = variants[at - 1];
        if (at < most)
            variants[at] = i;
    }
    return count;
}

/* What is left, by rank. */
static uint32_t find_left(const struct pm_halving *halving, uint32_t *variants)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < halving->count; i++) {
        if (halving->left[i])
            continue;
        uint32_t at = count++;
        for (; at > 0 && halving->rank[i] < halving->rank[variants[at - 1]]; at--)
            variants[at] = variants[at - 1];
        variants[at] = i;
    }
    return count;
}

bool pm_halving_winner(const struct pm_halving *halving, uint32_t *variant)
{
    uint32_t left[PM_HALVING_MOST];
    struct pm_belief all[PM_HALVING_MOST], beliefs[PM_HALVING_MOST];
    const uint32_t found = fastest(halving, NULL), count = find_left(halving, left);
    if (count == 0 || !(pm_anytime_mean(&halving->seen[found]) < 0))
        return false;
    pm_believe(halving->seen, halving->count, all);
    for (uint32_t i = 0; i < count; i++)
        beliefs[i] = all[left[i]];
    *variant = found;
    for (uint32_t i = 0; i < count; i++)
        if (pm_belief_is_faster(&beliefs[i], &own, ZONE) >= GAINS &&
            pm_alike_doubt(beliefs, count, i, ALIKE).least <= BEATEN) {
            *variant = left[i];
            break;
        }
    return true;
}
