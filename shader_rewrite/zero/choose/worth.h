/*
 * What specializing for a candidate could save at best: of whatever is not in the module the most
 * favourable is assumed, so that the answer is a function of the module alone. The candidate is
 * always zero, 0 * x is 0 where any permission allows it, the device has quad operations, the
 * region goes as far as it may and begins as early as it may, no driver is guarded against, and it
 * computes exp2(0) and the like as 1 exactly.
 * Each cost table is tried.
 *
 * Blocks weigh what suits the candidate, as far as the structure lets them: what the check's block
 * leads to runs as often as that block or never, what must run with it runs as often, and each turn
 * of a loop counts PM_ZERO_MOST_TURNS times, or one. Of the rest of the shader only what dominates
 * the check's block is sure to run.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

/* Turns of a loop for each time that it is entered, at most. Subgroups that stay longer are those
 * of which so little of the shader is outside of the loop that more of them change no share. */
#define PM_ZERO_MOST_TURNS 256.0

/* By cost table (pm_costs_table). */
struct pm_zero_worth {
    double saved[PM_COST_TABLES]; /* cycles; 0 or less: nothing */
    double share[PM_COST_TABLES]; /* of what the shader costs */
};

/* The round's weights and costs are set. */
struct pm_zero_best_case {
    struct pm_zero_round *round;
    double *most;                   /* by block: its weight, at most */
    double *cycles[PM_COST_TABLES]; /* by block */
    double *before[PM_COST_TABLES]; /* by block: of what dominates it, at least; below 0: not yet */
    double *r, *s, *least;          /* by part, for one estimate */
};

/* For a round whose function's dominators and loops are required. false: out of memory. */
bool pm_zero_best_case_init(struct pm_zero_best_case *best, struct pm_zero_round *round);

struct pm_zero_worth pm_zero_worth_of(struct pm_zero_best_case *best,
                                      const struct pm_zero_candidate *candidate);

/* Of a region that was propagated through and cleaned, and that needs no check. */
struct pm_zero_worth pm_zero_worth_unchecked(struct pm_zero_best_case *best,
                                             const struct pm_zero_region *region);
