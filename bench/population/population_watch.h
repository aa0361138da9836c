#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

/* How long until a game like the paper's Watch is covered? Prints a table. *right: the paper's
 * estimate comes out under the paper's assumptions. */
bool pm_population_watch(const struct pm_population_options *options, bool *right,
                         struct pm_error *error);
