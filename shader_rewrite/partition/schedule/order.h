/*
 * In which order a scheduler prefers operations: what Mio (4.3) calls T, and what its section 7
 * leaves to be tried.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/partition/schedule/operations.h"

enum pm_order {
    /* Depth first through the graph, operands first, of these the one first that needs the most
     * registers beyond those that its value takes (Sethi and Ullman's numbers; by size, as Appel
     * and Supowit have it). O(n). */
    PM_ORDER_SETHI_ULLMAN,
    PM_ORDER_CRITICAL_PATH,   /* those from which the longest way leads to an end */
    PM_ORDER_MOST_SUCCESSORS, /* those that most operations need */
    PM_ORDER_PROGRAM,         /* as they are numbered, which is nearly the program's own */
    PM_ORDERS,
};

/* By operation: its place in the order, malloc'ed; ties go to the earlier operation of Sethi and
 * Ullman's order. NULL: out of memory. */
uint32_t *pm_order_places(const struct pm_operations *graph, enum pm_order order);
