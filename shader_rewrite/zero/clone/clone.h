/*
 * Makes S: a copy of a region with new ids, of the blocks that S reaches and the instructions that
 * it needs, with constants for what is folded. Structured control flow stays: a branch that became
 * constant goes its one way, a construct with nothing left in it is skipped, loops stay loops.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

/* Builds S's blocks behind `after`; parts' and values' `copy` say what stands for what. The copy of
 * the region's last part, where S gets there, has no terminator yet. false: the module failed. */
bool pm_zero_clone(struct pm_zero_round *round, struct pm_zero_region *region,
                   struct pm_ir_block *after);

/* What stands in S for a value of the region or from before it. */
struct pm_ir_def *pm_zero_in_copy(struct pm_zero_round *round, struct pm_zero_region *region,
                                  struct pm_ir_def *def);
