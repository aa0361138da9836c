/*
 * Lists of what a storage has by name, for who goes over them one after the other: what is done
 * with each may take long, and change them. A list is finished also after a failure.
 *
 * Thread safety: one thread a list.
 */
#pragma once

#include "aggregator/storage/storage.h"
#include "base/names.h"

/* All games, or only the one named; a name that is not known is taken as it is, so that what is
 * done with it fails by itself. */
bool pm_names_of_games(struct pm_names *list, struct pm_storage *storage, const char *only,
                       struct pm_error *error);

/* At most so many scenes of a game (struct pm_storage_operations, list_scenes). */
bool pm_names_of_scenes(struct pm_names *list, struct pm_storage *storage, const char *game,
                        uint32_t most, struct pm_error *error);
