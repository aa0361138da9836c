#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

/* Do intervals cover the truth when a point is first published, every game going on until then? Prints a table. *right:
 * everywhere as often as asked. */
bool pm_population_published(const struct pm_population_options *options, bool *right,
                             struct pm_error *error);
