/*
 * What is known of a value, as a constant of the module.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/zero/fold/value.h"

/* All of whose components are known; a zero of either sign is written +0, which
 * pm_zero_is_constant_in_copy says may be. NULL when the module failed. */
struct pm_ir_def *pm_zero_build_constant(struct pm_ir_module *module,
                                         const struct pm_ir_instr *type,
                                         const struct pm_zero_value *value);
