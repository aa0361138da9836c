#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

/* Do estimates follow a game that changes, within days, and hold the truth before and after? Prints
 * a table. *right: in every row as far as so many games can tell. */
bool pm_population_shift(const struct pm_population_options *options, bool *right,
                         struct pm_error *error);
