/*
 * Where a shader may still look at other lanes' values: derivatives and implicit-LOD reads take
 * those of the quad, helpers among them, and subgroup operations may take any (HAZARDS 2).
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

/* By block: whether such an instruction can be reached from its end. With PM_ANALYSIS_CFG required;
 * in the arena; NULL: out of memory. */
bool *pm_other_lanes_read_behind(const struct pm_ir_function *function, struct pm_arena *arena);

/* Whether a built-in (SpvBuiltIn) tells of the invocation's subgroup. */
bool pm_builtin_is_of_subgroup(uint32_t builtin);

/* Whether an instruction looks at other lanes, or calls what may. */
bool pm_reads_other_lanes(const struct pm_ir_instr *instr);
