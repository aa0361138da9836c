#include "shader_rewrite/constants/constant_estimate.h"

#include "shader_rewrite/analysis/analysis_weights.h"
#include "shader_rewrite/zero/choose/estimate.h"

#include <math.h>

/* Code that is never come to costs little, but not nothing: compilers run small branches both ways,
 * and registers are set aside for all of it. So much of it counts, once each time that it is
 * passed.
 */
static const double passed_share = 0.25;

/* How often code is passed: as the nearest block above it that runs. */
static double passes(const struct pm_zero_round *round, const struct pm_zero_region *region,
                     const double *weights, uint32_t block)
{
    const struct pm_dominators *d = pm_dominators(round->function);
    uint32_t above = d->parent[block];
    while (above != PM_NO_BLOCK && !region->parts[pm_zero_part_of(round, region, above)].executable)
        above = d->parent[above];
    return above == PM_NO_BLOCK ? 0 : fmin(weights[above], weights[block]);
}

/* The way that a branch always takes runs as often as the branch. */
static void follow_branch(const struct pm_zero_round *round, const struct pm_zero_part *part,
                          double *weights)
{
    const struct pm_dominators *d = pm_dominators(round->function);
    const struct pm_ir_instr *merge = pm_ir_merge(round->cfg->blocks[part->block]);
    if (part->folded == PM_NO_BLOCK || !merge || merge->opcode != SpvOpSelectionMerge)
        return;
    const uint32_t to = pm_ir_block_of(merge->operands[0].def)->index;
    if (part->folded == to || !(weights[part->folded] > 0))
        return;
    const double more = weights[part->block] / weights[part->folded];
    for (uint32_t b = 0; b < round->cfg->count; b++)
        if (pm_dominates(d, part->folded, b) && !pm_dominates(d, to, b))
            weights[b] *= more;
}

struct pm_constant_estimate pm_constant_estimate_of(struct pm_zero_round *round,
                                                    const struct pm_zero_region *region)
{
    struct pm_constant_estimate e = {0};
    double *weights = pm_arena_zalloc(round->arena, round->cfg->count, sizeof(*weights));
    if (!weights) {
        round->failed = true;
        return e;
    }
    pm_block_weights(round->function, NULL, weights);
    for (uint32_t i = 0; i < region->count; i++)
        if (region->parts[i].executable)
            follow_branch(round, &region->parts[i], weights);
    for (uint32_t i = 0; i < region->count; i++) {
        const struct pm_zero_part *part = &region->parts[i];
        const struct pm_zero_part_costs costs = pm_zero_estimate_part(round, region, part);
        if (!part->executable) {
            e.before += passed_share * passes(round, region, weights, part->block) * costs.r;
            continue;
        }
        e.before += weights[part->block] * costs.r;
        e.after += weights[part->block] * costs.s;
    }
    return e;
}

double pm_constant_estimate_guard(const struct pm_zero_round *round, uint32_t words)
{
    const double *cycles = round->costs->cycles;
    return words ? cycles[PM_COST_BRANCH] + 5 * cycles[PM_COST_ALU] +
                       words * (cycles[PM_COST_UNIFORM] + 2 * cycles[PM_COST_ALU])
                 : 0;
}
