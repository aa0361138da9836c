/*
 * Which values are the same in all lanes that are active together, of a workgroup or of a subgroup
 * only (Mesa's nir_divergence_analysis is the model).
 *
 * In a workgroup: what is computed from constants, push constants, uniform buffers at uniform
 * addresses, and the workgroup's id and number alone. It is the same in all lanes of the workgroup
 * that come to it in the same turns of the loops around, whatever subgroup they are in, and in a
 * fragment shader in all of the draw, helper lanes too. So all of them take the same way at a
 * branch on one.
 *
 * In a subgroup also: the subgroup's number, and what subgroup operations tell all of their lanes
 * alike (votes, ballots, broadcasts, reductions). In another subgroup that is another value, and a
 * helper lane need not have it (HAZARDS 2).
 *
 * Not so flat inputs, since a subgroup may hold several primitives; nor what is read from memory
 * that can be written, or from images. An OpPhi is divergent where lanes that took different ways
 * meet, and so is what leaves a loop that lanes leave at different times.
 *
 * Likewise of blocks: one that is not behind a divergent branch, before the ways meet again, nor in
 * a loop that lanes leave in different turns, is entered by all of the workgroup or subgroup, or by
 * none of it.
 *
 * Facts are by id, for the ids that the module has when they are computed.
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_memory.h"

enum pm_uniform_scope { PM_UNIFORM_WORKGROUP, PM_UNIFORM_SUBGROUP };

struct pm_uniform {
    const bool *divergent;      /* by id */
    const bool *parts_in_loops; /* by loop: lanes may leave it at different times */
    const bool *parted;         /* by block: some lanes may enter it without the others */
    const struct pm_loops *loops;
    uint32_t id_count;
};

/* With PM_ANALYSIS_DOMINATORS, PM_ANALYSIS_POSTDOMINATORS and PM_ANALYSIS_LOOPS required. In the
 * arena; false: out of memory. */
bool pm_uniform_compute(struct pm_uniform *uniform, enum pm_uniform_scope scope,
                        const struct pm_ir_module *module, const struct pm_memory *memory,
                        const struct pm_ir_function *function, struct pm_arena *arena);

/* Whether a value is uniform where it is used in a block. */
bool pm_uniform_in(const struct pm_uniform *uniform, const struct pm_ir_def *def,
                   const struct pm_ir_block *block);

/* Whether a block is entered by all lanes that began the shader, or by none, in each turn of the
 * loops around. */
static inline bool pm_uniform_is_whole(const struct pm_uniform *uniform,
                                       const struct pm_ir_block *block)
{
    return !uniform->parted[block->index];
}
