/*
 * Which blocks are entered by the same lanes: of a block, an earlier one that the lanes which enter
 * it entered together just before, and that nobody else did then. So who knows the lanes of the
 * earlier one knows those of the block.
 *
 * A block has such a one, which dominates it and is in no loop that the block is not in, where no
 * lane can go another way between them, or all meet again before the block: by branches on what is
 * the same in all lanes (analysis_uniform.h), or since the ways meet before, in the same turns of
 * the loops around. It takes for granted, as analysis_uniform.h does, that lanes which went
 * different ways go on together where these meet, and that none leaves but where the function ends:
 * so it does not hold where lanes are demoted, or leave in a function that is called.
 *
 * Facts are by block index. Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_uniform.h"

struct pm_together {
    uint32_t *with; /* by block: the other one; PM_NO_BLOCK: none is known */
    bool *always;   /* by block: whoever enters the other one then enters the block, once */
};

/* With PM_ANALYSIS_DOMINATORS, PM_ANALYSIS_POSTDOMINATORS and PM_ANALYSIS_LOOPS required. In the
 * arena; false: out of memory. */
bool pm_together_compute(struct pm_together *together, const struct pm_uniform *uniform,
                         const struct pm_ir_function *function, struct pm_arena *arena);
