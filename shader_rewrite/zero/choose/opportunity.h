/*
 * What specializing for one candidate offers: where its region begins and ends, and what that is
 * expected to save. AZP's region begins with the candidate and goes as far as S differs from R
 * (3.3.2, "Region refinement").
 *
 * Beyond AZP, fit_regions: equation 6 weighs what is saved against the whole region and its blocks,
 * so that a far use of a value can cost a candidate what its other uses are worth, and blocks
 * between a value and its first use are there twice for nothing. So the places of the chain where S
 * may begin and end are estimated too, and of those that may be taken and save nearly what the best
 * of them does, the one with the fewest blocks is chosen. hoist_across: so are regions whose check
 * is in an earlier block (hoist.h).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/choose/beyond.h"
#include "shader_rewrite/zero/choose/estimate.h"

/* The extents of a candidate's regions that go as far as they may: its own first, then those whose
 * check is in an earlier block of the chain, as far as what the check needs may be ready there. */
enum { PM_ZERO_MOST_EXTENTS = 4 };
struct pm_zero_extents {
    struct pm_zero_extent extents[PM_ZERO_MOST_EXTENTS];
    uint32_t count;
};
void pm_zero_extents_all(const struct pm_zero_round *round,
                         const struct pm_zero_candidate *candidate,
                         struct pm_zero_extents *extents);

/* What an estimate must be above to be taken. */
struct pm_zero_bars {
    double least_saving; /* cycles */
    bool none;           /* anything is taken */
};

/* Why it is not taken; NULL: it is. */
const char *pm_zero_judge(const struct pm_zero_bars *bars, const struct pm_zero_estimate *estimate);

struct pm_zero_opportunity {
    struct pm_zero_estimate estimate;
    struct pm_zero_extent extent;
    bool estimated;     /* there is a region, and an estimate */
    const char *reason; /* why it cannot or should not be taken; NULL: it may */
};

/* The best of a candidate. The module stays as it is. round->failed: out of memory. */
struct pm_zero_opportunity pm_zero_opportunity_find(struct pm_zero_round *round,
                                                    const struct pm_zero_candidate *candidate,
                                                    double probability,
                                                    const struct pm_zero_bars *bars,
                                                    const struct pm_zero_beyond *beyond);

/* The region of the opportunity, ready for pm_zero_transform, with what later rounds may leave out
 * for the values that are wanted (by id) as far as that can be transformed too. false:
 * region->reason. */
bool pm_zero_opportunity_region(struct pm_zero_round *round,
                                const struct pm_zero_candidate *candidate,
                                const struct pm_zero_opportunity *opportunity, const bool *wanted,
                                struct pm_zero_region *region);
