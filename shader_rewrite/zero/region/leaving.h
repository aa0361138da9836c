/*
 * What leaves a region: values that it writes and that are used behind it, where S and R meet.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

/* Whether values of this type may be operands of an OpPhi: pointers and images may not, nor numbers
 * that the module may only load, store and convert. */
bool pm_zero_may_be_phi(const struct pm_zero_round *round, const struct pm_ir_instr *type);

/* Whether a user of the region's values is not in it: behind it, as nothing before it can be. What
 * a block that nothing leads to uses is not behind anything: it stays the original's, as such a
 * block may stand before the one where S and R meet. (Blocks made since the round began have the
 * first block's index.) */
static inline bool pm_zero_is_behind(const struct pm_zero_round *round,
                                     const struct pm_zero_region *region,
                                     const struct pm_ir_instr *user)
{
    return user->block && !pm_zero_in_region(region, user) &&
           pm_cfg_reachable(round->cfg, user->block->index);
}

/* Whether all that leaves the region can meet at a merge block: what may not be in an OpPhi
 * (pointers, images, samplers, narrow numbers) must be cheap to make once more. false:
 * region->reason says so. */
bool pm_zero_can_transform(struct pm_zero_round *round, struct pm_zero_region *region);
