#include "shader_rewrite/zero/zero_profile.h"

#include <math.h>
#include <stdlib.h>

/* One measure of all points; `unknown` where nothing was counted. */
static double *ratios(const struct pm_shader_estimates *estimates, unsigned measure, double unknown)
{
    double *values = malloc((estimates->space ? estimates->space : 1) * sizeof(*values));
    for (uint32_t i = 0; values && i < estimates->space; i++) {
        const struct pm_ratio *ratio = &estimates->points[i].measures[measure];
        values[i] = ratio->clusters > 0 ? ratio->ratio : unknown;
    }
    return values;
}

/* What is likely is so more often than not: in the middle of what that can be. */
#define LIKELY 0.75
#define UNLIKELY 0.25

static double *by_levels(const struct pm_shader_estimates *zeros)
{
    static const double shares[] = {[PM_PROVISIONAL_UNKNOWN] = (double)NAN,
                                    [PM_PROVISIONAL_LIKELY] = LIKELY,
                                    [PM_PROVISIONAL_UNLIKELY] = UNLIKELY};
    double *values = malloc((zeros->space ? zeros->space : 1) * sizeof(*values));
    for (uint32_t i = 0; values && i < zeros->space; i++)
        values[i] = shares[zeros->provisional[i]];
    return values;
}

bool pm_zero_profile_init(struct pm_zero_profile *profile, const struct pm_shader_estimates *zeros,
                          const struct pm_shader_estimates *blocks)
{
    const bool weighed = blocks && blocks->points;
    *profile = (struct pm_zero_profile){
        .zero = zeros->points ? ratios(zeros, PM_MEASURE_ZERO, NAN) : by_levels(zeros),
        .writes = zeros->points ? ratios(zeros, PM_MEASURE_WRITES, 0) : NULL,
        .candidate_count = zeros->space,
        .blocks = weighed ? ratios(blocks, pm_blocks_weighed_by(blocks), 0) : NULL,
        .block_count = weighed ? blocks->space : 0,
    };
    if (profile->zero && (profile->writes || !zeros->points) && (profile->blocks || !weighed))
        return true;
    pm_zero_profile_finish(profile);
    return false;
}

void pm_zero_profile_finish(struct pm_zero_profile *profile)
{
    free((void *)profile->zero);
    free((void *)profile->writes);
    free((void *)profile->blocks);
    *profile = (struct pm_zero_profile){0};
}
