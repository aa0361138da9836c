/* Block layout (the cooperative paper, 4.1): rare blocks come last, as far as dominators let them
 * (SPIR-V 2.4 wants a block before those that it dominates), and branches get weights. */
#include "shader_rewrite/blocks/block_facts.h"

#include "shader_rewrite/analysis/analysis_flow.h"
#include "shader_rewrite/ir/ir_builder.h"
#include <math.h>

static const char pass_name[] = "optimize_layout";

/* ---- order ---- */

/* Whether a block may come now: what dominates it, structurally too, is there. */
static bool may_come(const struct pm_dominators *flow, const struct pm_dominators *structural,
                     const bool *there, uint32_t block)
{
    const uint32_t a = flow->parent[block], b = structural->parent[block];
    return (a == PM_NO_BLOCK || there[a]) && (b == PM_NO_BLOCK || there[b]);
}

/* The first by the old order of those that may come and are not rare, else of those that may. */
static uint32_t choose(const struct pm_ir_function *function, const bool *cold, const bool *there,
                       uint32_t count)
{
    const struct pm_dominators *flow = pm_dominators(function);
    const struct pm_dominators *structural = pm_structure(function)->dominators;
    uint32_t rare = PM_NO_BLOCK;
    for (uint32_t b = 0; b < count; b++) {
        if (there[b] || !may_come(flow, structural, there, b))
            continue;
        if (!cold[b])
            return b;
        rare = rare == PM_NO_BLOCK ? b : rare;
    }
    return rare;
}

/* How many blocks come elsewhere. Quadratic; a shader of more blocks keeps its order. */
enum { MOST_BLOCKS = 2048 };

static bool reorder(struct pm_blocks *blocks, bool *failed)
{
    struct pm_ir_function *function = blocks->function;
    const struct pm_cfg *cfg = pm_cfg(function);
    bool *cold = pm_arena_zalloc(blocks->arena, cfg->count, sizeof(*cold));
    bool *there = pm_arena_zalloc(blocks->arena, cfg->count, sizeof(*there));
    bool moved = false;
    *failed = !cold || !there;
    if (*failed || cfg->count > MOST_BLOCKS)
        return false;
    for (uint32_t b = 1; b < cfg->count; b++)
        cold[b] = pm_blocks_is_cold(blocks, cfg->blocks[b], cfg->blocks[0]);
    struct pm_ir_block *last = NULL;
    for (uint32_t n = 0; n < cfg->count; n++) {
        const uint32_t b = choose(function, cold, there, cfg->count);
        if (b == PM_NO_BLOCK)
            break;
        there[b] = true;
        struct pm_ir_block *block = cfg->blocks[b];
        if (last && block != last->next) {
            pm_ir_block_move(block, last);
            moved = true;
        }
        last = block;
    }
    return moved;
}

/* ---- weights ---- */

/* How likely the rarer of two ways is: powers of two, of three kinds alone. What a shader's key is
 * must not follow the noise of its counts. The bounds are as large as those of other passes, which
 * compare other counts with them: that of rare blocks, and that from which on optimize_flatten
 * takes two ways for balanced. */
enum { RARE = 256, UNLIKELY = 16, BALANCED = 1 };
static const double balanced_share = 0.25;

/* The weight of the more likely way, where that of the other one is 1. */
static uint32_t weight_of(const struct pm_blocks *blocks, double share)
{
    return share < blocks->cold_share ? RARE : share < balanced_share ? UNLIKELY : BALANCED;
}

/* Whether the branch says so then. */
static bool put_weights(struct pm_ir_module *module, struct pm_ir_instr *branch, uint32_t yes,
                        uint32_t no)
{
    if (branch->operand_count == 3 && !pm_ir_operands_insert(module, branch, 3, 2))
        return false;
    if (branch->operand_count != 5)
        return false;
    pm_ir_operand_set_word(&branch->operands[3], yes);
    pm_ir_operand_set_word(&branch->operands[4], no);
    return true;
}

/* Whether the branch has weights now that it had not, and why, or why not. */
static bool weigh(const struct pm_blocks *blocks, struct pm_ir_instr *branch, double yes, double no,
                  const char **reason)
{
    *reason = "the counts of blocks do not say them";
    if (!(yes + no > 0) || !isfinite(yes + no))
        return false;
    const uint32_t most = weight_of(blocks, fmin(yes, no) / (yes + no));
    const uint32_t weights[] = {yes > no ? most : 1, no > yes ? most : 1};
    *reason = "both ways are as likely";
    if (most == BALANCED && branch->operand_count == 3)
        return false;
    *reason = "the shader says so itself";
    if (branch->operand_count == 5 && pm_ir_operand_word(&branch->operands[3]) == weights[0] &&
        pm_ir_operand_word(&branch->operands[4]) == weights[1])
        return false;
    *reason = "the counts of blocks say them";
    return put_weights(blocks->module, branch, weights[0], weights[1]);
}

static double edge_to(const struct pm_graph *g, const double *edges, uint32_t from,
                      const struct pm_ir_def *label)
{
    const uint32_t to = pm_ir_block_of(label)->index;
    for (uint32_t s = g->successor_start[from]; s < g->successor_start[from + 1]; s++)
        if (g->successors[s] == to)
            return edges[s];
    return (double)NAN;
}

static bool weigh_all(struct pm_blocks *blocks)
{
    const struct pm_cfg *cfg = pm_cfg(blocks->function);
    double *counts = pm_arena_zalloc(blocks->arena, cfg->count, sizeof(*counts));
    double *edges =
        pm_arena_zalloc(blocks->arena, cfg->flow.successor_start[cfg->count] + 1u, sizeof(*edges));
    if (!counts || !edges)
        return false;
    for (uint32_t b = 0; b < cfg->count; b++)
        counts[b] = pm_blocks_numbers(blocks, cfg->blocks[b]).frequency;
    if (!pm_flow_edges(blocks->function, counts, edges, blocks->arena))
        return false;
    for (uint32_t b = 0; b < cfg->count; b++) {
        struct pm_ir_instr *end = pm_ir_terminator(cfg->blocks[b]);
        if (end->opcode != SpvOpBranchConditional || !pm_cfg_reachable(cfg, b) ||
            end->operands[1].def == end->operands[2].def)
            continue;
        const char *reason;
        const bool done = weigh(blocks, end, edge_to(&cfg->flow, edges, b, end->operands[1].def),
                                edge_to(&cfg->flow, edges, b, end->operands[2].def), &reason);
        pm_blocks_decide(blocks, pass_name, cfg->blocks[b], 0, done, "branch weights", reason);
    }
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_blocks *blocks = context;
    const uint32_t before = blocks->changes;
    bool failed = !weigh_all(blocks);
    (void)module;
    const bool moved = !failed && reorder(blocks, &failed);
    if (failed) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return PM_PASS_FAILED;
    }
    pm_blocks_decide(blocks, pass_name, blocks->function->first_block, 0, moved, "rare blocks last",
                     moved ? "there are some" : "they are, or there are none");
    return pm_pass_result_of(true, blocks->changes != before);
}

const struct pm_pass pm_pass_optimize_layout = {
    pass_name, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_STRUCTURE, 0, run};
