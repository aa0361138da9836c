/*
 * Which of the shaders that want a trial over sessions (sessions.h) have a turn in this one, where
 * they are more than there is room for. A program creates its pipelines in the same order each
 * time, so whoever comes first would always be the same. Every second session takes them as they
 * come; the others draw of all that are kept, since which of these the program will create nobody
 * knows: SESSION_TRIALS that take part, and of those that take too much of the time to be tried
 * beside others the one that may be.
 *
 * Thread safety: plain data.
 */
#pragma once

#include "profile/shader_key.h"

#include <stdbool.h>
#include <stdint.h>

enum { SESSION_TRIALS = 8 };

struct pm_session_lot {
    uint64_t seed;
    bool drawn;                       /* else they are taken as they come */
    uint64_t numbers[SESSION_TRIALS]; /* the smallest that shaders have, in order */
    uint32_t count;                   /* of all shaders */
    bool any_large;
    uint64_t large; /* the smallest that a large one has */
};

/* A session's, by a random number. */
void pm_session_lot_init(struct pm_session_lot *lot, uint64_t seed);

/* A shader that wants a trial; large: it would be tried alone. Each once, before anything is asked.
 */
void pm_session_lot_add(struct pm_session_lot *lot, const struct pm_shader_key *key, bool large);

/* Whether the shader may take part; there may be too many all the same. */
bool pm_session_lot_takes_part(const struct pm_session_lot *lot, const struct pm_shader_key *key);

/* Whether its variant may be drawn with. A small one leaves room for the large one. */
bool pm_session_lot_is_tried(const struct pm_session_lot *lot, const struct pm_shader_key *key,
                             bool large);
