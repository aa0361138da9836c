/*
 * Which of several ways of doing the same is taken where some take about as long: the first, in an
 * order that does not depend on what was measured. So it is the same one each time, and not the
 * luckiest. That gives up a zone of gain at most that does not matter, as far as measured.
 *
 * What is believed of each is a normal distribution of the logarithm of its time. Its mean is that
 * of what was seen, drawn toward no gain as far as little was (variants gain 3 %, one standard
 * deviation); its variance is that of all that was seen, pooled. The doubt about one is the chance
 * that any other is faster than it by more than the zone. It is at least what the one says of which
 * that is likeliest, and at most the sum over all. Whoever can wait takes the first about which
 * there is at most little doubt; whoever has to decide, the first that is not known to be beaten.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/anytime.h"
#include <stddef.h>

struct pm_belief {
    double mean, deviation; /* of a logarithm: below 0 is faster */
};

/* Variance of what is seen once, pooled. */
double pm_noise(const struct pm_anytime *seen, size_t count);

/* From what was seen of each. */
void pm_believe(const struct pm_anytime *seen, size_t count, struct pm_belief *beliefs);

/* The chance that one takes less time than another, by more than the zone (a logarithm). */
double pm_belief_is_faster(const struct pm_belief *one, const struct pm_belief *other, double zone);

/* The doubt about one of them. */
struct pm_doubt {
    double least, most; /* up to 1 */
};
struct pm_doubt pm_alike_doubt(const struct pm_belief *beliefs, size_t count, size_t index,
                               double zone);
