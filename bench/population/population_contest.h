#pragma once

#include "base/error.h"
#include "bench/population/population_options.h"

/* How often do contests of a shader's variants on one machine (base/halving.h), each from nothing,
 * take the same one, and how much faster is the fastest than what is taken? Prints a table. *right:
 * with the least noise runs agree as often as they did, and give up no more. */
bool pm_population_contest(const struct pm_population_options *options, bool *right,
                           struct pm_error *error);
