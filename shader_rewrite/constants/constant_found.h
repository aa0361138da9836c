/*
 * What a compiler finds to be known in a specialized module that it could not find in the original:
 * by way of memory, parts of vectors, or turns of loops. Where that is in float arithmetic it may
 * compute otherwise than the device does (HAZARDS 3), so it is to be hidden.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "shader_rewrite/ir/words.h"

/* An operand, by its index, of the instruction with this id. */
struct pm_constant_use {
    uint32_t user, operand;
};

struct pm_constant_found {
    struct pm_constant_use *uses; /* in the arena */
    uint32_t count;
};

/* Adds what is found in the module that was made of an original by putting in what is known; what
 * is left has the ids that it had. */
bool pm_constant_find(const uint32_t *words, size_t count, const struct pm_words *made,
                      struct pm_arena *arena, struct pm_constant_found *found,
                      struct pm_error *error);
