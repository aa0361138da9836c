/*
 * Dominators of a graph, by Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm"), as a
 * tree numbered so that one comparison answers whether a node dominates another.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_cfg.h"

struct pm_dominators {
    uint32_t count;   /* nodes; for postdominators the blocks and, last, the exit that all returns
                         lead to */
    uint32_t *parent; /* immediate dominator; PM_NO_BLOCK: the root, or a node that the root does
                         not reach */
    uint32_t *enter, *leave; /* of a walk over the tree; both 0: not in the tree */
    uint32_t *preorder;      /* the nodes of the tree, parents first; tree_count of them */
    uint32_t tree_count;
};

/* Reflexive. false when either is not in the tree. */
static inline bool pm_dominates(const struct pm_dominators *d, uint32_t a, uint32_t b)
{
    return d->enter[b] && d->enter[a] && d->enter[a] <= d->enter[b] && d->leave[b] <= d->leave[a];
}

/* NULL when out of memory. */
struct pm_dominators *pm_dominators_compute(const struct pm_graph *graph, uint32_t root,
                                            struct pm_arena *arena);
/* Over the reversed graph, from an exit of its own, node `count`. A block from which no end of the
 * function can be reached is not in the tree. */
struct pm_dominators *pm_postdominators_compute(const struct pm_graph *graph,
                                                struct pm_arena *arena);
bool pm_dominators_equal(const struct pm_dominators *a, const struct pm_dominators *b);
