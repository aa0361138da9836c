/*
 * What passes make may give a driver's compiler more to know of floats than the original does: a
 * phi of which a way is a literal now, a copy of a turn. Where that is an operand of a function
 * that is not exact, as a division or a power, it may compute otherwise than the device
 * (HAZARDS 3). Each pass keeps from what is known to do so; this looks at what came out of all.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/ir/words.h"

/* Takes back what was made where such a function knows more than any like it in the original:
 * frees *made, and says "refused" in the report (JSON, an object; may be NULL). *refused: whether
 * it did. */
bool pm_refuse_folded(const uint32_t *words, size_t count, struct pm_words *made, char **report,
                      bool *refused, struct pm_error *error);
