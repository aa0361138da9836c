/*
 * Where a candidate's check can be (AZP 3.3.2, "Versioning check hoisting").
 *
 * Within its block the check is hoisted to where what it needs is ready: the candidate's backward
 * slice stays before it. In a later block of the chain nothing need to stay, as the candidate is
 * complete. Beyond AZP, the check may be in an earlier block of the chain, at the same level of the
 * structure, so that the same lanes come through but for those that end in between: the slice is
 * moved there when it is plain arithmetic, which needs nothing from in between, reads no memory, no
 * other lane and cannot trap. S can then do without what is in between.
 *
 * Nothing here changes the module but the `mark` of instructions.
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

enum { PM_ZERO_MOST_HOISTED = 64 };

/* Finds the candidate's values, and the block in which all are there. false: there is none. */
bool pm_zero_hoist_find(const struct pm_zero_round *round, struct pm_zero_region *region,
                        const struct pm_ir_block **complete);

/* The last of the candidate's values in a block; NULL: it has none there. */
struct pm_ir_instr *pm_zero_hoist_last(const struct pm_zero_round *round,
                                       const struct pm_zero_region *region,
                                       const struct pm_ir_block *block);

/* Marks what must stay before a check in `block`, and lists what must move there. false: that is
 * not possible. */
bool pm_zero_hoist(struct pm_zero_round *round, struct pm_zero_region *region,
                   struct pm_ir_block *block);

/* The block of the chain before this one; PM_NO_BLOCK: none, or behind a loop. */
uint32_t pm_zero_hoist_above(const struct pm_zero_round *round, uint32_t block);
