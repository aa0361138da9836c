/*
 * Pulling races of variants (profile/races.h), which also tells whether a server takes what was
 * measured of variants: older ones refuse an upload that has any. Private to aggregator_client/.
 *
 * Thread safety: as sync.h.
 */
#pragma once

#include "aggregator_client/sync.h"

/* Asks once, by ETag, and puts what is published beside the game's cached database. What is no list
 * of races of the game is not taken, and what is there stays. *takes: the server knows of races;
 * one that does not answers 404. false: it did not say, and may when it is asked again
 * (PM_ERROR_NETWORK); *trouble: whose that is. */
bool pm_sync_pull_races(const struct pm_sync_info *info, struct pm_http *http,
                        const struct pm_retry *retry, const char *game, bool *takes,
                        enum pm_trouble *trouble, struct pm_error *error);
