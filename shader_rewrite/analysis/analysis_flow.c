#include "shader_rewrite/analysis/analysis_flow.h"

#include <math.h>
#include <stdlib.h>

/* Whether lanes may end in it though others go on. */
static bool loses_lanes(const struct pm_ir_block *block)
{
    for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
        if (i->opcode == SpvOpDemoteToHelperInvocation || i->opcode == SpvOpFunctionCall)
            return true;
    return false;
}

/* Whether some of a block's lanes go nowhere. */
static bool has_exit(const struct pm_cfg *cfg, uint32_t block)
{
    return cfg->flow.successor_start[block] == cfg->flow.successor_start[block + 1] ||
           loses_lanes(cfg->blocks[block]);
}

/* ---- edges ---- */

/* The ends of blocks and their beginnings as one undirected graph, with an edge for each of the
 * flow's: node b is where b's lanes leave it, node count + b where they enter it, the last node is
 * where they end. What a node's edges sum up to is its block's count; so an edge whose removal
 * parts the graph is what is left over on either side of it. */
struct halves {
    uint32_t nodes, edges;
    uint32_t *from, *to; /* by edge */
    uint32_t *place;     /* by edge: of the successor; UINT32_MAX: it leads to the end */
    uint32_t *start, *adjacent;
    double *sum; /* by node: its count, then that of all below it, ends less beginnings */
};

static void add_half(struct halves *h, uint32_t from, uint32_t to, uint32_t place)
{
    h->from[h->edges] = from;
    h->to[h->edges] = to;
    h->place[h->edges++] = place;
}

/* Edges of blocks that never ran are left out: they are 0. */
static void add_block(struct halves *h, const struct pm_cfg *cfg, const double *blocks, uint32_t b)
{
    const struct pm_graph *g = &cfg->flow;
    for (uint32_t s = g->successor_start[b]; s < g->successor_start[b + 1]; s++)
        if (blocks[g->successors[s]] > 0)
            add_half(h, b, cfg->count + g->successors[s], s);
    if (has_exit(cfg, b))
        add_half(h, b, 2 * cfg->count, UINT32_MAX);
}

static bool make_halves(struct halves *h, const struct pm_cfg *cfg, const double *blocks,
                        struct pm_arena *arena)
{
    const uint32_t most = cfg->flow.successor_start[cfg->count] + cfg->count;
    *h = (struct halves){.nodes = 2 * cfg->count + 1};
    h->from = pm_arena_zalloc(arena, most + 1u, sizeof(uint32_t));
    h->to = pm_arena_zalloc(arena, most + 1u, sizeof(uint32_t));
    h->place = pm_arena_zalloc(arena, most + 1u, sizeof(uint32_t));
    h->adjacent = pm_arena_zalloc(arena, most + 1u, 2 * sizeof(uint32_t));
    h->start = pm_arena_zalloc(arena, h->nodes + 2u, sizeof(uint32_t));
    h->sum = pm_arena_zalloc(arena, h->nodes, sizeof(double));
    if (!h->from || !h->to || !h->place || !h->adjacent || !h->start || !h->sum)
        return false;
    for (uint32_t b = 0; b < cfg->count; b++)
        if (pm_cfg_reachable(cfg, b) && blocks[b] > 0) {
            add_block(h, cfg, blocks, b);
            h->sum[b] = blocks[b];
            h->sum[cfg->count + b] = b == 0 ? 0 : -blocks[b];
        }
    h->sum[2 * cfg->count] = blocks[0] > 0 ? -blocks[0] : 0;
    for (uint32_t e = 0; e < h->edges; e++) {
        h->start[h->from[e] + 2]++;
        h->start[h->to[e] + 2]++;
    }
    for (uint32_t n = 2; n < h->nodes + 2; n++)
        h->start[n] += h->start[n - 1];
    for (uint32_t e = 0; e < h->edges; e++) {
        h->adjacent[h->start[h->from[e] + 1]++] = e;
        h->adjacent[h->start[h->to[e] + 1]++] = e;
    }
    return true;
}

/* A walk in depth over the graph. */
struct walk {
    uint32_t *order, count; /* nodes as they were come to */
    uint32_t *number;       /* by node: its place there, + 1; 0: not yet */
    uint32_t *over;         /* by node: the edge by which it was come to; UINT32_MAX: a root */
    uint32_t *next;         /* by node: the edge to look at next */
    uint32_t *lowest; /* by node: the lowest number that it or what is below it has an edge to */
    uint32_t *stack;
};

