/*
 * Room for one more game where as many are known as may: whoever makes up names must not keep out
 * the games that are played. A game for which fewer than min_tokens distinct tokens ever came on
 * one day only waits: when room is needed, one of those with the fewest uploads goes, by lot. Games
 * that tokens vouch for stay.
 *
 * Thread safety: as ingest_group.h.
 */
#pragma once

#include "aggregator/intake/ingest_group.h"

/* *made: a game was forgotten, at most one in a transaction. false: the storage failed, or memory
 * is short. */
bool pm_room_make(struct pm_group *group, bool *made, struct pm_error *error);

/* How many games only wait. In a transaction. */
bool pm_room_count(struct pm_storage *storage, struct pm_claims *claims, uint64_t *unvouched,
                   struct pm_error *error);
