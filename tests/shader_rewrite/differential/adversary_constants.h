/*
 * Ways to specialize a random shader for the words of its push constants, or of the uniform buffer
 * that it has instead: with the values that it is run with, and, behind the guard, with others.
 *
 * Thread safety: no state.
 */
#pragma once

#include "tests/shader_rewrite/differential/random_shader.h"

enum { ADVERSARY_CONSTANT_WAYS = 4 };
extern const char *const adversary_constant_ways[ADVERSARY_CONSTANT_WAYS];

/* values: of all words, by their place. never: 0 * x is never taken for 0. out->words.count is 0
 * where a way has nothing to do, or comes to nothing. */
bool adversary_constants(uint32_t way, uint64_t seed, const struct pm_words *canonical,
                         const uint32_t *values, bool never, bool quad,
                         const struct pm_target *target, const struct pm_driver *driver,
                         struct pm_specialized_constants *out, struct pm_error *error);
