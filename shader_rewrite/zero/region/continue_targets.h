/*
 * Readies loops for specialization. Canonical loops often have one block that is body, continue
 * target and end in one; a continue construct is no place for a region. Such a block is parted: its
 * code becomes the loop's body, and a new block with its branch alone the continue target.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/pass.h"

/* Context: the struct pm_ir_function. */
extern const struct pm_pass pm_pass_part_continue_targets;
