/*
 * What folding adds to blobs, and what of it is believed (votes.h) and written.
 *
 * Thread safety: a list belongs to one thread at a time.
 */
#pragma once

#include "aggregator/statistics/statistics.h"
#include "aggregator/storage/world.h"

/* What is added to one blob. Those of one (key, kind) stand together. */
struct pm_delta {
    struct pm_storage_key key; /* its strings live as long as the list */
    uint32_t space, facts;     /* as in struct pm_vote */
    uint32_t tokens;           /* that vouch for these; 0: no token has to */
    unsigned claim;            /* which of the day's claims of the (key, kind) it is by */
    size_t start, size;        /* in the list's encoded */
};

/* Begins with pm_deltas_init. */
struct pm_deltas {
    struct pm_delta *items;
    size_t count, allocated;
    struct pm_buffer encoded;
};

/* encoded_cap: bytes of all blobs. */
void pm_deltas_init(struct pm_deltas *deltas, size_t encoded_cap);
void pm_deltas_finish(struct pm_deltas *deltas);

/* Adds one with the encoding of these statistics; its start and size are not read. */
bool pm_deltas_add(struct pm_deltas *deltas, const struct pm_delta *delta,
                   const struct pm_statistics *statistics, struct pm_error *error);

/* In a transaction of the world's storage: writes what is believed, and says in the log what was a
 * lie. *disagreements: of how many shaders the tokens of a day claimed different things, which the
 * caller adds to the world's once it has committed. */
bool pm_deltas_write(struct pm_world *world, const struct pm_deltas *deltas,
                     uint64_t *disagreements, struct pm_error *error);

/* The same without writing: shows what would be written, as pm_storage_operations.add_blobs gets
 * it. *replaces: what was written of the shader before is by a lie. */
typedef bool (*pm_deltas_visit)(void *user, const struct pm_storage_blob *blob, bool replaces,
                                struct pm_error *error);
bool pm_deltas_show(struct pm_world *world, const struct pm_deltas *deltas, pm_deltas_visit visit,
                    void *user, struct pm_error *error);
