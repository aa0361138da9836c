/*
 * What a recipe's passes are about.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* The function of a canonical module's entry point; NULL: there is none with a body. */
struct pm_ir_function *pm_variant_function(const struct pm_ir_module *module);
