/*
 * Where scalars that belong together are told by their place (analysis_packs.h): neighbours in
 * memory, components of one vector, what a vector is put together from, and the terms of one sum.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

/* Calls seed for groups of two to four instructions, the lanes in order, any of them NULL or no
 * scalar at all. In a fixed order. With PM_ANALYSIS_CFG required; memory from the arena. false:
 * out of memory. */
bool pm_packs_seeds(const struct pm_ir_function *function, struct pm_arena *arena,
                    void (*seed)(void *user, struct pm_ir_instr *const *lanes, uint32_t count),
                    void *user);
