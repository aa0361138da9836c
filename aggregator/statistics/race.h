/*
 * A race between variants of a shader (Cooperative PGO, section 4.3): what clusters of players say
 * of each variant's time over the original's becomes shares of the next measurements, and a winner.
 *
 * Each cluster is one logarithm a variant, clipped to PM_RACE_CLIP, however much it measured. A lot
 * decides of each cluster whether it chooses or is held out. Who chooses decides shares and the
 * nominee; what is held out decides whether the nominee is faster, and its gain, so that the luck
 * of the fastest of many is not in it.
 *
 * Shares: top-two Thompson sampling (Russo, "Simple Bayesian Algorithms for Best-Arm
 * Identification", 2016), on normal posteriors with the clusters' pooled variance, in closed form.
 * Thompson sampling and not halving: it needs no rounds, so it is a function of sums that come in
 * any order and late, and many clients measure at once.
 *
 * The nominee is, of those that are within half a percent of the fastest with 90 %, the first. It
 * wins where a confidence sequence (base/anytime.h) of what was held out shows it faster by
 * PM_RACE_MARGIN, at 5 % shared among all variants: so however often one looks, a race of equal
 * variants has a winner once in twenty at most. Of the clusters that measured it, PM_RACE_MARGIN /
 * PM_RACE_CLIP (8 %) may lie before an equal one can win by it.
 *
 * What has won stays the winner, whoever seems a little faster later: until all that is known of it
 * shows that it gains less than the margin, or what was held out says with 95 % that the nominee,
 * which could win, is faster by more than PM_RACE_ALIKE. So machines are not told another every few
 * days.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/anytime.h"
#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

#define PM_RACE_CLIP 0.125  /* of a cluster's logarithm, either way */
#define PM_RACE_MARGIN 0.01 /* logarithm; what gains less is not worth a compile */
#define PM_RACE_ALIKE 0.02  /* logarithm; what differs by less is about as fast (base/halving.h) */
#define PM_RACE_NONE SIZE_MAX

struct pm_race_arm {
    struct pm_anytime choosing, held_out; /* of clusters' logarithms: below 0 is faster */
    double share; /* answered: of the next measurements; all of them add up to 1 */
};

struct pm_race_result {
    size_t winner;                   /* PM_RACE_NONE: there is none */
    struct pm_anytime_interval gain; /* of the winner, from what was held out: logarithms, 95 % */
    double mean;                     /* likewise */
};

/* Adds what one cluster says of a variant. */
void pm_race_add(struct pm_race_arm *arm, double log_ratio, bool held_out);

/* Fills shares and *result; arms without clusters take part. standing: what has won before, and
 * stays so as above; PM_RACE_NONE: nothing has. PM_ERROR_MEMORY alone fails. */
bool pm_race_judge(struct pm_race_arm *arms, size_t count, size_t standing,
                   struct pm_race_result *result, struct pm_error *error);
