#include "shader_rewrite/blocks/block_profile.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* One number of a measure, at its offset in struct pm_ratio, of all points. Of how many subgroups
 * enter all or none: where some are not known, what is saved cannot be held against the whole. */
static double *numbers(const struct pm_shader_estimates *estimates, unsigned measure, size_t offset)
{
    const bool known =
        measure != PM_MEASURE_SUBGROUPS || pm_blocks_weighed_by(estimates) == PM_MEASURE_SUBGROUPS;
    double *values = malloc((estimates->space + 1u) * sizeof(*values));
    for (uint32_t i = 0; values && i < estimates->space; i++) {
        const struct pm_ratio *ratio = &estimates->points[i].measures[measure];
        values[i] = known && ratio->clusters > 0 ? *(const double *)((const char *)ratio + offset)
                                                 : (double)NAN;
    }
    return values;
}

bool pm_block_profile_init(struct pm_block_profile *profile,
                           const struct pm_shader_estimates *estimates)
{
    const size_t ratio = offsetof(struct pm_ratio, ratio);
    *profile = (struct pm_block_profile){
        .frequency = numbers(estimates, PM_MEASURE_FREQUENCY, ratio),
        .low = numbers(estimates, PM_MEASURE_FREQUENCY, offsetof(struct pm_ratio, ratio_low)),
        .high = numbers(estimates, PM_MEASURE_FREQUENCY, offsetof(struct pm_ratio, ratio_high)),
        .uniform = numbers(estimates, PM_MEASURE_UNIFORM, ratio),
        .subgroups = numbers(estimates, PM_MEASURE_SUBGROUPS, ratio),
        .block_count = estimates->space,
    };
    if (profile->frequency && profile->low && profile->high && profile->uniform &&
        profile->subgroups)
        return true;
    pm_block_profile_finish(profile);
    return false;
}

bool pm_block_profile_add_turns(struct pm_block_profile *profile,
                                const struct pm_shader_estimates *estimates)
{
    const size_t ratio = offsetof(struct pm_ratio, ratio);
    profile->reached = numbers(estimates, PM_MEASURE_FREQUENCY, ratio);
    profile->reached_low =
        numbers(estimates, PM_MEASURE_FREQUENCY, offsetof(struct pm_ratio, ratio_low));
    profile->reached_high =
        numbers(estimates, PM_MEASURE_FREQUENCY, offsetof(struct pm_ratio, ratio_high));
    profile->reached_uniform = numbers(estimates, PM_MEASURE_UNIFORM, ratio);
    profile->turn_count = estimates->space;
    return profile->reached && profile->reached_low && profile->reached_high &&
           profile->reached_uniform;
}

void pm_block_profile_finish(struct pm_block_profile *profile)
{
    free((void *)profile->frequency);
    free((void *)profile->low);
    free((void *)profile->high);
    free((void *)profile->uniform);
    free((void *)profile->subgroups);
    free((void *)profile->reached);
    free((void *)profile->reached_low);
    free((void *)profile->reached_high);
    free((void *)profile->reached_uniform);
    *profile = (struct pm_block_profile){0};
}
