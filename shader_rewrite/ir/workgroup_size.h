/*
 * How large the workgroups of a compute shader are.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* How many invocations a workgroup of a module has; 0: it does not say. */
uint32_t pm_workgroup_invocations(const struct pm_ir_module *module);
