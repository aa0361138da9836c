/*
 * Puts a copy of one module's function into another module's function: of a module that was made of
 * the other, so that what both have in common has the same ids.
 *
 * Thread safety: as the modules.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

struct pm_graft {
    struct pm_ir_module *to;   /* gets the copy */
    struct pm_ir_module *from; /* must outlive what is done with `to` */
    struct pm_ir_instr *entry; /* OpEntryPoint of `to` */
    struct pm_ir_def **map;    /* by id of `from`: what stands for it */
    bool missing;              /* something stands for nothing: of another function */
};

/* In the arena. false: out of memory. */
bool pm_graft_init(struct pm_graft *graft, struct pm_ir_module *to, struct pm_ir_module *from,
                   struct pm_ir_instr *entry, struct pm_arena *arena);

/* Gives `to` what the other has of capabilities, extensions, types, constants and built-in inputs.
 * PM_ERROR_UNSUPPORTED for other globals that `to` has not. */
bool pm_graft_globals(struct pm_graft *graft, struct pm_error *error);

/* Copies the blocks of a function of `from` behind a block; its variables go to the start of
 * `entry`. Returns the copy of its first block; NULL: the module failed, graft->missing
 * maybe says why. *last: its last one. */
struct pm_ir_block *pm_graft_blocks(struct pm_graft *graft, const struct pm_ir_function *function,
                                    struct pm_ir_block *after, struct pm_ir_block *entry,
                                    struct pm_ir_block **last);
