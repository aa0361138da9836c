/*
 * A shader as a list of steps, in program order: instructions, and structured constructs that are
 * not cut open. What is cut into passes are steps. A selection that is cut open has its inside as
 * steps under a guard, its condition, and its OpPhis as steps of their own.
 *
 * Everything is in the arena.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

#define PM_NO_STEP UINT32_MAX
#define PM_NO_GUARD UINT32_MAX

enum pm_step_kind {
    PM_STEP_INSTR,     /* one instruction */
    PM_STEP_CONSTRUCT, /* a selection or loop, and the OpPhis behind it */
    PM_STEP_JOIN,      /* an OpPhi behind a selection that is cut open */
};

struct pm_step {
    enum pm_step_kind kind;
    struct pm_ir_instr *instr;  /* of a construct: its merge instruction */
    struct pm_ir_instr *branch; /* of a selection: its header's terminator */
    struct pm_ir_block *header; /* of a construct */
    struct pm_ir_block *merge;  /* of a construct: what it leads to; of a join: where it is */
    bool loop;                  /* the construct is one: its header is inside */
    uint32_t first_block, block_count; /* in the list of blocks: a construct's inside */
    uint32_t guard;                    /* that it is under; PM_NO_GUARD: none */
    uint32_t opened; /* of a join: the guard of its selection's then-side; the next one is that of
                        the else-side. PM_NO_GUARD: only one side leads to it */
    uint32_t then_value; /* of a join: the operand that comes from the then-side */
};

/* Runs where condition == when, and where its parent lets it. */
struct pm_guard {
    uint32_t parent;
    struct pm_ir_def *condition;
    bool when;
};

struct pm_steps {
    struct pm_ir_function *function;
    struct pm_step *steps;
    uint32_t count;
    struct pm_guard *guards;
    uint32_t guard_count;
    struct pm_ir_block **blocks; /* those inside constructs, in the function's order */
    uint32_t *step_of;           /* by id: what defines it; PM_NO_STEP: none, so it is global */
    uint32_t bound;
};

/* open: by construct of pm_structure, those selections to cut open; each in another one, or in
 * none. With PM_ANALYSIS_STRUCTURE required, of a function that ends at one place alone
 * (early_returns.h). PM_ERROR_UNSUPPORTED with the reason why it cannot be cut; PM_ERROR_MEMORY. */
bool pm_steps_find(struct pm_ir_function *function, const bool *open, struct pm_arena *arena,
                   struct pm_steps *out, struct pm_error *error);

/* Whether a guard is another one or lies around it. PM_NO_GUARD lies around all. */
static inline bool pm_guard_is_around(const struct pm_steps *steps, uint32_t guard, uint32_t inner)
{
    while (inner != PM_NO_GUARD && inner != guard)
        inner = steps->guards[inner].parent;
    return inner == guard;
}

/* The step that defines an id; PM_NO_STEP: a global does. */
static inline uint32_t pm_step_of(const struct pm_steps *steps, const struct pm_ir_def *def)
{
    return def->id < steps->bound ? steps->step_of[def->id] : PM_NO_STEP;
}

/* All instructions of a step, one after another: of a construct its merge instruction and branch,
 * what its blocks have, and the OpPhis behind it. They may be taken out of their blocks meanwhile,
 * but those inside a construct and its OpPhis. */
struct pm_step_walk {
    const struct pm_steps *steps;
    const struct pm_step *step;
    struct pm_ir_instr *instr; /* the one at hand */
    struct pm_ir_instr *next;
    uint32_t block;
};
struct pm_step_walk pm_step_walk_begin(const struct pm_steps *steps, uint32_t step);
bool pm_step_walk_next(struct pm_step_walk *walk);

/* Marks the instructions of each step with its number and 1 (struct pm_ir_instr, mark). */
void pm_steps_mark(const struct pm_steps *steps);
