#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

/* How many uploads until the right values are put on trial, by estimates alone and by provisional
 * levels. Prints a table. *right: a tenth of the uploads is enough. */
bool pm_population_provisional(const struct pm_population_options *options, bool *right,
                               struct pm_error *error);
