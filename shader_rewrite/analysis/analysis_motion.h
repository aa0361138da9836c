/*
 * Which instructions may be moved to where more lanes come through.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/analysis/analysis_permission.h"

/* Whether an instruction may be computed earlier, and then by lanes that would not come to it:
 * plain arithmetic, that reads no memory and no other lane and cannot trap. */
bool pm_motion_may_be_earlier(const struct pm_memory *memory,
                              const struct pm_float_permission *permission,
                              const struct pm_ir_instr *instr);
