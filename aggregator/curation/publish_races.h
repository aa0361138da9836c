/*
 * Publishing races of variants, beside the game's database and by the same rules (release.h): not
 * more often, a race only where enough tokens have spoken of its shader since, and no finer than
 * one of them could be told by.
 *
 * Thread safety: as curate.h.
 */
#pragma once

#include "aggregator/curation/races.h"

/* Publishes what was gathered of the game, if anything is to be published or was; at_once: as in
 * struct pm_curate_request. */
bool pm_publish_races(struct pm_curator *curator, const char *game,
                      const struct pm_race_gathering *gathering, bool at_once,
                      struct pm_error *error);

/* What is published of the game, and its ETag; PM_ERROR_STATE: nothing yet. */
bool pm_races_published(struct pm_storage *storage, const char *game, struct pm_arena *arena,
                        struct pm_races *races, char etag[static PM_ETAG_TEXT],
                        struct pm_error *error);

/* The body and ETag of what is published of a game of which nothing is. */
bool pm_races_none(const char *game, struct pm_buffer *body, char etag[static PM_ETAG_TEXT],
                   struct pm_error *error);
