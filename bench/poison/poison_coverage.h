#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

/* Do 95 % intervals hold the truth where players differ, and each comes again? Prints a table;
 * *right: in every cell in `least` percent of the games, as far as so many can tell. storage: as
 * poison_field_open. */
bool poison_coverage(const char *storage, uint64_t trials, double least, bool *right,
                     struct pm_error *error);
