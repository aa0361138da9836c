/*
 * Flow conservation: as many lanes leave a block as entered it, but for those that end in it. So
 * counts of blocks say how often many edges were taken, and counts of some blocks say those of all
 * (Knuth and Stevenson, "Optimal measurement of points for program frequency counts", BIT 13,
 * 1973; the offload RFC's step 1).
 *
 * It holds for lanes that are no helpers, since a helper stays one. Lanes end in OpReturn, OpKill
 * and the like, and may end in the middle of a block where they are demoted or a function is
 * called. Subgroups obey no such law: one that divides is counted on both sides, and only once
 * where it is whole again.
 *
 * Arrays by block are by block index; blocks that cannot be reached have counts of 0. All functions
 * need PM_ANALYSIS_CFG, take time in proportion to the function but for a search tree's depth, and
 * return false when out of memory. Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

/* How often each edge was taken, by the place of the successor in the flow graph's `successors`, as
 * far as the counts of the blocks say it: an edge between two ways that lanes can take round about
 * is not determined, and NAN. Counts that no run can have had give numbers of no meaning, none of
 * them negative. */
bool pm_flow_edges(const struct pm_ir_function *function, const double *blocks, double *edges,
                   struct pm_arena *arena);

/* Which blocks must be counted so that the counts of all follow: as few as can be, and of these
 * choices the one that is run least by the weights (by block). The entry block never is, since its
 * lanes are the shader's. */
bool pm_flow_place(const struct pm_ir_function *function, const double *weights, bool *counted,
                   struct pm_arena *arena);

/* Where blocks meet, so that what comes there also goes: all that lead to one block, and all that
 * one of these leads to, meet at one junction. The shader's outside, where lanes begin and end, is
 * one too. In the arena. */
struct pm_flow_junctions {
    uint32_t count;      /* they are below it; not all numbers are of one */
    uint32_t *from, *to; /* by block; of one that cannot be reached of no meaning */
};
bool pm_flow_junctions(const struct pm_ir_function *function, struct pm_flow_junctions *junctions,
                       struct pm_arena *arena);

/* A block that is counted, or follows; of a shader that is not at hand any more. Any of its lists
 * may be longer than the blocks are. */
struct pm_flow {
    const uint32_t *from, *to; /* junctions, by block */
    const bool *counted;       /* by block, by _place; block 0 is the entry, whose count is known */
    uint32_t blocks, junctions;
};

/* The counts of all blocks from those of the counted ones and of the entry block; the others' in
 * `lanes` are written. *exact is false where the counts are of no run: a count would be negative,
 * and is then 0. */
bool pm_flow_rebuild(const struct pm_flow *flow, uint64_t *lanes, bool *exact,
                     struct pm_arena *arena);
