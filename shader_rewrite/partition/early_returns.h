/*
 * Invocations that end early, rewritten: instead of returning, an invocation notes that it has
 * ended and skips the rest. Behind it every way leads to the function's one end, so that what a
 * shader is cut into need not know of ends (steps.h): a return in a loop or switch leaves that, and
 * is behind it; what follows a selection in which some return is in a selection of its own, of
 * those that did not. What discards fragments is not for it: they would be drawn.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/ir/words.h"

/* Whether an invocation may end elsewhere than at the function's end. With PM_ANALYSIS_STRUCTURE
 * required. */
bool pm_returns_early(const struct pm_ir_function *function);

/* Whether an invocation may end as none that is to be drawn. */
bool pm_discards(const struct pm_ir_function *function);

/* Rewrites the function and writes its module, which computes the same bits. The module is not to
 * be used any more. PM_ERROR_UNSUPPORTED with the reason why it cannot be, PM_ERROR_MEMORY. */
bool pm_early_returns_lower(struct pm_ir_function *function, struct pm_words *out,
                            struct pm_error *error);
