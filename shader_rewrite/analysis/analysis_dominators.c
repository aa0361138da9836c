#include "shader_rewrite/analysis/analysis_dominators.h"

#include <string.h>

/* The nearest common ancestor; parent and order_of are by node, a root is its own parent while this
 * runs. */
static uint32_t intersect(const uint32_t *parent, const uint32_t *order_of, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (order_of[a] > order_of[b])
            a = parent[a];
        while (order_of[b] > order_of[a])
            b = parent[b];
    }
    return a;
}

static void solve(const struct pm_graph *graph, uint32_t *parent, const uint32_t *order,
                  uint32_t order_count, const uint32_t *order_of)
{
    parent[order[0]] = order[0];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < order_count; i++) {
            uint32_t node = order[i], found = PM_NO_BLOCK;
            for (uint32_t p = graph->predecessor_start[node];
                 p < graph->predecessor_start[node + 1]; p++) {
                uint32_t from = graph->predecessors[p];
                if (order_of[from] == PM_NO_BLOCK || parent[from] == PM_NO_BLOCK)
                    continue;
                found = found == PM_NO_BLOCK ? from : intersect(parent, order_of, from, found);
            }
            if (parent[node] != found) {
                parent[node] = found;
                changed = true;
            }
        }
    }
    parent[order[0]] = PM_NO_BLOCK;
}

/* Numbers the tree. Children come in the order of their nodes. */
static bool number_tree(struct pm_dominators *d, uint32_t root, struct pm_arena *arena)
{
    uint32_t *child = pm_arena_zalloc(arena, d->count, sizeof(*child)); /* first child, then next */
    uint32_t *sibling = pm_arena_zalloc(arena, d->count, sizeof(*sibling));
    uint32_t *stack = pm_arena_zalloc(arena, d->count, sizeof(*stack));
    if (!child || !sibling || !stack)
        return false;
    for (uint32_t n = 0; n < d->count; n++)
        child[n] = PM_NO_BLOCK;
    for (uint32_t n = d->count; n-- > 0;) {
        if (d->parent[n] == PM_NO_BLOCK)
            continue;
        sibling[n] = child[d->parent[n]];
        child[d->parent[n]] = n;
    }
    uint32_t depth = 0, clock = 0;
    stack[depth++] = root;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (!d->enter[node]) {
            d->enter[node] = ++clock;
            d->preorder[d->tree_count++] = node;
        }
        uint32_t next = child[node];
        if (next != PM_NO_BLOCK) {
            child[node] = sibling[next];
            stack[depth++] = next;
        } else {
            d->leave[node] = ++clock;
            depth--;
        }
    }
    return true;
}

struct pm_dominators *pm_dominators_compute(const struct pm_graph *graph, uint32_t root,
                                            struct pm_arena *arena)
{
    struct pm_dominators *d = pm_arena_zalloc(arena, 1, sizeof(*d));
    uint32_t *order = pm_arena_zalloc(arena, graph->count, sizeof(*order));
    uint32_t *order_of = pm_arena_zalloc(arena, graph->count, sizeof(*order_of));
    if (!d || !order || !order_of)
        return NULL;
    d->count = graph->count;
    d->parent = pm_arena_zalloc(arena, d->count, sizeof(uint32_t));
    d->enter = pm_arena_zalloc(arena, d->count, sizeof(uint32_t));
    d->leave = pm_arena_zalloc(arena, d->count, sizeof(uint32_t));
    d->preorder = pm_arena_zalloc(arena, d->count, sizeof(uint32_t));
    uint32_t order_count;
    if (!d->parent || !d->enter || !d->leave || !d->preorder ||
        !pm_graph_order(graph, root, order, &order_count, order_of, arena))
        return NULL;
    for (uint32_t n = 0; n < d->count; n++)
        d->parent[n] = PM_NO_BLOCK;
    solve(graph, d->parent, order, order_count, order_of);
    return number_tree(d, root, arena) ? d : NULL;
}

struct pm_dominators *pm_postdominators_compute(const struct pm_graph *graph,
                                                struct pm_arena *arena)
{
    uint32_t exit = graph->count;
    size_t most = (size_t)graph->successor_start[graph->count] + graph->count, edges = 0;
    uint32_t *from = pm_arena_zalloc(arena, most, sizeof(*from));
    uint32_t *to = pm_arena_zalloc(arena, most, sizeof(*to));
    if (!from || !to)
        return NULL;
    for (uint32_t n = 0; n < graph->count; n++) {
        uint32_t start = graph->successor_start[n], end = graph->successor_start[n + 1];
        for (uint32_t s = start; s < end; s++) {
            from[edges] = graph->successors[s];
            to[edges++] = n;
        }
        if (start == end) {
            from[edges] = exit;
            to[edges++] = n;
        }
    }
    struct pm_graph reversed;
    if (!pm_graph_build(&reversed, graph->count + 1, from, to, edges, arena))
        return NULL;
    return pm_dominators_compute(&reversed, exit, arena);
}

bool pm_dominators_equal(const struct pm_dominators *a, const struct pm_dominators *b)
{
    size_t bytes = a->count * sizeof(uint32_t);
    return a->count == b->count && a->tree_count == b->tree_count &&
           memcmp(a->parent, b->parent, bytes) == 0 && memcmp(a->enter, b->enter, bytes) == 0 &&
           memcmp(a->leave, b->leave, bytes) == 0 && memcmp(a->preorder, b->preorder, bytes) == 0;
}
