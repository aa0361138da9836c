#include "shader_rewrite/analysis/analysis_cfg.h"

#include <string.h>

struct edges {
    uint32_t *from, *to;
    size_t count;
};

static void add_edge(struct edges *edges, uint32_t from, const struct pm_ir_instr *instr,
                     uint32_t operand)
{
    if (edges->from) {
        edges->from[edges->count] = from;
        edges->to[edges->count] = pm_ir_block_of(instr->operands[operand].def)->index;
    }
    edges->count++;
}

static void add_branches(struct edges *edges, const struct pm_ir_block *block)
{
    const struct pm_ir_instr *end = pm_ir_terminator(block);
    switch (end->opcode) {
    case SpvOpBranch:
        add_edge(edges, block->index, end, 0);
        break;
    case SpvOpBranchConditional:
        add_edge(edges, block->index, end, 1);
        add_edge(edges, block->index, end, 2);
        break;
    case SpvOpSwitch:
        for (uint32_t i = 1; i < end->operand_count; i += 2)
            add_edge(edges, block->index, end, i);
        break;
    default:
        break;
    }
}

static void add_merges(struct edges *edges, const struct pm_ir_block *block)
{
    const struct pm_ir_instr *merge = pm_ir_merge(block);
    if (!merge)
        return;
    add_edge(edges, block->index, merge, 0);
    if (merge->opcode == SpvOpLoopMerge)
        add_edge(edges, block->index, merge, 1);
}

/* Counting sort by `key`; keeps the order of equal keys, drops a repeated (key, value). */
static bool build_lists(uint32_t count, const uint32_t *key, const uint32_t *value, size_t edges,
                        uint32_t **start_out, uint32_t **list_out, struct pm_arena *arena)
{
    uint32_t *start = pm_arena_zalloc(arena, (size_t)count + 1, sizeof(*start));
    uint32_t *sorted = pm_arena_zalloc(arena, edges, sizeof(*sorted));
    uint32_t *fill = pm_arena_zalloc(arena, (size_t)count + 1, sizeof(*fill));
    uint32_t *seen =
        pm_arena_zalloc(arena, count, sizeof(*seen)); /* the last key + 1 that had it */
    if (!start || !sorted || !fill || !seen)
        return false;
    for (size_t i = 0; i < edges; i++)
        fill[key[i] + 1]++;
    for (uint32_t n = 0; n < count; n++)
        fill[n + 1] += fill[n];
    for (size_t i = 0; i < edges; i++)
        sorted[fill[key[i]]++] = value[i];
    /* fill[n] is now the end of n's values; close the gaps that repeated ones leave. */
    uint32_t out = 0, in = 0;
    for (uint32_t n = 0; n < count; n++) {
        start[n] = out;
        for (; in < fill[n]; in++) {
            uint32_t v = sorted[in];
            if (seen[v] == n + 1)
                continue;
            seen[v] = n + 1;
            sorted[out++] = v;
        }
    }
    start[count] = out;
    *start_out = start;
    *list_out = sorted;
    return true;
}

bool pm_graph_build(struct pm_graph *graph, uint32_t count, const uint32_t *from,
                    const uint32_t *to, size_t edges, struct pm_arena *arena)
{
    graph->count = count;
    return build_lists(count, from, to, edges, &graph->successor_start, &graph->successors,
                       arena) &&
           build_lists(count, to, from, edges, &graph->predecessor_start, &graph->predecessors,
                       arena);
}

