/*
 * How often loops turn, by the profile: for the passes that unroll.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/blocks/block_facts.h"
#include "shader_rewrite/points/points_turns.h"

/* So many turns may be unrolled, and no more instructions be made of them. */
enum {
    PM_STEADY_MOST_TURNS = PM_TURN_MOST,
    PM_STEADY_MOST_INSTRUCTIONS = PM_TURNS_MOST_INSTRUCTIONS,
};

struct pm_steady_loop {
    const struct pm_ir_block *latch; /* the block that leads back; NULL: it never turns */
    double turns;    /* how often lanes that come to the loop come to its latch; NAN: not known */
    bool rare;       /* hardly any subgroup of the shader ever does */
    uint32_t always; /* turns that nearly all make, in whole subgroups, and mostly not many more; 0:
                        fewer than two, or they are not to be copied */
    uint32_t steady; /* the same, where hardly any make more; else 0 */
    uint32_t instructions; /* of its blocks, with those of loops in it */
    const char *reason;    /* why neither holds */
};

/* With PM_ANALYSIS_DOMINATORS and PM_ANALYSIS_LOOPS required; by loop, in the arena of `blocks`.
 * NULL: out of memory. */
struct pm_steady_loop *pm_steady_loops(const struct pm_blocks *blocks);
