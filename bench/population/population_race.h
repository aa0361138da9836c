#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

/* How often has a race of equal variants a winner, looked at again and again, and how many
 * uploads does the right one take? Prints a table. *right: equal variants win in 5 % at most. */
bool pm_population_race(const struct pm_population_options *options, bool *right,
                        struct pm_error *error);
