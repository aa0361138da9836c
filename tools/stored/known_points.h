/*
 * What follows from a stored shader's words of what its profiles say: how many points it has of
 * each kind, and which of them run at most once, as the layer finds them. Whoever has the words
 * knows these, and need not believe what clients say of them.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/profile.h"
#include "profile/shader_store.h"

struct pm_known_points {
    enum pm_kind kind;
    uint32_t space;        /* never 0 */
    uint8_t *at_most_once; /* as in struct pm_shader_profile; the arena's; NULL: none */
};
#define PM_KNOWN_POINTS 4 /* block, zero, constant, turns */

/* Fills those that it has points of; returns how many, in *count. */
bool pm_known_points_of(const struct pm_stored_shader *stored, struct pm_arena *arena,
                        struct pm_known_points facts[static PM_KNOWN_POINTS], size_t *count,
                        struct pm_error *error);
