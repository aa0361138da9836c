/*
 * Vectors that scalar code has lost, found again: groups of isomorphic, independent scalars of one
 * block, after Larsen and Amarasinghe, "Exploiting Superword Level Parallelism with Multimedia
 * Instruction Sets" (PLDI 2000): seeds, then the chains from uses to definitions and back. As AZP
 * 3.1 says, best effort suffices, since nothing is put into wide registers.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_values.h"

enum { PM_PACK_LANES = 4 }; /* at most */

struct pm_pack {
    struct pm_ir_instr *lanes[PM_PACK_LANES]; /* in the module's order */
    uint32_t count;                           /* 2 or more */
};
struct pm_packs {
    struct pm_pack *packs; /* in a fixed order */
    uint32_t count;
};

/* The packs of a function, each scalar in one at most; none that is just components of one vector
 * value. values: the function's; the module as it was read, with PM_ANALYSIS_CFG required. In the
 * arena. false: out of memory. */
bool pm_packs_find(const struct pm_ir_function *function, const struct pm_values *values,
                   struct pm_arena *arena, struct pm_packs *out);
