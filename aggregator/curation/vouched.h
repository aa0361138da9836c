/*
 * By how many distinct tokens a shader's profiles were sent (claims.h), and whether they are enough
 * for it to be published.
 *
 * Profiles without flags (plain) are told from those with some.
 *
 * Thread safety: one thread at a time.
 */
#pragma once

#include "aggregator/trust/claims.h"

struct pm_vouched {
    uint32_t wanted;           /* tokens; up to 1: everything is vouched for, and no claim kept */
    uint32_t today, first_day; /* first_day: of the retention */
    const char *scene;         /* of which claims count; "": all */
    struct pm_storage_claim *claims; /* sorted */
    size_t claim_count, claims_allocated;
};

/* Takes the claims, of whatever scene, in the storage's order, but for those of numbers of points.
 */
bool pm_vouched_add(struct pm_vouched *vouched, const struct pm_storage_claim *claim,
                    struct pm_error *error);
void pm_vouched_finish(struct pm_vouched *vouched);

/* Did enough distinct tokens send profiles of the shader, within the retention, in its environment
 * and of the scene, if it is of one? space: the number of points that they said it has. */
bool pm_is_vouched(const struct pm_vouched *vouched, const struct pm_storage_key *key, bool plain,
                   uint32_t space);

/* How many tokens did so on one day, as far as it is known; 0: not within the retention. */
uint32_t pm_vouched_tokens(const struct pm_vouched *vouched, const struct pm_storage_key *key,
                           bool plain, uint32_t space);

/* The last day on which enough distinct tokens are known to have spoken of the shader, 0: none:
 * what they said of it by then can be told from one another only by all of them together. */
uint32_t pm_vouched_day(const struct pm_vouched *vouched, const struct pm_storage_key *key,
                        bool plain, uint32_t space);
/* The same of all that is judged together; flags: those of it. */
uint32_t pm_vouched_last_day(const struct pm_vouched *vouched, const struct pm_storage_key *key,
                             uint32_t flags, uint32_t space);
