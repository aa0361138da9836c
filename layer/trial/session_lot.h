/*
 * Which of the shaders that want a trial over sessions (sessions.h) have a turn in this one, where
 * they are more than there is room for. A program creates its pipelines in the same order each
 * time, so whoever comes first would always be the same. Every second session takes them as they
 * come; the others draw of all that are kept, since which of these the program will create nobody
 * knows: SESSION_TRIALS that take part. Where some take too much of the time to be tried beside
 * others, half of the drawn sessions are theirs: one of them takes part and may be tried, and the
 * small ones leave room for it. In the other half the small ones may be tried.
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
    uint32_t large_count;
    uint64_t large;     /* the smallest that a large one has */
    bool for_the_small; /* where there are some of either */
};

/* A session's, by a random number. */
void pm_session_lot_init(struct pm_session_lot *lot, uint64_t seed);

/* A shader that wants a trial; large: it would be tried alone. Each once, before anything is asked.
 */
void pm_session_lot_add(struct pm_session_lot *lot, const struct pm_shader_key *key, bool large);

/* Whether the shader may take part, also one that was not added; there may be too many all the
 * same. */
bool pm_session_lot_takes_part(const struct pm_session_lot *lot, const struct pm_shader_key *key,
                               bool large);

/* Whether its variant may be drawn with. */
bool pm_session_lot_is_tried(const struct pm_session_lot *lot, const struct pm_shader_key *key,
                             bool large);
