/*
 * Switches that no pass has room for, rewritten as selections, which can be cut open (steps.h): one
 * for each case, one behind the other, and each asks whether the selector is one of the case's
 * literals; the default's is the last and runs where no literal was. Which invocations run a case,
 * and what they find there, is as it was: no case is reached from another one, and each invocation
 * runs one at most. Of an OpPhi behind the switch each selection leaves the case's value, or what
 * was left before it.
 *
 * They follow one another, instead of each being in the else-side of the one before: so a case that
 * fits a pass stays one step, however many others there are, what runs in it needs one condition,
 * and one value of an OpPhi lives at a time.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/ir/words.h"

/* large: by construct of pm_structure. Rewrites those that can be: each case is reached only from
 * the switch, leads to what is behind it from one block alone, that is in no construct within the
 * case, and ends no invocation. Writes the function's module, which computes the same bits, and in
 * *count how many were; 0: none can be, and nothing is written. With PM_ANALYSIS_STRUCTURE
 * required. The module is not to be used any more. PM_ERROR_MEMORY. */
bool pm_switches_lower(struct pm_ir_function *function, const bool *large, struct pm_words *out,
                       uint32_t *count, struct pm_error *error);
