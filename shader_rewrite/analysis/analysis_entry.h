/*
 * The one function of a canonical module that its entry point runs.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/ir/target.h"

/* The function of the one entry point of a canonical module, and its stage. NULL on failure:
 * PM_ERROR_INPUT unless there is exactly one entry point; PM_ERROR_UNSUPPORTED for any stage but
 * fragment and compute. */
struct pm_ir_function *pm_entry_function(const struct pm_ir_module *module, enum pm_stage *stage,
                                         struct pm_error *error);
