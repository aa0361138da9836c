/*
 * Casts that keep a driver's compiler from seeing that one float operation uses another's result.
 * Translation layers keep floats as integers and cast around everything that computes; the
 * canonical module does without such casts (canonical_bitcasts.c). Most compilers look through
 * them. SwiftShader's optimizer does not, and folds floats inexactly once they are gone: there the
 * canonical module computes other bits than the game's (PM_QUIRK_FOLDS_UNCAST, quirks.h), so that
 * such a shader gets no variants.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* Of a game's module, before it is canonical, and valid or not: whether it casts floats to integers
 * other than to store them, and integers to floats other than what it loads. It says so too often
 * rather than too seldom. */
bool pm_has_hiding_casts(const struct pm_ir_module *original);
