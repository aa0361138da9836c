/*
 * How often loops turn, by the profile: for the passes that unroll.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/blocks/block_facts.h"

/* So many turns may be unrolled, and no more instructions be made of them. */
enum { PM_STEADY_MOST_TURNS = 16, PM_STEADY_MOST_INSTRUCTIONS = 768 };

struct pm_steady_loop {
    const struct pm_ir_block *latch; /* the block that leads back; NULL: there are several */
    double turns; /* how often lanes that come to the loop come to its latch; NAN: not known */
    bool rare;    /* hardly any subgroup of the shader ever does */
    uint32_t
        steady; /* whole turns, where it is nearly always as many in whole subgroups; 0: not so */
    uint32_t instructions; /* of its blocks, with those of loops in it */
    const char *reason;    /* why it is neither rare nor steady */
};

/* With PM_ANALYSIS_DOMINATORS and PM_ANALYSIS_LOOPS required; by loop, in the arena of `blocks`.
 * NULL: out of memory. */
struct pm_steady_loop *pm_steady_loops(const struct pm_blocks *blocks);
