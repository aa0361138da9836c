#include "shader_rewrite/zero/choose/estimate.h"

#include <math.h>

/* What the end of a part costs in R. */
static double end_cost(const struct pm_zero_round *round, const struct pm_zero_part *part)
{
    const struct pm_ir_instr *end = pm_ir_terminator(round->cfg->blocks[part->block]);
    return part->whole ? pm_costs_instr(round->costs, &round->permission, end) : 0;
}

struct pm_zero_part_costs pm_zero_estimate_part(const struct pm_zero_round *round,
                                                const struct pm_zero_region *region,
                                                const struct pm_zero_part *part)
{
    struct pm_zero_part_costs costs = {.r = end_cost(round, part)};
    if (part->reached && pm_zero_way_in_copy(round, region, part) == PM_NO_BLOCK)
        costs.s = costs.r;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct pm_ir_instr *instr = part->instrs[i];
        double cost = pm_costs_instr(round->costs, &round->permission, instr);
        costs.r += cost;
        if (!part->reached || pm_zero_is_not_in_copy(round, region, instr))
            costs.memory_killed += pm_cost_is_memory(pm_cost_class(&round->permission, instr));
        else
            costs.s += cost;
    }
    return costs;
}

static void add_part(const struct pm_zero_round *round, const struct pm_zero_region *region,
                     const struct pm_zero_part *part, struct pm_zero_estimate *e)
{
    struct pm_zero_part_costs costs = pm_zero_estimate_part(round, region, part);
    double weight = round->weights[part->block];
    e->t_r += weight * costs.r;
    e->t_s += weight * costs.s;
    e->memory_killed += costs.memory_killed;
    e->blocks += part->reached && !part->joined;
}

double pm_zero_estimate_check(const struct pm_zero_round *round,
                              const struct pm_zero_region *region)
{
    const struct pm_zero_candidate *c = region->candidate;
    if (region->uniform)
        return round->costs->cycles[PM_COST_BRANCH] +
               c->value_count * c->components * round->costs->cycles[PM_COST_ALU];
    return round->costs->cycles[PM_COST_CHECK] +
           (region->quad ? round->costs->cycles[PM_COST_QUAD] : 0);
}

struct pm_zero_estimate pm_zero_estimate_region(const struct pm_zero_round *round,
                                                const struct pm_zero_region *region,
                                                double probability)
{
    struct pm_zero_estimate e = {.probability = probability};
    for (uint32_t i = 0; i < region->count; i++)
        if (pm_cfg_reachable(round->cfg, region->parts[i].block))
            add_part(round, region, &region->parts[i], &e);
    e.t_check = round->weights[region->parts[0].block] * pm_zero_estimate_check(round, region);
    double t_azp = probability * e.t_s + (1 - probability) * e.t_r + e.t_check;
    e.saved = e.t_r - t_azp;
    e.su = e.t_r > 0 ? (e.t_r - (e.t_s + e.t_check)) / e.t_r : 0;
    e.threshold = 1 - exp(-(double)e.blocks / (50 + 10 * e.memory_killed));
    return e;
}

double pm_zero_estimate_block(const struct pm_zero_round *round, uint32_t block)
{
    double cycles = 0;
    for (const struct pm_ir_instr *i = round->cfg->blocks[block]->body.first; i; i = i->next)
        cycles += pm_costs_instr(round->costs, &round->permission, i);
    return cycles;
}

double pm_zero_estimate_shader(const struct pm_zero_round *round)
{
    double cycles = 0;
    for (uint32_t b = 0; b < round->cfg->count; b++)
        cycles += round->weights[b] * pm_zero_estimate_block(round, b);
    return cycles;
}
