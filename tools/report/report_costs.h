/* What each instruction of a module costs of all that the shader's sampled calls took
 * (shader_heat.h). */
#pragma once

#include "tools/report/report.h"

struct pm_report_costs {
    uint32_t *block; /* by place (ir_module.h): its block's point; PM_NO_BLOCK: it is in none */
    double *cycles;  /* by place: of a subgroup that enters the shader */
    size_t word_count;
    double *block_cycles; /* by point: of one run of the block */
    double total;         /* cycles of a subgroup that enters the shader */
};

/* points: of the words. The arena's. */
bool pm_report_costs_build(const uint32_t *words, size_t count,
                           const struct pm_block_points *points,
                           const struct pm_shader_estimates *estimates, uint32_t vendor,
                           struct pm_arena *arena, struct pm_report_costs *costs,
                           struct pm_error *error);

/* A place's share of all cycles, 0 to 1. */
double pm_report_cost_share(const struct pm_report_costs *costs, size_t place);

/* shader->cycles and heat, and its blocks'. */
void pm_report_costs_blocks(const struct pm_report_costs *costs, struct pm_report_shader *shader);
