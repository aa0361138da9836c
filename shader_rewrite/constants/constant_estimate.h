/*
 * What knowing words is expected to save, in cycles per subgroup that enters the shader.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

struct pm_constant_estimate {
    double before, after; /* where the words have the values */
};

/* For the whole function, propagated through and cleaned, by round->costs and how often blocks run
 * by the structure; a branch that is known goes its one way always. PM_ANALYSIS_DOMINATORS and
 * PM_ANALYSIS_LOOPS are required. round->failed: out of memory. */
struct pm_constant_estimate pm_constant_estimate_of(struct pm_zero_round *round,
                                                    const struct pm_zero_region *region);

/* What a guard of so many words costs. */
double pm_constant_estimate_guard(const struct pm_zero_round *round, uint32_t words);