bool pm_graph_order(const struct pm_graph *graph, uint32_t root, uint32_t *order,
                    uint32_t *order_count, uint32_t *order_of, struct pm_arena *scratch)
{
    uint32_t *stack = pm_arena_zalloc(scratch, graph->count, sizeof(*stack));
    uint32_t *next = pm_arena_zalloc(scratch, graph->count, sizeof(*next));
    bool *entered = pm_arena_zalloc(scratch, graph->count, sizeof(*entered));
    if (!stack || !next || !entered)
        return false;
    for (uint32_t n = 0; n < graph->count; n++) {
        order_of[n] = PM_NO_BLOCK;
        next[n] = graph->successor_start[n];
    }
    uint32_t depth = 0, done = 0;
    stack[depth++] = root;
    entered[root] = true;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (next[node] < graph->successor_start[node + 1]) {
            uint32_t to = graph->successors[next[node]++];
            if (!entered[to]) {
                entered[to] = true;
                stack[depth++] = to;
            }
        } else {
            order[done++] = node;
            depth--;
        }
    }
    for (uint32_t i = 0; i < done / 2; i++) {
        uint32_t swap = order[i];
        order[i] = order[done - 1 - i];
        order[done - 1 - i] = swap;
    }
    for (uint32_t i = 0; i < done; i++)
        order_of[order[i]] = i;
    *order_count = done;
    return true;
}

struct pm_cfg *pm_cfg_compute(struct pm_ir_function *function, struct pm_arena *arena)
{
    struct pm_cfg *cfg = pm_arena_zalloc(arena, 1, sizeof(*cfg));
    if (!cfg)
        return NULL;
    for (struct pm_ir_block *b = function->first_block; b; b = b->next)
        b->index = cfg->count++;
    cfg->blocks = pm_arena_zalloc(arena, cfg->count, sizeof(struct pm_ir_block *));
    cfg->order = pm_arena_zalloc(arena, cfg->count, sizeof(uint32_t));
    cfg->order_of = pm_arena_zalloc(arena, cfg->count, sizeof(uint32_t));
    if (!cfg->blocks || !cfg->order || !cfg->order_of)
        return NULL;
    struct edges edges = {0};
    for (int pass = 0; pass < 2; pass++) { /* count, then fill: branches first, then merges */
        if (pass) {
            edges.from = pm_arena_zalloc(arena, edges.count, sizeof(uint32_t));
            edges.to = pm_arena_zalloc(arena, edges.count, sizeof(uint32_t));
            if (!edges.from || !edges.to)
                return NULL;
        }
        edges.count = 0;
        for (struct pm_ir_block *b = function->first_block; b; b = b->next) {
            cfg->blocks[b->index] = b;
            add_branches(&edges, b);
        }
        if (pass &&
            !pm_graph_build(&cfg->flow, cfg->count, edges.from, edges.to, edges.count, arena))
            return NULL;
        for (struct pm_ir_block *b = function->first_block; b; b = b->next)
            add_merges(&edges, b);
    }
    if (!pm_graph_build(&cfg->structural, cfg->count, edges.from, edges.to, edges.count, arena) ||
        !pm_graph_order(&cfg->flow, 0, cfg->order, &cfg->order_count, cfg->order_of, arena))
        return NULL;
    return cfg;
}

static bool words_equal(const uint32_t *a, const uint32_t *b, size_t count)
{
    return count == 0 || memcmp(a, b, count * sizeof(*a)) == 0;
}

static bool graph_equal(const struct pm_graph *a, const struct pm_graph *b)
{
    return a->count == b->count &&
           words_equal(a->successor_start, b->successor_start, (size_t)a->count + 1) &&
           words_equal(a->predecessor_start, b->predecessor_start, (size_t)a->count + 1) &&
           words_equal(a->successors, b->successors, a->successor_start[a->count]) &&
           words_equal(a->predecessors, b->predecessors, a->predecessor_start[a->count]);
}

bool pm_cfg_equal(const struct pm_cfg *a, const struct pm_cfg *b)
{
    return a->count == b->count &&
           memcmp(a->blocks, b->blocks, a->count * sizeof(struct pm_ir_block *)) == 0 &&
           a->order_count == b->order_count && words_equal(a->order, b->order, a->order_count) &&
           words_equal(a->order_of, b->order_of, a->count) && graph_equal(&a->flow, &b->flow) &&
           graph_equal(&a->structural, &b->structural);
}
