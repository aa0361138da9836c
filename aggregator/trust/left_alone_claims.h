/*
 * How many shaders of a game clients could make nothing of, and why (profile/left_alone_why.h). It
 * is kept as claims are (claims.h): who says that n shaders are left alone for a reason claims it
 * of each level up to n, a token once a day. What is shown of a reason is the highest level that
 * min_tokens distinct tokens claimed on one day: that so many players or more had so many such
 * shaders or more. So fewer than min_tokens that lie change nothing, and nothing is shown that only
 * a few machines have.
 *
 * Thread safety: expecting and noting as claims.h; the rest has no state but the caller's.
 */
#pragma once

#include "aggregator/trust/claims.h"

/* 1, 2, 3, 4, 6, 8, 12, … up to PM_LEFT_ALONE_MOST. */
#define PM_LEFT_ALONE_LEVELS 32u
uint32_t pm_left_alone_claims_level(uint32_t level);

/* For what a profile says; in a group of uploads, as claims. source NULL: nobody vouches, so that
 * it counts only where no token has to. */
bool pm_left_alone_claims_expect(struct pm_claims *claims, const struct pm_profile *profile,
                                 struct pm_error *error);
bool pm_left_alone_claims_note(struct pm_claims *claims, const struct pm_profile *profile,
                               const struct pm_ingest_source *source, uint32_t today,
                               struct pm_error *error);

/* What is shown of a reason; shaders 0: nothing. */
struct pm_left_alone_count {
    uint32_t shaders; /* at least */
    uint32_t tokens;  /* at least so many distinct ones said so on one day */
    uint32_t day;     /* the last such */
};

/* What is read of a game's claims. */
struct pm_left_alone_seen {
    uint32_t min_tokens;
    uint32_t first_day; /* what is of before is of another time */
    struct pm_left_alone_count counts[PM_LEFT_ALONE_WHYS];
    uint8_t scopes[PM_LEFT_ALONE_WHYS][PM_LEFT_ALONE_LEVELS][PM_SCOPE_BYTES];
};

/* Days for which a claim is shown: games are patched, and newer clients know more. */
#define PM_LEFT_ALONE_DAYS 30u
void pm_left_alone_claims_seen_init(struct pm_left_alone_seen *seen, uint32_t min_tokens,
                                    uint32_t today);
/* Looks at one of a game's claims, as pm_storage's read_claims shows them. false: it is of
 * something else. */
bool pm_left_alone_claims_see(struct pm_left_alone_seen *seen,
                              const struct pm_storage_claim *claim);
