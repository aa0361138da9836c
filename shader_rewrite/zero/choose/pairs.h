/*
 * Beyond AZP: two candidates whose zeroes go together tested by one check.
 *
 * How often both are zero was not counted; it is at least P1 + P2 - 1, and that is what a pair is
 * estimated with. So a pair is only taken where the bound already suffices.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/choose/opportunity.h"

/* One of a round's candidates. */
struct pm_zero_single {
    uint32_t index; /* in the points */
    const struct pm_zero_candidate *candidate;
    double probability;
};

struct pm_zero_pair {
    uint32_t first, second;         /* indices in the points */
    struct pm_zero_candidate joint; /* all the values of both */
    double probability;             /* at least */
    struct pm_zero_opportunity opportunity;
};

/* The pair of these that saves most, more than `least` cycles, where both are zero at least as
 * often as threshold says. false: none, or round->failed. */
bool pm_zero_pair_find(struct pm_zero_round *round, const struct pm_zero_single *singles,
                       uint32_t count, double threshold, double least,
                       const struct pm_zero_bars *bars, const struct pm_zero_beyond *beyond,
                       struct pm_zero_pair *best);
