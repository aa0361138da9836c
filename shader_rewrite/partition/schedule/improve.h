/*
 * What a partition gains when it is looked at again, beyond Mio (its section 7): values computed
 * again rather than spilled, and passes in the order in which least lies in memory.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/partition/schedule/plan.h"

/* A value that takes at most so many ALU operations, no texture operations and no other spilled
 * value than those its reader reads anyway is computed again in every pass that reads it, where all
 * of them have room. *spared: values that are spilled no more. */
bool pm_plan_compute_again(const struct pm_operations *graph, const struct pm_pass_limits *limits,
                           uint32_t most_alu, struct pm_plan *plan, uint32_t *spared,
                           struct pm_error *error);

/* Puts passes in another order, each behind those it needs, if less lies in memory at once then. Of
 * those that may run next the one comes next behind which least does. Nothing for more than
 * PM_PLAN_MOST_ORDERED passes. */
enum { PM_PLAN_MOST_ORDERED = 4096 };
bool pm_plan_order_passes(const struct pm_operations *graph, const struct pm_pass_limits *limits,
                          struct pm_plan *plan, struct pm_error *error);
