/*
 * What ways that are added to a function break. Values that do not dominate their uses any more:
 * on those ways they are never computed, and there they are undefined. And blocks that have other
 * dominators now, which SPIR-V wants in front of them (2.16.1).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

/* Keeps such values in variables of the function, or computes them again where a variable cannot
 * hold them. *added: there are such variables. PM_ERROR_MEMORY, PM_ERROR_UNSUPPORTED. */
bool pm_dominance_mend(struct pm_ir_function *function, bool *added, struct pm_error *error);

/* Moves blocks that stand before their dominators behind them. PM_ERROR_MEMORY. */
bool pm_dominance_order(struct pm_ir_function *function, struct pm_error *error);
