/*
 * One pass of a partitioned shader as a module of its own: the original with only some of its
 * steps, in the pass's order, values of earlier passes read from memory (of a fragment shader: from
 * images) and those that later ones use written there.
 *
 * Thread safety: as the excerpts.
 */
#pragma once

#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/partition/excerpt.h"
#include "shader_rewrite/partition/spills.h"

struct pm_emit_info {
    const struct pm_ir_module *whole;    /* a canonical module (pm_transposes_note) */
    const struct pm_shader_graph *graph; /* of it */
    const struct pm_plan *plan;
    struct pm_excerpts *excerpts; /* of these */
    const struct pm_spills *spills;
    struct pm_target target; /* the output is validated for it */
    bool regions;            /* partition.h */
};

/* A pass that was emitted, and how it is reached: by the SpecIds of the memory's address, low and
 * high, and of a region's words; of a fragment shader by descriptors and color attachments. */
struct pm_emitted {
    struct pm_words words;
    uint32_t spec_ids[3];
    uint32_t set;   /* of the images' descriptors */
    uint32_t own;   /* by bit: the locations of the shader's own outputs that it writes */
    bool *reads;    /* by image; malloc'ed; NULL: of a compute shader */
    uint8_t *wrote; /* by attachment: the location that it is written to, and 1; likewise */
};

/* Writes pass number `pass`; to be finished in any case. false: PM_ERROR_MEMORY,
 * PM_ERROR_UNSUPPORTED, PM_ERROR_STATE where the output was not valid (a bug of ours). */
bool pm_emit_pass(const struct pm_emit_info *info, uint32_t pass, struct pm_emitted *out,
                  struct pm_error *error);
void pm_emitted_finish(struct pm_emitted *emitted);
