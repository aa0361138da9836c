/*
 * How large the workgroups of a compute shader are.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Invocations of a workgroup in each dimension; 0: the module does not say. */
void pm_workgroup_size(const struct pm_ir_module *module, uint32_t size[static 3]);

/* How many invocations a workgroup of a module has; 0: it does not say. */
uint32_t pm_workgroup_invocations(const struct pm_ir_module *module);