static bool make_walk(struct walk *w, uint32_t nodes, struct pm_arena *arena)
{
    uint32_t **const lists[] = {&w->order, &w->number, &w->over, &w->next, &w->lowest, &w->stack};
    *w = (struct walk){0};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        if (!(*lists[i] = pm_arena_zalloc(arena, nodes, sizeof(uint32_t))))
            return false;
    return true;
}

static void come_to(struct walk *w, const struct halves *h, uint32_t node, uint32_t over)
{
    w->order[w->count++] = node;
    w->number[node] = w->lowest[node] = w->count;
    w->over[node] = over;
    w->next[node] = h->start[node];
}

static uint32_t other_end(const struct halves *h, uint32_t edge, uint32_t node)
{
    return h->from[edge] == node ? h->to[edge] : h->from[edge];
}

static void walk_from(struct walk *w, const struct halves *h, uint32_t root)
{
    uint32_t depth = 0;
    come_to(w, h, root, UINT32_MAX);
    w->stack[depth++] = root;
    while (depth) {
        const uint32_t node = w->stack[depth - 1];
        if (w->next[node] == h->start[node + 1]) {
            depth--;
            continue;
        }
        const uint32_t edge = h->adjacent[w->next[node]++], to = other_end(h, edge, node);
        if (edge == w->over[node])
            continue;
        if (w->number[to]) {
            if (w->number[to] < w->lowest[node])
                w->lowest[node] = w->number[to];
            continue;
        }
        come_to(w, h, to, edge);
        w->stack[depth++] = to;
    }
}

bool pm_flow_edges(const struct pm_ir_function *function, const double *blocks, double *edges,
                   struct pm_arena *arena)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_graph *g = &cfg->flow;
    struct halves h;
    struct walk w;
    if (!make_halves(&h, cfg, blocks, arena) || !make_walk(&w, h.nodes, arena))
        return false;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (uint32_t s = g->successor_start[b]; s < g->successor_start[b + 1]; s++) {
            const bool never = !(blocks[b] > 0) || !(blocks[g->successors[s]] > 0);
            edges[s] = never ? 0 : (double)NAN;
        }
    for (uint32_t n = 0; n < h.nodes; n++)
        if (!w.number[n])
            walk_from(&w, &h, n);
    for (uint32_t i = w.count; i-- > 0;) {
        const uint32_t node = w.order[i], over = w.over[node];
        if (over == UINT32_MAX)
            continue;
        const uint32_t above = other_end(&h, over, node);
        if (w.lowest[node] == w.number[node] && h.place[over] != UINT32_MAX) {
            const double left = h.from[over] == node ? h.sum[node] : -h.sum[node];
            edges[h.place[over]] = left > 0 ? left : 0;
        }
        if (w.lowest[node] < w.lowest[above])
            w.lowest[above] = w.lowest[node];
        h.sum[above] += h.sum[node];
    }
    return true;
}

/* ---- placement ---- */

/* Blocks are arcs between junctions. */
struct joining {
    struct pm_flow_junctions junctions;
    uint32_t *joined; /* by junction: a forest of equal ones */
};

static uint32_t find_root(uint32_t *joined, uint32_t j)
{
    while (joined[j] != j)
        j = joined[j] = joined[joined[j]];
    return j;
}

static bool join(struct joining *j, const struct pm_cfg *cfg, struct pm_arena *arena)
{
    const struct pm_graph *g = &cfg->flow;
    const uint32_t outside = 2 * cfg->count;
    j->junctions = (struct pm_flow_junctions){
        .count = outside + 1,
        .from = pm_arena_zalloc(arena, cfg->count, sizeof(uint32_t)),
        .to = pm_arena_zalloc(arena, cfg->count, sizeof(uint32_t)),
    };
    j->joined = pm_arena_zalloc(arena, j->junctions.count, sizeof(uint32_t));
    if (!j->joined || !j->junctions.from || !j->junctions.to)
        return false;
    for (uint32_t i = 0; i < j->junctions.count; i++)
        j->joined[i] = i;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!pm_cfg_reachable(cfg, b))
            continue;
        for (uint32_t s = g->successor_start[b]; s < g->successor_start[b + 1]; s++)
            j->joined[find_root(j->joined, b)] =
                find_root(j->joined, cfg->count + g->successors[s]);
        if (has_exit(cfg, b))
            j->joined[find_root(j->joined, b)] = find_root(j->joined, outside);
    }
    for (uint32_t b = 0; b < cfg->count; b++) {
        j->junctions.from[b] = find_root(j->joined, b == 0 ? outside : cfg->count + b);
        j->junctions.to[b] = find_root(j->joined, b);
    }
    return true;
}

