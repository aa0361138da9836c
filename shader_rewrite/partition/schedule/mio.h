/*
 * Mio: cutting a graph of operations into passes by list scheduling (Riffel et al. 2004, section
 * 4.3). O(n log n), with PM_MIO_IN_ORDER O(n).
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/partition/schedule/order.h"
#include "shader_rewrite/partition/schedule/plan.h"

struct pm_mio_options {
    enum pm_order order; /* 0: the paper's */
    /* No ready list: the operations are taken as the order has them, as long as they fit (the
     * paper's section 7). Of PM_ORDER_SETHI_ULLMAN alone. */
    bool in_order;
    /* How many operations less in a pass one spilled component less is worth: the pass may end up
     * to a quarter of its operations earlier, where fewer values live. 0: it ends where it is full,
     * as the paper's. */
    double spill_weight;
};

/* Fills an empty plan. PM_ERROR_UNSUPPORTED naming the operation that no pass has room for;
 * PM_ERROR_MEMORY. */
bool pm_mio(const struct pm_operations *graph, const struct pm_pass_limits *limits,
            const struct pm_mio_options *options, struct pm_plan *plan, struct pm_error *error);
