/*
 * How often the blocks of a shader run while specialize_zero changes it, per subgroup that enters:
 * by the profile, else by the structure (analysis_weights.h). Blocks are told by their labels,
 * which stay when a transform puts new ones between them.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/points/points.h"
#include "shader_rewrite/zero/clone/transform.h"
#include "shader_rewrite/zero/zero.h"

struct pm_zero_weights {
    double *by_label; /* by id of a block's label; NAN: not known; owned */
    uint32_t count;
};

/* What the profile says of blocks: itself, else of the candidates in them (zero.h). The weights are
 * to be finished, also on failure: PM_ERROR_MEMORY. */
bool pm_zero_weights_init(struct pm_zero_weights *weights, const struct pm_ir_module *module,
                          const struct pm_zero_profile *profile,
                          const struct pm_zero_points *points, const struct pm_block_points *blocks,
                          struct pm_error *error);
void pm_zero_weights_finish(struct pm_zero_weights *weights);

/* Gives a round its round->weights: from now on those of all its blocks are known. */
bool pm_zero_weights_of_round(struct pm_zero_weights *weights, struct pm_zero_round *round,
                              struct pm_error *error);

/* Sets those of the blocks that a transform made of the region, whose S runs with this probability.
 */
bool pm_zero_weights_split(struct pm_zero_weights *weights, const struct pm_zero_round *round,
                           const struct pm_zero_region *region,
                           const struct pm_zero_transformed *made, double probability,
                           struct pm_error *error);