bool pm_flow_junctions(const struct pm_ir_function *function, struct pm_flow_junctions *junctions,
                       struct pm_arena *arena)
{
    struct joining j;
    if (!join(&j, pm_cfg(function), arena))
        return false;
    *junctions = j.junctions;
    return true;
}

struct weighed {
    double weight;
    uint32_t block;
};

static int by_weight(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->weight > y->weight || x->weight < y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->block < y->block ? -1 : x->block > y->block;
}

bool pm_flow_place(const struct pm_ir_function *function, const double *weights, bool *counted,
                   struct pm_arena *arena)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    struct joining j;
    struct weighed *heaviest = pm_arena_zalloc(arena, cfg->count, sizeof(*heaviest));
    uint32_t count = 0;
    if (!heaviest || !join(&j, cfg, arena))
        return false;
    for (uint32_t b = 0; b < cfg->count; b++) {
        counted[b] = false;
        if (b > 0 && pm_cfg_reachable(cfg, b))
            heaviest[count++] = (struct weighed){isfinite(weights[b]) ? weights[b] : 0, b};
    }
    qsort(heaviest, count, sizeof(*heaviest), by_weight);
    /* Kruskal's: what joins two parts is of the tree and follows from the others. */
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t b = heaviest[i].block;
        const uint32_t from = find_root(j.joined, j.junctions.from[b]),
                       to = find_root(j.joined, j.junctions.to[b]);
        counted[b] = from == to;
        j.joined[from] = to;
    }
    return true;
}

/* By junction: what comes less what goes of the blocks that are known, and the others there. */
struct balance {
    uint64_t known; /* modulo 2^64 */
    uint32_t unknown,
        blocks; /* how many, and their numbers' exclusive or: of one, it is that one */
};

static void settle(struct balance *balances, const struct pm_flow *f, uint32_t block,
                   uint64_t lanes)
{
    balances[f->from[block]].known -= lanes;
    balances[f->to[block]].known += lanes;
}

/* That it is not known, or no longer that. */
static void turn_unknown(struct balance *balances, const struct pm_flow *f, uint32_t block,
                         uint32_t one)
{
    balances[f->from[block]].unknown += one;
    balances[f->from[block]].blocks ^= block;
    balances[f->to[block]].unknown += one;
    balances[f->to[block]].blocks ^= block;
}

/* The tree from its leaves: where one block is not known yet, it is what the others leave. */
static void solve(struct balance *balances, const struct pm_flow *f, uint32_t *leaves,
                  uint32_t count, uint64_t *lanes, bool *exact)
{
    while (count) {
        const uint32_t at = leaves[--count];
        if (balances[at].unknown != 1)
            continue;
        const uint32_t block = balances[at].blocks;
        const uint64_t left = f->from[block] == at ? balances[at].known : 0 - balances[at].known;
        const bool possible = left <= INT64_MAX;
        lanes[block] = possible ? left : 0;
        *exact = *exact && possible;
        settle(balances, f, block, lanes[block]);
        turn_unknown(balances, f, block, UINT32_MAX); /* less by one */
        const uint32_t other = f->from[block] == at ? f->to[block] : f->from[block];
        if (balances[other].unknown == 1)
            leaves[count++] = other;
    }
}

bool pm_flow_rebuild(const struct pm_flow *f, uint64_t *lanes, bool *exact, struct pm_arena *arena)
{
    struct balance *balances = pm_arena_zalloc(arena, f->junctions, sizeof(*balances));
    uint32_t *leaves = pm_arena_zalloc(arena, 2 * (size_t)f->junctions, sizeof(*leaves)), count = 0;
    if (!balances || !leaves)
        return false;
    *exact = true;
    for (uint32_t b = 0; b < f->blocks; b++) {
        if (b == 0 || f->counted[b]) {
            settle(balances, f, b, lanes[b]);
            continue;
        }
        lanes[b] = 0;
        turn_unknown(balances, f, b, 1);
    }
    for (uint32_t n = 0; n < f->junctions; n++)
        if (balances[n].unknown == 1)
            leaves[count++] = n;
    solve(balances, f, leaves, count, lanes, exact);
    for (uint32_t n = 0; n < f->junctions; n++)
        *exact = *exact && balances[n].known == 0;
    return true;
}
