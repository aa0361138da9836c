/*
 * Ours: Mio, and what its section 7 leaves to be tried, put together. Of three plans the one that
 * takes least: by Sethi and Ullman's order, which is best for trees, and by nearly the program's
 * own, which is where much is shared (an FFT's butterflies), with passes that end where little
 * lives; and by the better of these orders with passes that end where they are full. In it cheap
 * values are computed again rather than spilled, and passes run in the order in which least lies in
 * memory (improve.h).
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/partition/schedule/plan.h"

/* Fills an empty plan. PM_ERROR_UNSUPPORTED naming the operation that no pass has room for;
 * PM_ERROR_MEMORY. */
bool pm_beyond(const struct pm_operations *graph, const struct pm_pass_limits *limits,
               struct pm_plan *plan, struct pm_error *error);
