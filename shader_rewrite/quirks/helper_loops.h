/*
 * Loops that helper invocations leave too early. Derivatives and reads with an implicit level of
 * detail look at the quad's helpers, too. lavapipe ends a loop once no invocation is left in it
 * that is no helper; what helpers have then made of their turn depends on where the compiler cut
 * it, and so on code that has nothing to do with the loop (PM_QUIRK_HELPERS_LEAVE, quirks.h).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Of a canonical module: whether a quad looks at what comes of a loop that lanes may leave at
 * different times, or does so only where such a value leads. Says so too often rather than too
 * seldom. *has is set. false: the module is wrong, or out of memory. */
bool pm_has_helper_loops(struct pm_ir_module *module, bool *has, struct pm_error *error);
