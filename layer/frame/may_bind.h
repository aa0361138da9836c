/*
 * What may be bound in the place of the game's pipeline (HAZARDS 11, 12): a table of the conditions
 * that may hold in a recording and what each of them allows. What all that hold allow may be bound.
 *
 * Three groups of conditions: how much is known of the recording, and where in it the next call
 * lies, of each of which exactly one holds; and what is active, of which any number may.
 *
 * Pure: no state, any thread.
 */
#pragma once

#include <stdint.h>

/* What can be bound at a bind point, as bits. */
enum pm_binding {
    PM_BINDING_GAME = 1,         /* the game's own pipeline; always allowed */
    PM_BINDING_PROVEN = 2,       /* its proven variant, until the game binds another pipeline */
    PM_BINDING_INSTRUMENTED = 4, /* an instrumented variant, for one call */
    PM_BINDING_TRIAL_CALL = 8,   /* the variant of a trial, for one call that is timed */
    PM_BINDING_TRIAL_PASS = 16,  /* likewise, until the render pass instance ends */
    PM_BINDING_PASSES = 32,      /* the passes of its variant, for one dispatch (passes_run.h) */
};

enum { PM_BINDING_COUNT = 6 };

enum pm_condition {
    /* how much is known of the recording */
    PM_RECORDING_UNTRACKED, /* nothing, and nothing the game has could see what is bound */
    PM_RECORDING_UNKNOWN,   /* nothing, though the game has something that could */
    PM_RECORDING_TRACKED,   /* since it began: what is bound and what is active */
    PM_RECORDING_SAMPLED,   /* so, and calls of it are sampled */
    PM_RECORDING_TIMED,     /* so, and it takes part in trials */

    /* where the next call lies */
    PM_PLACE_DISPATCH,    /* it is a dispatch; all below: a draw */
    PM_PLACE_OUTSIDE,     /* outside render passes, or the recording is not timed */
    PM_PLACE_PASS,        /* in a render pass instance that a trial takes nothing of */
    PM_PLACE_TIMED_PASS,  /* in one that is timed as a whole */
    PM_PLACE_TIMED_DRAWS, /* in one whose draws are timed one by one */

    /* what is active */
    PM_ACTIVE_PROTECTED,          /* the command buffer is protected */
    PM_ACTIVE_INHERITED_QUERY,    /* a secondary that runs inside pipeline-statistics queries */
    PM_ACTIVE_QUERY,              /* a query whose result a variant could change */
    PM_ACTIVE_TRANSFORM_FEEDBACK, /* nothing can be bound until it ends */
    PM_ACTIVE_GENERATED_COMMANDS, /* that name the game's pipeline */
    PM_ACTIVE_OTHER_SHADERS,      /* what is bound is no pipeline that has variants: one that uses
                                     what they lack, a shader object without any, a shader group, or
                                     whatever secondary command buffers left */
    PM_ACTIVE_LOST,               /* the device was lost */
    PM_CONDITIONS
};

#define PM_CONDITION(condition) (UINT32_C(1) << (condition))

/* By enum pm_condition: bits of enum pm_binding. */
extern const uint8_t pm_may_bind_table[PM_CONDITIONS];

/* What may be bound where the conditions hold, by such a table. conditions: PM_CONDITION bits. */
static inline uint32_t pm_may_bind_by(const uint8_t table[static PM_CONDITIONS],
                                      uint32_t conditions)
{
    uint32_t allowed = (1u << PM_BINDING_COUNT) - 1;
    for (; conditions != 0; conditions &= conditions - 1)
        allowed &= table[__builtin_ctz(conditions)];
    return allowed;
}

static inline uint32_t pm_may_bind(uint32_t conditions)
{
    return pm_may_bind_by(pm_may_bind_table, conditions);
}
