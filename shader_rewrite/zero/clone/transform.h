/*
 * The transformation (AZP 3.3.3): the region's code is there twice, specialized and as it was, and
 * a branch on the candidate's check chooses.
 *
 *     check's block: what stays; check; branch to S or R
 *     S: the region without what is folded or dead, with new ids
 *     R: the region, with its ids
 *     merge block: OpPhi for what is used behind the region; the rest of the region's last block
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/instrument/candidate_check.h"
#include "shader_rewrite/zero/region/region.h"

struct pm_zero_transformed {
    struct pm_ir_block *check, *rest, *merge; /* with the check; R's first; where S and R meet */
};

/* Changes the module; afterwards nothing of the round's analyses holds. A region that was
 * propagated through, cleaned, refined and found possible. false: the module failed. */
bool pm_zero_transform(struct pm_zero_round *round, struct pm_zero_region *region,
                       const struct pm_candidate_check *check, struct pm_zero_transformed *out);
