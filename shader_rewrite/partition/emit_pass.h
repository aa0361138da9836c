/*
 * One pass of a partitioned compute shader as a module of its own: the original with only some of
 * its steps, in the pass's order, values of earlier passes read from memory and those that later
 * ones use written there.
 *
 * Thread safety: no state; what is given is only read.
 */
#pragma once

#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/partition/spills.h"

struct pm_emit_info {
    const uint32_t *words; /* of the canonical module that the graph was made of */
    size_t count;
    const struct pm_shader_graph *graph;
    const struct pm_plan *plan;
    const struct pm_spills *spills;
    struct pm_target target; /* the output is validated for it */
};

/* Writes pass number `pass`; *spec_ids: the SpecIds of the memory's address, low and high. false:
 * PM_ERROR_MEMORY, PM_ERROR_UNSUPPORTED, PM_ERROR_STATE where the output was not valid (a bug of
 * ours). */
bool pm_emit_pass(const struct pm_emit_info *info, uint32_t pass, struct pm_words *out,
                  uint32_t spec_ids[2], struct pm_error *error);
