#include "shader_rewrite/analysis/analysis_weights.h"

#include <math.h>

/* How often a block runs, where nothing says it: this many times for each loop around it, and this
 * often for each selection. */
static const double loop_runs = 8, branch_share = 0.5;

/* What a block's weight is to its immediate dominator's, by the structure: as many loops more or
 * fewer around it, and whether it is one way of a branch. */
static double ratio(const struct pm_cfg *cfg, const struct pm_structure *structure,
                    const struct pm_loops *loops, uint32_t block, uint32_t dominator)
{
    uint32_t inner = loops->loop_of[block], outer = loops->loop_of[dominator];
    uint32_t depth = inner == PM_NO_LOOP ? 0 : loops->loops[inner].depth;
    uint32_t above = outer == PM_NO_LOOP ? 0 : loops->loops[outer].depth;
    double r = pow(loop_runs, (double)depth - (double)above);
    const struct pm_ir_instr *merge = pm_ir_merge(cfg->blocks[dominator]);
    bool selects = merge && merge->opcode == SpvOpSelectionMerge;
    uint32_t c = structure->innermost[block];
    bool inside =
        selects && pm_ir_block_of(merge->operands[0].def)->index != block && c != PM_NO_CONSTRUCT;
    return inside ? r * branch_share : r;
}

void pm_block_weights(const struct pm_ir_function *function, const double *known, double *weights)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_dominators *d = pm_dominators(function);
    for (uint32_t b = 0; b < cfg->count; b++)
        weights[b] = 0;
    for (uint32_t i = 0; i < d->tree_count; i++) {
        uint32_t b = d->preorder[i], above = d->parent[b];
        if (known && isfinite(known[b]))
            weights[b] = known[b] > 0 ? known[b] : 0;
        else if (above == PM_NO_BLOCK)
            weights[b] = 1;
        else
            weights[b] =
                weights[above] * ratio(cfg, pm_structure(function), pm_loops(function), b, above);
    }
}
