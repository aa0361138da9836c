/*
 * What of a value can lie in memory between two passes: numbers, booleans, and what is made of
 * them. Each takes a word of its own, 64-bit ones two.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

enum { PM_SPILLED_MOST_WORDS = 1024 };

/* The type of a composite's member; NULL: it is a scalar, or has no such member. *count: how many
 * members it has. */
const struct pm_ir_instr *pm_spilled_member(const struct pm_ir_instr *type, uint32_t index,
                                            uint32_t *count);

/* How many words what is of a type takes; 0: it holds more than numbers and booleans, or its size
 * is not known. */
uint64_t pm_type_words(const struct pm_ir_instr *type);

/* How many words a value of this type takes; 0: it cannot be spilled, or takes more than the most.
 */
uint32_t pm_spilled_words(const struct pm_ir_instr *type);

/* Whether a module's values of this type can be. */
bool pm_can_be_spilled(const struct pm_ir_module *module, const struct pm_ir_instr *type);

/* Pointers, images and samplers, which no variable can hold. type NULL is allowed: not one. */
bool pm_is_handle(const struct pm_ir_instr *type);

/* Takes a value apart: its words in order, as 32-bit unsigned; as many as pm_spilled_words says. */
void pm_spilled_split(struct pm_ir_builder *builder, struct pm_ir_def *value,
                      struct pm_ir_def **words);

/* Puts it together again. */
struct pm_ir_def *pm_spilled_join(struct pm_ir_builder *builder, const struct pm_ir_instr *type,
                                  struct pm_ir_def *const *words);
