/*
 * Uploads that the aggregator refused (400, 413). They lie in spool/refused, each with the reason
 * beside it, for somebody to look at, and with what the aggregator said that it refuses by
 * (docs/openapi.json, Piecemeal-Rules). When that is another later, they are sent again. Kept are
 * those of the last PM_REFUSED_DAYS, PM_REFUSED_COUNT of them and PM_REFUSED_BYTES at most, the
 * newest; and what the layer's spool has no room for goes before (spool.h).
 *
 * Private to aggregator_client/. Thread safety: as sync.h.
 */
#pragma once

#include "aggregator_client/sync_send.h"

#define PM_REFUSED_DAYS 30
#define PM_REFUSED_COUNT 64u
#define PM_REFUSED_BYTES ((uint64_t)8 << 20)
#define PM_REFUSED_TRIES 8u    /* of one upload */
#define PM_REFUSED_AT_ONCE 16u /* that one sync sends again */

/* Moves the file there. rules: of the answer; "": it is never sent again. tries: that were, the
 * first included. */
bool pm_refused_keep(const char *spool, const char *path, const char *reason, const char *rules,
                     unsigned tries, struct pm_error *error);

/* Deletes what is too old, or too much. */
void pm_refused_trim(const char *spool);

/* Does `now` say the same as `then` did? What an upload was refused by may be the first part, up to
 * a dot, of what a game's uploads are. */
bool pm_refused_rules_are_same(const char *then, const char *now);

/* Calls visit for each that may be sent again, the oldest first, with where it lies, its game, what
 * it was refused by and how often it was sent; a visit that returns false is the last. */
typedef bool (*pm_refused_visit)(void *user, const char *path, const char *game, const char *rules,
                                 unsigned tries);
void pm_refused_list(const char *spool, pm_refused_visit visit, void *user);

/* Forgets one that was taken. */
void pm_refused_remove(const char *path);
