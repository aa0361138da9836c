/*
 * Reading a word anew, wherever its block may be read.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/constants/constant_words.h"
#include "shader_rewrite/ir/ir_builder.h"

/* The word's bits, as a 32-bit unsigned. NULL when the module failed. */
struct pm_ir_def *pm_constant_load(struct pm_ir_builder *builder,
                                   const struct pm_constant_word *word);
