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

/* Of a canonical module: whether a quad looks behind a loop at what comes of it, and lanes may
 * leave it at different times. *has is set. false: the module is wrong, or out of memory. */
bool pm_has_helper_loops(struct pm_ir_module *module, bool *has, struct pm_error *error);
