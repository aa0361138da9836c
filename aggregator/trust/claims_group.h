/*
 * The claims of a group of uploads: what the storage says of their subjects, and what the group
 * adds. Private to claims.
 *
 * Thread safety: as claims.h.
 */
#pragma once

#include "aggregator/trust/claims.h"

#include <uthash.h>

/* Claims with as many marks as are counted. A small cache: an entry that another one displaces is
 * found again in the storage. */
struct pm_claims {
    struct pm_world *world;
    struct pm_sources *sources;
    uint32_t min_tokens;
    uint32_t epoch; /* the one that runs */
    uint64_t secret[2];
    uint64_t *full;                 /* REMEMBERED of them; NULL: none yet */
    struct pm_found *group;         /* what is known of the group's subjects */
    struct pm_storage_claim *marks; /* that were noted; their bytes are in mark_bytes */
    uint8_t (*mark_bytes)[PM_MARK_BYTES];
    size_t mark_count, marks_allocated;
};

/* One claim of a subject. */
struct pm_counted {
    uint32_t space;
    uint32_t tokens, day;    /* the most of one epoch, and the last that had as many */
    uint32_t last_day, last; /* marks of the day that was seen last */
    uint32_t of_today;       /* marks of today, in found->marks */
};

/* Name and content of one. */
struct pm_found {
    UT_hash_handle hh;
    struct pm_storage_claim subject; /* game, key, kind, scope */
    bool known;                      /* the storage was asked */
    size_t count;
    struct pm_counted all[PM_CLAIMS_OF_SHADER];
    uint8_t *marks; /* of today, `room` bytes of each of `all` */
    size_t room;
    size_t name_size;
    uint8_t name[]; /* key, kind, scope, and the game */
};

/* The group's entry of the subject, made if need be. NULL: out of memory. */
struct pm_found *pm_claims_find(struct pm_claims *claims, const struct pm_storage_claim *subject,
                                struct pm_error *error);
/* Adds the source (NULL: nobody, of whom there is one) to the subject's claims. *counted: the one
 * it makes; NULL: it is not counted. */
bool pm_claims_add(struct pm_claims *claims, const struct pm_subject *subject,
                   const struct pm_ingest_source *source, struct pm_counted **counted,
                   struct pm_error *error);
/* Have enough tokens made it, in one epoch of the retention? */
bool pm_claim_stands(const struct pm_claims *claims, const struct pm_counted *counted);
