/*
 * Values that do not dominate their uses any more, since ways were added to a function on which
 * they are never computed: there they are undefined.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

/* Keeps such values in variables of the function, or computes them again where a variable cannot
 * hold them. *added: there are such variables. PM_ERROR_MEMORY, PM_ERROR_UNSUPPORTED. */
bool pm_dominance_mend(struct pm_ir_function *function, bool *added, struct pm_error *error);
