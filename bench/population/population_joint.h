#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

/* What publishing all points of a shader at once does to their intervals, each by itself and all
 * together, by intervals of 95 % each and by those that are simultaneous. Prints a table. *right:
 * the latter all hold in as many shaders as is asked for, as far as so many can tell. */
bool pm_population_joint(const struct pm_population_options *options, bool *right,
                         struct pm_error *error);
