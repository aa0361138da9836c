/*
 * The pass that is being filled: Mio's incremental resource estimator (4.3). It says whether one
 * more operation fits, in time proportional to what that operation needs, and takes operations out
 * again from the end.
 *
 * What it counts is at least what pm_plan_check counts: a value of an earlier pass stays in a
 * temporary until all its users are scheduled.
 *
 * Thread safety: a state belongs to one thread.
 */
#pragma once

#include "shader_rewrite/partition/schedule/limits.h"
#include "shader_rewrite/partition/schedule/operations.h"
#include "shader_rewrite/partition/schedule/outputs.h"

#define PM_NO_PASS UINT32_MAX

enum pm_fit {
    PM_FITS,
    PM_FIT_NOT_HERE, /* it reads too many different inputs, which others may not */
    PM_FIT_FULL,     /* operations or temporaries, which all take */
};

struct pm_pass_state {
    const struct pm_operations *graph;
    const struct pm_pass_limits *limits;
    uint32_t pass; /* its number */

    uint32_t *pass_of; /* by operation: PM_NO_PASS: not scheduled */
    uint32_t *missing; /* by operation: operands that are not scheduled */

    /* of this room alone */
    uint32_t *waiting;   /* by operation: users of its value that are not scheduled */
    uint32_t *output_of; /* by operation: the output that it ends in, of an earlier pass */
    uint32_t *read_in;   /* by operation: the last pass that read it from an earlier one */
    uint32_t *output_in; /* by output that values end in: the last pass that read it */
    uint32_t *input_in;  /* by input: the last pass that read it */
    uint32_t output_count;
    uint64_t alu, texture, live;
    uint32_t inputs[PM_INPUT_KINDS];
    struct pm_outputs outputs; /* what would be spilled or given if the pass ended here */
};

/* false: out of memory. To be finished in any case. */
bool pm_pass_state_init(struct pm_pass_state *state, const struct pm_operations *graph,
                        const struct pm_pass_limits *limits);
void pm_pass_state_finish(struct pm_pass_state *state);

/* Adds an operation, none of whose operands is missing; PM_FITS: it was added. why: what it has no
 * room for. */
enum pm_fit pm_pass_state_add(struct pm_pass_state *state, uint32_t operation, const char **why);

/* Takes the operation out that was added last. After the first of these only more of these, and the
 * pass's end. */
void pm_pass_state_remove(struct pm_pass_state *state, uint32_t operation);

/* Ends the pass, of these operations, and begins the next one. */
void pm_pass_state_end(struct pm_pass_state *state, const uint32_t *operations, uint32_t count);
