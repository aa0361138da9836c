/*
 * Readies loops for specialization. Canonical loops often have one block that is body, continue
 * target and end in one; a continue construct is no place for a region. Such a block is parted: its
 * code becomes the loop's body, and a new block with its branch alone the continue target.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Forgets the function's analyses where it changes something. false: *error says why. */
bool pm_zero_part_continue_targets(struct pm_ir_module *module, struct pm_ir_function *function,
                                   struct pm_error *error);
