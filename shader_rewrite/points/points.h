/*
 * The points of a canonical module: what of a shader can be measured. Basic blocks (points_blocks),
 * turns of loops (points_turns), and values that may be zero (points_zero; AZP: Stephenson and
 * Rangan, CGO 2021, 3.1). Their numbers are the order here, which every profile of the shader
 * shares.
 *
 * Ownership: outputs are malloc'ed, and freed by the function named beside them.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "shader_rewrite/zero/candidates/candidates.h"

/* ---- points_blocks ---- */

struct pm_block_point {
    uint32_t label;    /* id of the block's OpLabel in the canonical module */
    bool at_most_once; /* not inside a loop: runs once per invocation at most */
    bool is_whole; /* the code says that all of a workgroup enter it, or none (analysis_uniform.h);
                      false in a fragment shader, which has no workgroups */
};
struct pm_block_points {
    struct pm_block_point *points; /* in the module's block order; point 0 is the entry block */
    uint32_t count;
};
/* The basic blocks of the entry point's function, in a stable order. Canonical words in. Blocks
 * that cannot be reached are not points. */
bool pm_points_blocks(const uint32_t *words, size_t count, struct pm_block_points *out,
                      struct pm_error *error);
void pm_block_points_finish(struct pm_block_points *points);

/* ---- points_flow ---- */

/* The points of a canonical module that must be counted so that the lanes of all follow
 * (analysis_flow.h). */
struct pm_flow_points {
    uint32_t *points;      /* ascending */
    uint32_t count, space; /* space: pm_points_blocks' count; the entry block is none of these */
    /* What the others follow from, of analysis_flow.h, by point. */
    uint32_t *from, *to, junctions;
    bool *counted;
    double saved; /* what the others' counters would take, by the weights */
};
/* What a counter of lanes is taken to take of an atomic where by the code whole subgroups enter a
 * block: nothing is added there, but its code is passed, or run for no lane (docs/blocks.md). */
#define PM_FLOW_PASSED 0.1
/* Entries of a block by a part of a subgroup, of all subgroups: by how often subgroups enter it,
 * how often lanes do, and the share of these that come with their whole subgroup. */
static inline double pm_flow_parts(double subgroups, double lanes, double uniform)
{
    const double whole = lanes * uniform;
    return subgroups > whole ? subgroups - whole : 0;
}
/* Fewer atomics a subgroup are not worth following at each call whose counts are read. */
#define PM_FLOW_LEAST 0.05
static inline bool pm_flow_is_worth(const struct pm_flow_points *points)
{
    return points->saved >= PM_FLOW_LEAST;
}
/* weights: by point, what counting its lanes takes, in atomics a subgroup; the cheapest are chosen.
 * NULL: by the structure, at most, where PM_FLOW_PASSED is taken of what by the code whole
 * subgroups enter (analysis_uniform.h). */
bool pm_points_flow(const uint32_t *words, size_t count, const double *weights,
                    struct pm_flow_points *out, struct pm_error *error);
void pm_flow_points_finish(struct pm_flow_points *points);

/* The lanes of all points, `space` of them, from those of the entry block, lanes[0], and of the
 * points that were counted, which stand at their places. *exact: no count contradicts another.
 * false: out of memory. */
bool pm_points_flow_rebuild(const struct pm_flow_points *points, uint64_t *lanes, bool *exact);

/* ---- points_turns ---- */

/* Of each loop so many points: that it is come to, then that a first, a second, … turn of it is
 * made. A turn is made when a lane comes to the block that leads back. What came to one and not to
 * the next made so many turns: that is the histogram of a loop's turns; its last bin holds whoever
 * made more than could be copied. */
enum { PM_TURN_POINTS = 18, PM_TURN_MOST = PM_TURN_POINTS - 2 };

struct pm_turn_loop {
    uint32_t header, latch; /* ids of labels: of its header, and of the block that leads back */
    bool at_most_once;      /* in no other loop: it is come to once per invocation at most */
};
struct pm_turn_points {
    struct pm_turn_loop *loops; /* in the order of their headers in the module */
    uint32_t loop_count, count; /* count: of points, loop_count * PM_TURN_POINTS */
};
/* The turns of the loops that are small enough for two copies at least (blocks/steady_loops.h), in
 * the entry point's function, but of those whose number of turns the module says
 * (analysis_turns.h). Canonical words in. */
bool pm_points_turns(const uint32_t *words, size_t count, struct pm_turn_points *out,
                     struct pm_error *error);
void pm_turn_points_finish(struct pm_turn_points *points);

/* Whether a turn is made once per invocation at most: each is, of a loop that is in no other. */
static inline bool pm_turn_at_most_once(const struct pm_turn_points *points, uint32_t point)
{
    return points->loops[point / PM_TURN_POINTS].at_most_once;
}

/* ---- points_zero ---- */

/* The points of a zero profile: of the candidates those that could be worth specializing for, in
 * their order; left_out says how many others there are. A candidate is one if it passes
 * specialize_zero's bars when it is always zero, with the most favourable of all that is not in the
 * module (zero/choose/worth.h); what is zero no oftener than another that offers as much is left
 * out. So are all that a budget of work does not reach. With a pack its values are points, and in
 * each block of a shader that has points one candidate is, where its writes alone tell how often
 * that block runs. The choice is part of the canonicalization's recipe. Canonical words in. */
bool pm_points_zero(const uint32_t *words, size_t count, struct pm_zero_points *out,
                    struct pm_error *error);

/* What a pass is told of its points: a copy of those that were found before, all candidates, or
 * else the points. out: to be finished, also on failure. */
bool pm_points_zero_given(const uint32_t *words, size_t count, const struct pm_zero_points *found,
                          bool all, struct pm_zero_points *out, struct pm_error *error);
