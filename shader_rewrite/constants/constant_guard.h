/*
 * Two versions of a shader in one module, and a guard at its entry that chooses: the one that was
 * made for words of uniform buffers being known where all of them have these values, else the
 * original.
 *
 *     entry: the words are loaded and compared; a branch that is uniform over the draw or dispatch
 *     the folded version's blocks
 *     the original's blocks
 *     the block where both ends meet
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/constants/constants.h"

/* Words of the original, and of what was made of it, with the ids that both have in common. The
 * words of info->known that are in uniform buffers are compared. The output is not validated. */
bool pm_constant_guard(const uint32_t *words, size_t count,
                       const struct pm_specialize_constants_info *info,
                       const struct pm_words *folded, struct pm_words *out, struct pm_error *error);
