/*
 * Races of shaders' variants (A-Z testing over many machines; Cooperative PGO, section 4.3) as the
 * aggregator publishes them: which variants deserve the next measurements, which lost, and which
 * won. A body of its own beside the PGO database, so that who knows nothing of races reads that as
 * ever. On the wire protobuf (profile/piecemeal.proto), zstd-compressed.
 *
 * It is advice about what to measure and to try, never a verdict: nobody can be believed
 * (HAZARDS 24).
 *
 * Thread safety: read-only once decoded; any thread may then read it.
 */
#pragma once

#include "profile/profile.h"

#define PM_RACES_VERSION 1u
#define PM_RACES_BYTES ((size_t)8 << 20)      /* of an encoding, not compressed */
#define PM_RACES_BODY_BYTES ((size_t)9 << 20) /* of a body: what does not compress grows */

struct pm_race_variant {
    uint32_t point;    /* variant_point.h */
    double share;      /* of the next measurements of its race */
    double log_time;   /* mean logarithm of its time over the original's; 0 of nothing */
    uint32_t clusters; /* that said so */
    bool lost;         /* it is slower than the original, or than the winner, for sure */
};

struct pm_race {
    struct pm_shader_key key; /* of the original */
    struct pm_environment environment;
    uint32_t
        as_of_day;   /* since which it says what it says; days since the epoch, UTC; 0: not known */
    uint32_t winner; /* a point; 0: none */
    double mean, low, high; /* of the winner: the logarithm, and its 95 % interval, from clusters
                               that did not choose it */
    const struct pm_race_variant *variants; /* ascending by point */
    size_t variant_count;
};

struct pm_races {
    const char *game;
    uint64_t judged_at;          /* seconds since the epoch */
    const struct pm_race *races; /* strictly ascending by key and environment */
    size_t race_count;
};

/* Orders by key and environment: < 0, 0, > 0. */
int pm_race_compare(const struct pm_race *a, const struct pm_race *b);

/* NULL: there is none. races NULL is allowed. */
const struct pm_race *pm_races_find(const struct pm_races *races, const struct pm_shader_key *key,
                                    const struct pm_environment *environment);
/* NULL: the race does not speak of it. */
const struct pm_race_variant *pm_race_find_variant(const struct pm_race *race, uint32_t point);

/* Appends the body, compressed. Refuses what reading it would, and more than PM_RACES_BYTES
 * (PM_ERROR_LIMIT). */
bool pm_races_body_encode(const struct pm_races *races, struct pm_buffer *body,
                          struct pm_error *error);
/* Reads an encoding; everything *races points to is the arena's. */
bool pm_races_decode(const void *data, size_t size, struct pm_arena *arena, struct pm_races *races,
                     struct pm_error *error);
/* The same of a body. */
bool pm_races_body_decode(const void *body, size_t size, struct pm_arena *arena,
                          struct pm_races *races, struct pm_error *error);
