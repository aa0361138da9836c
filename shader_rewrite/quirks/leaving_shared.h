/*
 * What a block that leaves a loop shares with what comes behind the loop. Mesa's NIR makes such a
 * value, or a byte address, once, in that block, and needs no OpPhi for it where it does not depend
 * on the loop. But lavapipe since 23.0 jumps over the block where no lane leaves, and leaves the
 * loop at its end, so that in LLVM's control flow the block is not always come through: LLVM is
 * handed code that is not valid, and may crash or not, by anything else in the shader
 * (PM_QUIRK_SHARES_LEAVING, quirks.h).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Of a canonical module, or of what was made of one: whether any such block shares a value, a
 * buffer's index or what is read of constant memory. Says so too often rather than too seldom. *has
 * is set. false: the module is wrong, or out of memory. */
bool pm_has_leaving_shared(struct pm_ir_module *module, bool *has, struct pm_error *error);
