/*
 * Copies of a loop's turns in front of it (optimize_peel.c).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_uniform.h"
#include "shader_rewrite/blocks/block_facts.h"

struct pm_peel {
    struct pm_ir_module *module;
    struct pm_arena *arena;
    const struct pm_cfg *cfg;
    const struct pm_dominators *dominators;
    struct pm_ir_block *header, *merge, *latch;
    struct pm_ir_block **blocks; /* of the loop, in the function's order; the header is the first */
    uint32_t count;
    bool *inside;           /* by block index */
    struct pm_ir_def **map; /* by id below bound: what stands for it in the copy being made */
    uint32_t bound;
};

/* Whether a loop can be peeled: innermost, with one way to its latch, with nothing in it that lanes
 * do together but barriers that the code says a whole workgroup meets, and with nothing but numbers
 * that is used behind it. workgroup: before any was peeled. NULL: it can, and *peel is
 * ready; else why not. */
const char *pm_peel_check(struct pm_peel *peel, const struct pm_blocks *blocks,
                          const struct pm_uniform *workgroup, uint32_t loop);

/* Peels so many turns, 1 or more. What was known of the function's blocks no longer holds, but
 * other loops, in which this one is not, can still be peeled by what was found before. */
void pm_peel(struct pm_peel *peel, uint32_t turns);
