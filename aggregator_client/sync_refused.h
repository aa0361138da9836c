/*
 * Uploads that the aggregator refused (400, 413). They lie in spool/refused, each with the reason
 * beside it, for somebody to look at, and with what the aggregator said that it refuses by
 * (docs/openapi.json, Piecemeal-Rules). When that is another later, they are sent again. Kept are
 * those of the last PM_REFUSED_DAYS, PM_REFUSED_COUNT of them and PM_REFUSED_BYTES at most, the
 * newest; and what the layer's spool has no room for goes before (spool.h).
 *
 * A session that is whole and cannot be read, as one of a later version, lies there, too.
 *
 * For aggregator_client/ and `run --local`. Thread safety: as sync.h.
 */
#pragma once

#include "aggregator_client/sync_send.h"

#define PM_REFUSED_DAYS 30
#define PM_REFUSED_COUNT 64u
#define PM_REFUSED_BYTES ((uint64_t)8 << 20)
#define PM_REFUSED_TRIES 8u    /* of one upload */
#define PM_REFUSED_AT_ONCE 16u /* that one sync sends again */

/* Moves the file there. refusal: of the answer; without rules it is never sent again. tries: that
 * were, the first included. */
bool pm_refused_keep(const char *spool, const char *path, const char *reason,
                     const struct pm_refusal *refusal, unsigned tries, struct pm_error *error);

/* Deletes what is too much, and what is too old by an aggregator's clock (date, seconds since the
 * epoch) as well as by ours, which may be far ahead. date 0: none said what time it is, and nothing
 * is too old. */
void pm_refused_trim(const char *spool, int64_t date);

/* Does `now` say the same as `then` did? What an upload was refused by may be the first part, up to
 * a dot, of what a game's uploads are. */
bool pm_refused_rules_are_same(const char *then, const char *now);

/* One that may be sent again. */
struct pm_refused_upload {
    const char *path, *game;
    uint32_t day;              /* of the upload */
    struct pm_refusal refusal; /* the last */
    unsigned tries;            /* how often it was sent */
};

/* Calls visit for each, the oldest first; a visit that returns false is the last. */
typedef bool (*pm_refused_visit)(void *user, const struct pm_refused_upload *upload);
void pm_refused_list(const char *spool, pm_refused_visit visit, void *user);
