#include "shader_rewrite/zero/choose/estimate.h"

#include <math.h>

/* What the end of a part costs in R. */
static double end_cost(const struct pm_zero_round *round, const struct pm_zero_part *part)
{
    const struct pm_ir_instr *end = pm_ir_terminator(round->cfg->blocks[part->block]);
    return part->whole ? pm_costs_instr(round->costs, &round->permission, end) : 0;
}

static void add_part(const struct pm_zero_round *round, const struct pm_zero_region *region,
                     const struct pm_zero_part *part, struct pm_zero_estimate *e)
{
    double r = end_cost(round, part), s = 0;
    if (part->reached && pm_zero_way_in_copy(round, region, part) == PM_NO_BLOCK)
        s = r;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct pm_ir_instr *instr = part->instrs[i];
        double cost = pm_costs_instr(round->costs, &round->permission, instr);
        r += cost;
        if (!part->reached || pm_zero_is_not_in_copy(round, region, instr))
            e->memory_killed += pm_cost_is_memory(pm_cost_class(&round->permission, instr));
        else
            s += cost;
    }
    double weight = round->weights[part->block];
    e->t_r += weight * r;
    e->t_s += weight * s;
    e->blocks += part->reached && !part->joined;
}

/* One check: what is uniform is compared, and a scalar branch. */
static double check_cost(const struct pm_zero_round *round, const struct pm_zero_region *region)
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
    e.t_check = round->weights[region->parts[0].block] * check_cost(round, region);
    double t_azp = probability * e.t_s + (1 - probability) * e.t_r + e.t_check;
    e.saved = e.t_r - t_azp;
    e.su = e.t_r > 0 ? (e.t_r - (e.t_s + e.t_check)) / e.t_r : 0;
    e.threshold = 1 - exp(-(double)e.blocks / (50 + 10 * e.memory_killed));
    return e;
}

double pm_zero_estimate_shader(const struct pm_zero_round *round)
{
    double cycles = 0;
    for (uint32_t b = 0; b < round->cfg->count; b++) {
        double block = 0;
        for (const struct pm_ir_instr *i = round->cfg->blocks[b]->body.first; i; i = i->next)
            block += pm_costs_instr(round->costs, &round->permission, i);
        cycles += round->weights[b] * block;
    }
    return cycles;
}
