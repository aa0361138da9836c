/*
 * The points of a block profile, on a module that was read already; points.h has the same for
 * words.
 *
 * Points are blocks of the entry point's own function. Canonicalization inlines every call; should
 * one remain, the blocks of the called function are no points: they have no number that two recipes
 * would agree on, and a block of theirs may run several times per invocation outside any loop. The
 * block that calls is counted like any other.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/points/points.h"

/* The function of the one entry point of a canonical module, and its stage. NULL on failure:
 * PM_ERROR_INPUT unless there is exactly one entry point; PM_ERROR_UNSUPPORTED for any stage but
 * fragment and compute. */
struct pm_ir_function *pm_entry_function(const struct pm_ir_module *module, enum pm_stage *stage,
                                         struct pm_error *error);

/* As pm_points_blocks. The caller finishes *out. */
bool pm_points_blocks_of(struct pm_ir_function *function, struct pm_block_points *out,
                         struct pm_error *error);
