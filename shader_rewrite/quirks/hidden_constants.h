/*
 * What becomes constant in S must not be used by the driver's compiler where that computes
 * otherwise than the device: pow(0.5, 0.5) is more exact then, pow(x, 2) may become x * x (the
 * first seen on lavapipe). Such an operand is put together with bits of the candidate: they are 0,
 * which no compiler knows. They are the exponent's, or the integer part of other floats than 32
 * bits wide: where a device flushes denormals, a candidate that passes the check as zero may have
 * bits in its mantissa. That goes for every operand of a division or a function that is rounded as
 * the device likes, for one operand of other instructions that have none but constants, or else
 * their result would be a constant, and for zeroes in sums and products.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

struct pm_hidden_constants {
    struct pm_ir_module *module;
    struct pm_ir_def *candidate; /* a value that is zero in S, in each of its components */
    struct pm_ir_def *zero;      /* a uint, in S's first block; NULL until it is needed */
};

/* A zero of a float scalar or vector type for an instruction of S, +0 for certain only while it
 * runs: what knew it would take x + 0 for x, which is wrong of -0. */
struct pm_ir_def *pm_hidden_zero(struct pm_hidden_constants *hidden, struct pm_ir_block *first,
                                 struct pm_ir_instr *before, struct pm_ir_def *type);

/* Whether it is of a type of 32-bit floats or integers. */
bool pm_can_be_hidden(const struct pm_ir_instr *value);

/* A constant of such a type, or another value that a compiler may know, with hidden->zero, which is
 * there, in it; placed before an instruction. Another constant itself. */
struct pm_ir_def *pm_hide_constant(struct pm_hidden_constants *hidden, struct pm_ir_instr *before,
                                   struct pm_ir_def *constant);

/* Changes an instruction of S that has its operands, `copy` of `instr`. first: the first block of
 * S. Floats of other widths than 32 bits are left as they are. */
void pm_hide_constants(struct pm_hidden_constants *hidden, struct pm_ir_block *first,
                       const struct pm_ir_instr *instr, struct pm_ir_instr *copy);
