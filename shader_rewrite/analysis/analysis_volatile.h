/*
 * Which memory is declared volatile: what reads it must stay, as often as it is there, and in
 * order. The decoration stands at a variable, or at a member of a structure that a pointer goes
 * into or to (SPIR-V 3.20, "Volatile"); memory operands, which say the same of one instruction, are
 * analysis_memory.c's.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Whether a module declares any. */
bool pm_volatile_is_declared(const struct pm_ir_module *module);

/* Whether that is so of what the pointer or the loaded image points to, in a module that declares
 * any; also where that cannot be told. */
bool pm_volatile_is(const struct pm_ir_instr *pointer);
