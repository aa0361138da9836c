/*
 * The control-flow graph of a function, and its structural one: with an edge from each header to
 * its merge block and its continue target (SPIR-V specification 2.11, "structurally"), where such
 * blocks have a place even if no branch reaches them.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

#define PM_NO_BLOCK UINT32_MAX

/* A directed graph on nodes 0 to count - 1. Each edge is there once. The successors of node n are
 * successors[successor_start[n]] up to, not including, successors[successor_start[n + 1]];
 * predecessors likewise. */
struct pm_graph {
    uint32_t count;
    uint32_t *successor_start, *successors;
    uint32_t *predecessor_start, *predecessors;
};

struct pm_cfg {
    uint32_t count;
    struct pm_ir_block **blocks; /* by index, the function's order; 0 is the entry block */
    struct pm_graph flow;        /* branches */
    struct pm_graph structural;  /* branches, merge blocks and continue targets */
    uint32_t *order;             /* the reachable blocks in reverse post order; order[0] is 0 */
    uint32_t order_count;
    uint32_t *order_of; /* by block: its place in `order`; PM_NO_BLOCK: unreachable */
};

static inline bool pm_cfg_reachable(const struct pm_cfg *cfg, uint32_t block)
{
    return cfg->order_of[block] != PM_NO_BLOCK;
}

/* Computes into the arena and numbers the blocks. NULL when out of memory. For analysis.c. */
struct pm_cfg *pm_cfg_compute(struct pm_ir_function *function, struct pm_arena *arena);
bool pm_cfg_equal(const struct pm_cfg *a, const struct pm_cfg *b);

/* A graph from its edges, from[i] to to[i], repeated ones once. false: out of memory. */
bool pm_graph_build(struct pm_graph *graph, uint32_t count, const uint32_t *from,
                    const uint32_t *to, size_t edges, struct pm_arena *arena);
/* The nodes reachable from root in reverse post order. order and order_of have room for count; the
 * rest of order_of is PM_NO_BLOCK. false: out of memory. */
bool pm_graph_order(const struct pm_graph *graph, uint32_t root, uint32_t *order,
                    uint32_t *order_count, uint32_t *order_of, struct pm_arena *scratch);
