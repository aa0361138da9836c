/*
 * What a recipe's passes are about.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* The function of a canonical module's entry point; NULL: there is none with a body. */
struct pm_ir_function *pm_variant_function(const struct pm_ir_module *module);

/* variant_sizes.c: whether the module could tell one subgroup size from another
 * (pm_variant_subgroup_sizes), wherever that comes from. */
bool pm_variant_tells_subgroups(struct pm_ir_module *module);
