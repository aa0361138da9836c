/*
 * The images in which passes of a fragment shader leave values for later ones: of 4 unsigned words
 * a pixel, written as color attachments and fetched as sampled images, at the pixel's own place.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/partition/spills.h"

struct pm_attachments {
    struct pm_ir_module *module;
    struct pm_ir_instr *entry;
    const struct pm_spills *spills;
    uint32_t set;             /* of the descriptors: the first that the module does not use */
    uint32_t locations;       /* by bit: those that have outputs */
    struct pm_ir_def *at;     /* the pixel */
    struct pm_ir_def **read;  /* by image: its variable; NULL: it is not read */
    struct pm_ir_def **wrote; /* by attachment: its output variable; NULL: it is not written */
    uint32_t *location;       /* by attachment that is written */
    struct pm_error *error;
};

/* Readies the module. PM_ERROR_UNSUPPORTED: it gives what has no color attachment of its own, reads
 * attachments, or each sample runs by itself; PM_ERROR_MEMORY. */
bool pm_attachments_init(struct pm_attachments *attachments, struct pm_ir_module *module,
                         const struct pm_spills *spills, struct pm_error *error);

/* Finds out which pixel it is; once, where the function begins. */
void pm_attachments_begin(struct pm_attachments *attachments, struct pm_ir_builder *builder);

/* Words of 32 bits, unsigned; place: spills.h. */
struct pm_ir_def *pm_attachments_load(struct pm_attachments *attachments,
                                      struct pm_ir_builder *builder, uint32_t place);
void pm_attachments_store(struct pm_attachments *attachments, struct pm_ir_builder *builder,
                          uint32_t place, struct pm_ir_def *value);

/* The locations of the shader's own outputs that something is stored to, by bit. */
uint32_t pm_attachments_own(const struct pm_attachments *attachments);
