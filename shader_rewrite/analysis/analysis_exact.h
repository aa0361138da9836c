/*
 * What a compiler that knows the operands computes exactly as the device does (HAZARDS 3: a
 * driver's compiler folds constants otherwise than the device computes).
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Whether float arithmetic of this opcode is done alike by every compiler and device. */
bool pm_exact_is(uint16_t opcode);

/* Whether that is so of an instruction at least as long as not all of its operands are known:
 * products of each component with one number, and what chooses one of its operands. */
bool pm_exact_in_part(const struct pm_ir_instr *instr);

/* Whether an instruction computes something of its operands, which a compiler may fold. */
bool pm_exact_computes(const struct pm_ir_instr *instr);

/* Whether a result is NoContraction. */
bool pm_exact_is_asked(const struct pm_ir_def *def);
