/*
 * The best partition there is, for small graphs: what the others are measured against.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/partition/schedule/plan.h"

enum { PM_EXACT_MOST_OPERATIONS = 24 };

/* No value is computed twice: a search over the sets of operations that may have run, by breadth
 * over passes. The fewest passes, of these the fewest operations and reads, of these the fewest
 * spilled components. Every value must have 4 components or none, so that a value is an output:
 * else, or for more operations, PM_ERROR_UNSUPPORTED, as where no partition keeps the limits. */
bool pm_exact(const struct pm_operations *graph, const struct pm_pass_limits *limits,
              struct pm_plan *plan, struct pm_error *error);

/* The same where values may also be computed again. */
bool pm_exact_again(const struct pm_operations *graph, const struct pm_pass_limits *limits,
                    struct pm_plan *plan, struct pm_error *error);
