#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

enum { PM_WATCH_POINTS = 250909 }; /* candidates of the paper's Watch */

/* How long until a game like the paper's Watch is covered? Prints a table. *right: the paper's
 * estimate comes out under the paper's assumptions. */
bool pm_population_watch(const struct pm_population_options *options, bool *right,
                         struct pm_error *error);
