#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

/* Do intervals cover the truth? Prints a table. *right: everywhere as often as asked. */
bool pm_population_intervals(const struct pm_population_options *options, bool *right,
                             struct pm_error *error);
