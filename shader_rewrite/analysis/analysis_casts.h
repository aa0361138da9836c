/*
 * OpBitcast as what it is to a program: a value under another type. Translation layers keep every
 * value as an integer, and cast it to a float and back around each operation. Canonicalization
 * takes away most of the casts (canonical_bitcasts.c); the analyses see through the rest.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Whether an instruction is an OpBitcast between scalars or vectors of numbers, as many of the same
 * width: each component keeps its bits. */
bool pm_is_component_cast(const struct pm_ir_instr *instr);

/* Whether it is such a cast of a constant. */
bool pm_is_constant_cast(const struct pm_ir_instr *instr);

/* By id: whether the value is a float in disguise, an integer of 32 bits or a vector of them that
 * is used for nothing but casts to floats, directly or behind what moves it. In the arena; NULL:
 * out of memory. */
bool *pm_disguised_floats_find(const struct pm_ir_function *function, struct pm_arena *arena);
