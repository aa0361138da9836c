/*
 * Whether a module's lists and links are as ir_module.h says: for tests, and for builds that check
 * every pass. What SPIR-V asks beyond that is spirv-val's.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Every list knows its members, every block ends in its only terminator, every id's definition and
 * uses are linked both ways. PM_ERROR_STATE with the first that is not so. */
bool pm_ir_check(const struct pm_ir_module *module, struct pm_error *error);
