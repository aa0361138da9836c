#include "tools/report/report_costs.h"
#include "tools/stored/shader_heat.h"
#include <string.h>

struct filling {
    struct pm_report_costs *costs;
    const struct pm_shader_estimates *estimates;
    unsigned by; /* pm_blocks_weighed_by */
};

static unsigned weighed_by(const struct pm_shader_estimates *estimates)
{
    return estimates->points ? pm_blocks_weighed_by(estimates) : PM_MEASURE_SUBGROUPS;
}

static void take(void *user, uint32_t block, uint32_t place, double cycles)
{
    const struct filling *f = user;
    if (place >= f->costs->word_count)
        return;
    const struct pm_point_estimate *estimates = f->estimates->points;
    const double weight = estimates ? pm_heat_weight(&estimates[block], f->by) : 0;
    f->costs->block[place] = block;
    f->costs->cycles[place] = cycles * weight;
    f->costs->block_cycles[block] += cycles;
    f->costs->total += cycles * weight;
}

bool pm_report_costs_build(const uint32_t *words, size_t count,
                           const struct pm_block_points *points,
                           const struct pm_shader_estimates *estimates, uint32_t vendor,
                           struct pm_arena *arena, struct pm_report_costs *costs,
                           struct pm_error *error)
{
    *costs = (struct pm_report_costs){
        .block = pm_arena_alloc(arena, count * sizeof(*costs->block)),
        .cycles = pm_arena_zalloc(arena, count, sizeof(*costs->cycles)),
        .block_cycles = pm_arena_zalloc(arena, points->count + 1u, sizeof(*costs->block_cycles)),
        .word_count = count,
    };
    if (!costs->block || !costs->cycles || !costs->block_cycles)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    memset(costs->block, 0xff, count * sizeof(*costs->block)); /* PM_NO_BLOCK */
    struct filling filling = {costs, estimates, weighed_by(estimates)};
    return pm_heat_each(words, count, points, vendor, take, &filling, error);
}

double pm_report_cost_share(const struct pm_report_costs *costs, size_t place)
{
    return costs->total > 0 && place < costs->word_count ? costs->cycles[place] / costs->total : 0;
}

void pm_report_costs_blocks(const struct pm_report_costs *costs, struct pm_report_shader *shader)
{
    const struct pm_point_estimate *points = shader->estimates->points;
    const unsigned by = weighed_by(shader->estimates);
    for (uint32_t i = 0; i < shader->block_count; i++) {
        struct pm_report_block *block = &shader->blocks[i];
        block->cycles = costs->block_cycles[i];
        block->cost = points && costs->total > 0
                          ? block->cycles * pm_heat_weight(&points[i], by) / costs->total
                          : 0;
    }
    shader->cycles = costs->total;
    shader->heat = costs->total * pm_heat_subgroups(shader->estimates);
}
