/*
 * The shaders of a database while it is made: as they come, and no more than twice what it has room
 * for; those that fewest sessions entered make way (worth.h).
 *
 * Thread safety: one thread a list.
 */
#pragma once

#include "aggregator/statistics/provisional.h"
#include "profile/database.h"

/* Begins as {.most_bytes}. */
struct pm_shader_list {
    struct pm_shader_estimates *shaders; /* malloc'ed, and so are their points and deficits */
    uint64_t *sessions; /* beside each: clusters that entered it, as far as a point can tell */
    uint32_t *days;     /* beside each: struct pm_curated, vouched_days */
    struct pm_evidence **evidence; /* beside each: malloc'ed, one a point; NULL: none */
    size_t count, allocated;
    size_t bytes;      /* of their encodings, at most */
    size_t most_bytes; /* that the database has room for; SIZE_MAX: any */
    uint64_t left_out; /* shaders that made way */
};

void pm_shader_list_finish(struct pm_shader_list *list);

/* Takes the shader, whose points and deficit, and the evidence for provisional levels (malloc'ed,
 * or NULL), are the list's from now on, also after a failure. */
bool pm_shader_list_add(struct pm_shader_list *list, const struct pm_shader_estimates *shader,
                        struct pm_evidence *evidence, uint64_t sessions, uint32_t day,
                        struct pm_error *error);

/* How evidence becomes levels: pm_provisional_find. */
struct pm_leveling {
    struct pm_prior prior;
    uint32_t least;
};

struct pm_curated;

/* Moves what the database has room for into the arena: *out takes it, with what stands beside it,
 * and how many shaders made way. */
bool pm_shader_list_settle(struct pm_shader_list *list, const struct pm_leveling *leveling,
                           struct pm_arena *arena, struct pm_curated *out, struct pm_error *error);
