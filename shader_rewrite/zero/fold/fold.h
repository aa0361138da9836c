/*
 * What one instruction computes when some components of its operands are known (AZP 3.3.2,
 * "Constant propagation"): zeroes through multiplications, sums with zero, comparisons, selections,
 * conversions. Only what every driver computes to the same bits is folded: functions of
 * GLSL.std.450 that may be approximated only where they are zero, other arithmetic only where it is
 * exact.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/zero/fold/folding.h"

/* The result of an instruction that has one; OpPhi is never known. */
struct pm_zero_value pm_zero_fold(const struct pm_zero_lookup *lookup,
                                  const struct pm_ir_instr *instr);
