/*
 * Which facts about a function are known to hold. A pass requires the analyses it reads and, when
 * it has changed something, says which ones it preserved; the others are forgotten (Mesa's NIR
 * metadata is the model; pass.h runs passes so). pm_analysis_check recomputes what is claimed to
 * hold and compares, for tests and debugging.
 *
 * Facts are by block index: the position of a block in its function (struct pm_ir_block, index).
 * Lifetime: facts stay until the analysis is forgotten or the module destroyed.
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_loops.h"

enum pm_analysis {
    PM_ANALYSIS_CFG = 1,            /* analysis_cfg.h */
    PM_ANALYSIS_DOMINATORS = 2,     /* analysis_dominators.h */
    PM_ANALYSIS_POSTDOMINATORS = 4, /* analysis_dominators.h */
    PM_ANALYSIS_STRUCTURE = 8,      /* analysis_structure.h */
    PM_ANALYSIS_LOOPS = 16,         /* analysis_loops.h */
    PM_ANALYSES = 5,
    PM_ANALYSIS_ALL = 31,
};

/* Computes what is missing of the analyses in the mask, and of those they rest on. Fails with
 * PM_ERROR_MEMORY, or PM_ERROR_INPUT when the function has no blocks. */
bool pm_analysis_require(struct pm_ir_function *function, unsigned mask, struct pm_error *error);

/* Forgets all but those in the mask; what rests on a forgotten one is forgotten too. */
void pm_analysis_preserve(struct pm_ir_function *function, unsigned mask);

/* Those that are claimed to hold. */
unsigned pm_analysis_valid(const struct pm_ir_function *function);

/* Recomputes each analysis that is claimed to hold; false and PM_ERROR_STATE naming the first that
 * does not. */
bool pm_analysis_check(struct pm_ir_function *function, struct pm_error *error);

/* The facts, NULL when they were not required. */
const struct pm_cfg *pm_cfg(const struct pm_ir_function *function);
const struct pm_dominators *pm_dominators(const struct pm_ir_function *function);
const struct pm_dominators *pm_postdominators(const struct pm_ir_function *function);
const struct pm_structure *pm_structure(const struct pm_ir_function *function);
const struct pm_loops *pm_loops(const struct pm_ir_function *function);
