/*
 * How often the blocks of a function run, where a profile says it only of some or of none.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

/* How often each block runs for each time that the function does, by block index: what `known` says
 * by block (NAN: nothing; NULL: of none), else from its immediate dominator by the structure, as
 * many loops more or fewer around it, and whether it is one way of a selection. 0: unreachable.
 * With PM_ANALYSIS_DOMINATORS and PM_ANALYSIS_LOOPS required. */
void pm_block_weights(const struct pm_ir_function *function, const double *known, double *weights);
