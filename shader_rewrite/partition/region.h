/*
 * Which part of the memory between passes a dispatch uses (scratch.h), told by its base workgroup:
 * a dispatch in region r begins at workgroup (0, 0, r times its workgroups in z). It is the one
 * thing that a command buffer can tell a shader without a binding or push constant of the game's;
 * so what a recording names can be told apart from what another one does, of the same pipeline.
 * What the shader reads as its workgroup's number is without it.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

enum { PM_REGION_BUILTINS = 2 };

struct pm_region {
    struct pm_ir_module *module;
    uint32_t spec_id;        /* of how many words a region has */
    struct pm_ir_def *words; /* that */
    /* the function's own, that stand for what a base changes; NULL: the shader has none */
    struct pm_ir_def *own[PM_REGION_BUILTINS];
};

/* Readies the module. PM_ERROR_UNSUPPORTED: it does more with its workgroup's number than to load
 * it. */
bool pm_region_init(struct pm_region *region, struct pm_ir_module *module, struct pm_error *error);

/* Where the function begins, once its instructions are those that stay: from here on they load what
 * the function below sets. */
void pm_region_begin(struct pm_region *region, struct pm_ir_builder *builder);

/* Behind that. group: the z of the workgroup's number, as the device has it; then without the
 * region. groups: how many there are in z; size: invocations of a workgroup in z. Returns the first
 * word of the region. */
struct pm_ir_def *pm_region_find(const struct pm_region *region, struct pm_ir_builder *builder,
                                 struct pm_ir_def **group, struct pm_ir_def *groups, uint32_t size);
