/*
 * Which values of a partitioned shader lie in memory between its passes, and where. A place is used
 * again once nobody reads what was in it any more.
 *
 * Units: words of 32 bits, of one invocation.
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/partition/schedule/plan.h"
#include "shader_rewrite/partition/shader_graph.h"

struct pm_spill {
    uint32_t pass;       /* the first that computes it, which stores it */
    uint32_t last;       /* the last that reads it; `pass`: it is not spilled */
    uint32_t first_word; /* in `places` */
};

struct pm_spills {
    struct pm_spill *spills; /* by id */
    uint32_t *places;        /* of each spilled value's words */
    uint32_t words;          /* how many places there are */
};

/* In the arena. false: out of memory. */
bool pm_spills_find(const struct pm_shader_graph *graph, const struct pm_plan *plan,
                    struct pm_arena *arena, struct pm_spills *out);
