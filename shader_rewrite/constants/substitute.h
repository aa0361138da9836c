/*
 * Puts into a function what follows from the words that are known: constants for integers and
 * booleans, and for floats that are zero; for what is another value's name that value. What has
 * become needless is still there (pm_simplify).
 *
 * A compiler folds float arithmetic otherwise than a device computes it (HAZARDS 3), and what it
 * folds it must see as constants. So words that are floats are loaded as before, what becomes a
 * constant in float arithmetic is put together with a zero that no compiler knows
 * (quirks/hidden_constants.h), an integer is where it is made a float of, and so is the number of
 * turns of a loop in which with that the compiler would see, turn by turn, a constant in arithmetic
 * that is not exact.
 *
 * What a compiler finds out all the same, once the module is simplified, is to be hidden the next
 * time (constant_found.h).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/constants/constant_found.h"
#include "shader_rewrite/constants/constant_values.h"
#include "shader_rewrite/zero/region/region.h"

/* The region is the whole function, and was propagated through; known is one of the words, which
 * may be loaded at its start; found is hidden besides. PM_ANALYSIS_DOMINATORS and PM_ANALYSIS_LOOPS
 * of the function are required. Whether it changed anything; the module may have failed, and
 * round->failed says that memory ran out. */
bool pm_constant_substitute(struct pm_zero_round *round, struct pm_zero_region *region,
                            const struct pm_constant_known_word *known,
                            const struct pm_constant_found *found);
