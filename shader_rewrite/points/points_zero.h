/*
 * The candidates for zero-value specialization (AZP 3.1), as a pass; points.h has the same for
 * words.
 */
#pragma once

#include "shader_rewrite/points/points_blocks.h"

/* Context: the struct pm_zero_points that it fills as pm_points_zero does, of the function that
 * pm_entry_function finds; to be finished, also on failure. Nothing of the module may have been
 * changed since it was read. Changes nothing. */
extern const struct pm_pass pm_pass_points_zero;
