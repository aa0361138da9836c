#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

/* With what is known of a shader comes how many tokens could be lying, and by how much it is off
 * then at most (aggregator/curation/breakdown.h). So many lie, in several ways, among populations
 * of several kinds and sizes: prints a table of what they move; *right: nowhere by more than that.
 * storage: as poison_field_open. */
bool poison_bound(const char *storage, uint64_t seed, bool *right, struct pm_error *error);
