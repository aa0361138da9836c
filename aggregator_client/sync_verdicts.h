/*
 * Pulling what an operator signed (profile/signed_verdicts.h). Private to aggregator_client/.
 *
 * Thread safety: as sync.h.
 */
#pragma once

#include "aggregator_client/sync.h"

/* Where aggregator.verdict_key_file names a key: asks once for the game's file, and where it is
 * signed with that key, of this game, not ended and no older than the one that is there, puts it
 * beside the cached database. What is not so is logged, and what is there stays; but what another
 * key signed goes. */
void pm_sync_pull_verdicts(const struct pm_sync_info *info, const struct pm_config *config,
                           struct pm_http *http, const struct pm_retry *retry, const char *game);
