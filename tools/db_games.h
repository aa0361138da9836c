/*
 * The games that a storage knows, for the parts of `piecemeal db` that go over all of them.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "aggregator/storage.h"

struct pm_game_list {
    char **names; /* malloc'ed, sorted */
    size_t count;
};

/* All, or only the one named; a name that is not known is taken as it is, so that what is done with
 * it fails by itself. */
bool pm_game_list_read(struct pm_game_list *list, struct pm_storage *storage, const char *only,
                       struct pm_error *error);
void pm_game_list_finish(struct pm_game_list *list);
