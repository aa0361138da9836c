/*
 * Races of a game's variants, for `piecemeal db show`: what an aggregator published of them, or
 * what was pulled beside a database.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "profile/races.h"
#include "tools/common/estimates.h"
#include <stdio.h>

/* Of the game that was loaded; *races is of nothing where there are none. database: the file that
 * was named; NULL: none. Memory is the estimates' arena's. */
bool pm_db_races_load(const struct pm_estimates *estimates, const char *database,
                      struct pm_races *races, struct pm_error *error);

/* For people; those whose key begins so (NULL: all). whole: every variant. */
void pm_db_races_print(const struct pm_races *races, const char *prefix, bool whole, FILE *out);
