/*
 * A game's statistics as they are now: the blobs of the storage, and with them what still waits
 * under marks of a day that has not ended (fold_day.h), as the blobs that it would become. Where
 * that is very much, it is seen when its day has ended.
 *
 * Thread safety: any thread; nothing is folded here.
 */
#pragma once

#include "aggregator/intake/fold.h"

/* As pm_storage_operations.read_game and read_shader, in the same order; there may be several blobs
 * of one key. */
bool pm_fold_read_game(struct pm_folding *folding, const char *game, const char *scene,
                       pm_storage_visit_blob visit, void *user, struct pm_error *error);
bool pm_fold_read_shader(struct pm_folding *folding, const char *game,
                         const struct pm_shader_key *key, pm_storage_visit_blob visit, void *user,
                         struct pm_error *error);
