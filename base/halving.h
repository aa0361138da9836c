/*
 * Successive halving: which of many variants the next measurements go to (Karnin, Koren and Somekh,
 * "Almost Optimal Exploration in Multi-Armed Bandits", 2013). In each round all that are left are
 * measured as often; then the slower half is left, and the rest are measured twice as often. So
 * most measurements go to what is promising, and each round costs about as much as any other.
 *
 * How often each is measured in the first round goes by the noise of what was seen of the first
 * few: so often that what is 5 % faster is two standard errors ahead, where that is possible. On a
 * machine that does nothing else this is the least; there more would only take longer.
 *
 * Halving and not Thompson sampling, since it takes each variant a few times only, many
 * measurements in a row: switching costs a compile, and what a variant is measured in must not
 * change with how it does. And it ends after a known number of measurements.
 *
 * What is shown to be slower is left at once (anytime.h), and whatever is not shown to be slower
 * than that in the first round goes by rank alone: to leave something is never wrong, only a gain
 * that is missed. What wins is not thereby shown to be faster: whoever uses it measures it anew,
 * since the fastest of many was lucky too.
 *
 * Thread safety: as the caller's.
 */
#pragma once

#include "base/anytime.h"
#include "base/random.h"
#include <stdbool.h>
#include <stdint.h>

/* Variants; measurements of each in the first round, at least and at most. */
enum { PM_HALVING_MOST = 64, PM_HALVING_FIRST = 8, PM_HALVING_NOISY = 64 };

struct pm_halving {
    uint32_t count; /* of variants */
    uint32_t round;
    uint32_t first; /* measurements of each in the first round; 0: the noise is not known yet */
    struct pm_anytime seen[PM_HALVING_MOST]; /* log ratios to what they would replace */
    bool left[PM_HALVING_MOST];              /* given up */
    uint32_t rank[PM_HALVING_MOST]; /* of those that are alike the lowest is taken; the caller may
                                       change them before anything is measured: as they are numbered
                                       at first */
};

void pm_halving_init(struct pm_halving *halving, uint32_t count);

/* More variants, behind those there are: they and what is left are measured as if it began. Returns
 * how many there was room for. */
uint32_t pm_halving_add(struct pm_halving *halving, uint32_t count);

/* The variant to measure next, and how many times; false: it is over. Ends rounds. Which one of the
 * round is drawn: in a fixed order the same variants would always be measured while a level loads
 * or begins. */
bool pm_halving_next(struct pm_halving *halving, struct pm_random *random, uint32_t *variant,
                     uint32_t *times);

/* What a variant was measured at; those that come to nothing, as they cannot be made, are left. */
void pm_halving_take(struct pm_halving *halving, uint32_t variant, const struct pm_anytime *seen);
void pm_halving_leave(struct pm_halving *halving, uint32_t variant);

/* Whether a measurement may stop before all its times: after a few that all were much slower. */
bool pm_halving_is_hopeless(const struct pm_anytime *seen);

/* Of all that seemed faster than what they would replace those that lasted longest, of these the
 * fastest first; returns how many, at most `most`. */
uint32_t pm_halving_best(const struct pm_halving *halving, uint32_t *variants, uint32_t most);

/* Once it is over: of those left which are about as fast as the fastest the first by rank, if it
 * was faster than what it would replace at all. */
bool pm_halving_winner(const struct pm_halving *halving, uint32_t *variant);
