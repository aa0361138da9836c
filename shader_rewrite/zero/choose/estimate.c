#include "shader_rewrite/zero/choose/estimate.h"

#include <math.h>

/* What the end of a part costs in R. */
static double end_cost(const struct pm_zero_work *w, const struct pm_zero_part *part)
{
    const struct pm_ir_instr *end = pm_ir_terminator(w->cfg->blocks[part->block]);
    return part->whole ? pm_costs_instr(w->costs, &w->permission, end) : 0;
}

static void add_part(const struct pm_zero_work *w, const struct pm_zero_region *region,
                     const struct pm_zero_part *part, struct pm_zero_estimate *e)
{
    double r = end_cost(w, part), s = 0;
    if (part->reached && pm_zero_next(w, region, part) == PM_NO_BLOCK)
        s = r;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct pm_ir_instr *instr = part->instrs[i];
        double cost = pm_costs_instr(w->costs, &w->permission, instr);
        r += cost;
        if (!part->reached || pm_zero_is_affected(w, region, instr))
            e->memory_killed += pm_cost_is_memory(pm_cost_class(&w->permission, instr));
        else
            s += cost;
    }
    double weight = w->weights[part->block];
    e->t_r += weight * r;
    e->t_s += weight * s;
    e->blocks += part->reached && !part->joined;
}

struct pm_zero_estimate pm_zero_estimate_region(const struct pm_zero_work *w,
                                                const struct pm_zero_region *region,
                                                double probability)
{
    struct pm_zero_estimate e = {.probability = probability};
    for (uint32_t i = 0; i < region->count; i++)
        if (pm_cfg_reachable(w->cfg, region->parts[i].block))
            add_part(w, region, &region->parts[i], &e);
    double check = w->costs->cycles[PM_COST_CHECK];
    if (region->quad)
        check += w->costs->cycles[PM_COST_QUAD];
    e.t_check = w->weights[region->parts[0].block] * check;
    double t_azp = probability * e.t_s + (1 - probability) * e.t_r + e.t_check;
    e.saved = e.t_r - t_azp;
    e.su = e.t_r > 0 ? (e.t_r - (e.t_s + e.t_check)) / e.t_r : 0;
    e.threshold = 1 - exp(-(double)e.blocks / (50 + 10 * e.memory_killed));
    return e;
}

double pm_zero_estimate_shader(const struct pm_zero_work *w)
{
    double cycles = 0;
    for (uint32_t b = 0; b < w->cfg->count; b++) {
        double block = 0;
        for (const struct pm_ir_instr *i = w->cfg->blocks[b]->body.first; i; i = i->next)
            block += pm_costs_instr(w->costs, &w->permission, i);
        cycles += w->weights[b] * block;
    }
    return cycles;
}

/* What a block's weight is to its immediate dominator's, by the structure: as many loops more or
 * fewer around it, and whether it is one way of a branch. */
static double ratio(const struct pm_cfg *cfg, const struct pm_structure *structure,
                    const struct pm_loops *loops, uint32_t block, uint32_t dominator)
{
    uint32_t inner = loops->loop_of[block], outer = loops->loop_of[dominator];
    uint32_t depth = inner == PM_NO_LOOP ? 0 : loops->loops[inner].depth;
    uint32_t above = outer == PM_NO_LOOP ? 0 : loops->loops[outer].depth;
    double r = pow(PM_COST_LOOP_RUNS, (double)depth - (double)above);
    const struct pm_ir_instr *merge = pm_ir_merge(cfg->blocks[dominator]);
    bool selects = merge && merge->opcode == SpvOpSelectionMerge;
    uint32_t c = structure->innermost[block];
    bool inside =
        selects && pm_ir_block_of(merge->operands[0].def)->index != block && c != PM_NO_CONSTRUCT;
    return inside ? r * PM_COST_BRANCH_SHARE : r;
}

bool pm_zero_weights(struct pm_ir_function *function, const double *known, double *weights,
                     struct pm_error *error)
{
    if (!pm_analysis_require(function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, error))
        return false;
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
    return true;
}
