/*
 * Writes of memory that change nothing in S: `o += 0` stores what it loaded, `atomicAdd(p, 0)` adds
 * nothing (silent stores: Leobas and Pereira, OOPSLA 2020). They can be left out only where nobody
 * could tell (Vulkan memory model):
 *
 * - A store writes back what was loaded from the same pointer in the same block, with neither a
 *   write of that kind of memory nor a barrier in between. Whatever another invocation writes there
 *   meanwhile races with it in the original. Nothing may be volatile. Where memory is coherent, or
 *   the module follows the Vulkan memory model, a store makes what was written before available,
 *   so it stays.
 * - An atomic operation is relaxed and its result is not used. One that is not orders other memory.
 *
 * Only bits that stay the same count: a float -0 + 0 is +0, and such a sum is no name of what was
 * loaded (fold/folding.h) where that matters, as in memory it does.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/zero/region/region.h"

/* Whether S can do without an instruction of the region that writes memory, but for its result.
 * Once the region was propagated through. */
bool pm_zero_is_silent(const struct pm_zero_round *round, const struct pm_zero_region *region,
                       const struct pm_ir_instr *instr);

/* Whether there is one in the region. */
bool pm_zero_has_silent(const struct pm_zero_round *round, const struct pm_zero_region *region);
