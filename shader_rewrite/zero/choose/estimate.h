/*
 * What specializing a region is expected to save (AZP 3.3.2, equations 5 and 6, as HAZARDS 6 reads
 * them), in cycles per subgroup that enters the shader.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

struct pm_zero_estimate {
    double probability; /* P(zero) */
    double t_r, t_s;    /* T_R and T_S: the region as it is, and specialized */
    double t_check;
    double saved;         /* T_R - T_AZP */
    double su, threshold; /* equation 6: the share saved, and what it must be above */
    double memory_killed; /* MemKilled: memory operations of R that S has not */
    uint32_t blocks;      /* |S| */
};

/* For a region that was propagated through, cleaned and refined. */
struct pm_zero_estimate pm_zero_estimate_region(const struct pm_zero_round *round,
                                                const struct pm_zero_region *region,
                                                double probability);

/* Of one execution, without the block's weight: cycles of a part in R and in S, and how many memory
 * operations S has not. */
struct pm_zero_part_costs {
    double r, s, memory_killed;
};
struct pm_zero_part_costs pm_zero_estimate_part(const struct pm_zero_round *round,
                                                const struct pm_zero_region *region,
                                                const struct pm_zero_part *part);

/* Likewise a region's check: what is uniform is compared, and a scalar branch. */
double pm_zero_estimate_check(const struct pm_zero_round *round,
                              const struct pm_zero_region *region);

/* Likewise a block as it is. */
double pm_zero_estimate_block(const struct pm_zero_round *round, uint32_t block);

/* What the whole shader costs as it is. */
double pm_zero_estimate_shader(const struct pm_zero_round *round);
