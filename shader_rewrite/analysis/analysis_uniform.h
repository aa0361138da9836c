/*
 * Which values are the same in all lanes of a subgroup that are active together: what is computed
 * from constants, push constants, uniform buffers at uniform addresses, and the workgroup's id and
 * number alone (Mesa's nir_divergence_analysis is the model). So all of them take the same way at a
 * branch on one, helper lanes too.
 *
 * Not so flat inputs, since a subgroup may hold several primitives; nor what is read from memory
 * that can be written, or from images. An OpPhi is divergent where lanes that took different ways
 * meet, and so is what leaves a loop that lanes leave at different times.
 *
 * Facts are by id, for the ids that the module has when they are computed.
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_memory.h"

struct pm_uniform {
    const bool *divergent;      /* by id */
    const bool *parts_in_loops; /* by loop: lanes may leave it at different times */
    const struct pm_loops *loops;
    uint32_t id_count;
};

/* With PM_ANALYSIS_DOMINATORS, PM_ANALYSIS_POSTDOMINATORS and PM_ANALYSIS_LOOPS required. In the
 * arena; false: out of memory. */
bool pm_uniform_compute(struct pm_uniform *uniform, const struct pm_ir_module *module,
                        const struct pm_memory *memory, const struct pm_ir_function *function,
                        struct pm_arena *arena);

/* Whether a value is uniform where it is used in a block. */
bool pm_uniform_in(const struct pm_uniform *uniform, const struct pm_ir_def *def,
                   const struct pm_ir_block *block);
