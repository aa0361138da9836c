/*
 * Which values of a loop decide a value that comes behind it without an OpPhi: as operands, and as
 * conditions of branches that choose in an OpPhi. Some drivers compute such a value again in every
 * turn of the loop, also for lanes that have left it. That is right as long as the lane alone
 * decides it, and no check that asks the lanes which are left (driver_bugs.c).
 *
 * Found once a round, in time proportional to the function's size times how deep it nests, and to
 * the branches above each way that leads to an OpPhi.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

struct pm_leaving_values {
    uint64_t *loops; /* by id: behind which of the loops around it; bit 0 is the outermost */
};

/* Dominators and loops are required. false: out of memory. */
bool pm_leaving_values_compute(struct pm_leaving_values *leaving, const struct pm_ir_module *module,
                               const struct pm_ir_function *function, struct pm_arena *arena);

/* Whether a value that was there then, of this loop, decides one that comes behind it so; true of
 * loops more than 64 deep. */
bool pm_leaving_values_has(const struct pm_leaving_values *leaving, const struct pm_loops *loops,
                           const struct pm_ir_def *def, uint32_t loop);

/* Whether a selection in a loop chooses what is used behind the loop. Drivers with
 * PM_QUIRK_CHOOSES_AGAIN (quirks.h) may choose that again for lanes that left before others: wrong,
 * but what the shader does there. What the selection says of flattening, a vote around it, or
 * what is in its sides changes it, so bits stay the same only where it is left as it is. */
bool pm_leaving_values_chosen_by(const struct pm_leaving_values *leaving,
                                 const struct pm_loops *loops, const struct pm_ir_block *header);

/* Whether any selection of the function does, or a branch that goes on or ends a turn early. */
bool pm_leaving_values_chosen(const struct pm_leaving_values *leaving,
                              const struct pm_ir_function *function);
