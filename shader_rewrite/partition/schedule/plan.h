/*
 * A partition: which operations run in which pass, and what that costs. Partitions are checked here
 * whoever made them, by other code than the one that made them.
 *
 * A value that a later pass uses and does not compute itself is spilled: it takes its place in the
 * outputs of the first pass that computes it.
 *
 * Units: components are 32 bits, of one invocation.
 * Thread safety: a plan belongs to one thread at a time.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/partition/schedule/limits.h"
#include "shader_rewrite/partition/schedule/operations.h"

struct pm_plan_pass {
    uint32_t first, count; /* in the plan's operations */
};

struct pm_plan {
    uint32_t *operations; /* one pass after another, in the order in which they run; an operation
                             may be in several passes */
    uint32_t operation_count, operation_capacity;
    struct pm_plan_pass *passes;
    uint32_t pass_count, pass_capacity;
};

/* A plan that is all zero has no pass. */
void pm_plan_finish(struct pm_plan *plan);

/* Ends a pass: the operations that were added since the last one. false: out of memory. */
bool pm_plan_add_pass(struct pm_plan *plan);
bool pm_plan_add(struct pm_plan *plan, uint32_t operation);

struct pm_plan_cost {
    uint32_t passes;
    uint32_t failed;             /* the pass that takes too much; UINT32_MAX: none */
    uint64_t alu, texture;       /* operations; reads of outputs are among the latter where the
                                    limits say so */
    uint64_t reads;              /* outputs read, each once a pass */
    uint64_t outputs;            /* of 4 components, written by all passes */
    uint64_t spilled_components; /* of values that later passes use */
    uint64_t most_components;    /* of those that lie in memory at once between two passes */
};

/* Where a value is, for who reads it in a later pass. */
struct pm_plan_value {
    uint32_t pass;   /* the first that computes it; UINT32_MAX: none does */
    uint32_t last;   /* the last pass that reads it; `pass` where it is not spilled */
    uint32_t output; /* the output that holds its last components, counted over all passes;
                        UINT32_MAX: it is in none */
};

/* Checks that a plan is whole: each operation is in a pass, behind what it needs; what may not run
 * again is there once; no pass takes more than the limits allow. values: by operation, malloc'ed;
 * NULL: not wanted. PM_ERROR_STATE with the pass and what it lacks; PM_ERROR_MEMORY. */
bool pm_plan_check(const struct pm_operations *graph, const struct pm_pass_limits *limits,
                   const struct pm_plan *plan, struct pm_plan_cost *cost,
                   struct pm_plan_value **values, struct pm_error *error);
