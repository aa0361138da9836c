/*
 * The loops of a function and how they nest. A loop is what its OpLoopMerge makes: header, loop
 * construct and continue construct; its merge block is outside.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_structure.h"

#define PM_NO_LOOP UINT32_MAX

struct pm_loop {
    uint32_t header, merge, continue_target; /* blocks */
    uint32_t parent;                         /* loop around it; PM_NO_LOOP: none */
    uint32_t depth;                          /* 1: in no other loop */
};

struct pm_loops {
    struct pm_loop *loops; /* outer before inner */
    uint32_t count;
    uint32_t *loop_of; /* by block: the innermost loop it is in; PM_NO_LOOP: none, or unreachable */
    uint32_t block_count;
};

/* Whether a loop is another one or around it; PM_NO_LOOP is around every one. */
bool pm_loop_is_around(const struct pm_loops *loops, uint32_t outer, uint32_t inner);

/* NULL when out of memory. For analysis.c. */
struct pm_loops *pm_loops_compute(const struct pm_structure *structure, struct pm_arena *arena);
bool pm_loops_equal(const struct pm_loops *a, const struct pm_loops *b);
