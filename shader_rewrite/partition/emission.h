/*
 * What the writing of one pass (emit_pass.h) is at: the values that stand for the original's, and
 * the guards that are open.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/partition/attachments.h"
#include "shader_rewrite/partition/emit_pass.h"
#include "shader_rewrite/partition/scratch.h"

/* A guard that is open: its inside is being written. */
struct pm_open_guard {
    uint32_t guard;
    uint32_t scope; /* its number, of all that were ever opened */
    struct pm_ir_block *merge;
};

/* Where a value of the original is to be had. */
struct pm_emitted_value {
    struct pm_ir_def *def;      /* NULL: nowhere yet */
    uint32_t scope;             /* where def may be used: 0 everywhere from here on */
    struct pm_ir_def *variable; /* that keeps it over the end of a guard; NULL: none */
};

struct pm_emission {
    const struct pm_emit_info *info;
    uint32_t pass;
    struct pm_error *error;
    struct pm_ir_module *module;
    struct pm_ir_function *function;
    struct pm_arena *arena;
    struct pm_steps steps;   /* of the excerpt */
    const uint32_t *numbers; /* by the graph's step: which one it is of these */
    struct pm_ir_builder builder;
    struct pm_scratch scratch;         /* of a compute shader */
    struct pm_attachments attachments; /* of a fragment shader */
    struct pm_ir_block *entry;
    struct pm_emitted_value *values; /* by id */
    struct pm_open_guard *open;      /* from the outermost on */
    uint32_t open_count, scopes;
    uint32_t *step_scope; /* by step: the scope it is put into; UINT32_MAX: it is of another pass */
    uint32_t *scope_parent;   /* by scope; 0: the whole function */
    struct pm_ir_instr **old; /* all instructions of the function */
    size_t old_count;
    struct pm_ir_block **old_blocks;
    uint32_t old_block_count;
    bool *kept;               /* by old block */
    struct pm_ir_def **words; /* of one value */
};

/* Finds which scope each step of the pass is put into. false: out of memory. */
bool pm_emission_find_scopes(struct pm_emission *e);

/* The value that stands for one of the original, where the builder is. */
struct pm_ir_def *pm_emission_value(struct pm_emission *e, struct pm_ir_def *of);

/* Makes an instruction use what stands for its operands. of: its step. */
void pm_emission_set_operands(struct pm_emission *e, struct pm_ir_instr *instr, uint32_t of);

/* A value has been computed: it is stored for later passes, and kept beyond its guard. */
void pm_emission_computed(struct pm_emission *e, struct pm_ir_def *def);

/* Closes and opens guards so that the builder is under this one. */
void pm_emission_go_under(struct pm_emission *e, uint32_t guard);
