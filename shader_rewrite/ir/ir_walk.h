/*
 * All instructions of a module one after another, in the order in which they are emitted: lines,
 * labels and the like too. For what asks of every instruction the same; who knows where to look
 * walks a section's or a block's list.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* `for (struct pm_ir_walk w = pm_ir_walk_begin(m); pm_ir_walk_next(&w);)`, with w.instr at hand. It
 * may be removed, and others may be put before or behind it; those are not visited. */
struct pm_ir_walk {
    struct pm_ir_instr *instr;
    struct pm_ir_function *function; /* that the instruction is in, or begins; NULL: none */
    /* of the walk itself */
    const struct pm_ir_module *module;
    struct pm_ir_block *block;
    struct pm_ir_instr *next;
    unsigned list;
};
struct pm_ir_walk pm_ir_walk_begin(const struct pm_ir_module *module);
bool pm_ir_walk_next(struct pm_ir_walk *walk);

/* How many words an instruction has when it is emitted. */
size_t pm_ir_instr_words(const struct pm_ir_instr *instr);

/* Writes these words, in host byte order; returns where the next ones go. */
uint32_t *pm_ir_instr_put(const struct pm_ir_instr *instr, uint32_t *at);

/* Numbers ids anew, from 1 on: first what is defined, in the order of the definitions, then what
 * something names and nothing defines. Marks the module as failed for lack of memory. */
void pm_ir_renumber(struct pm_ir_module *module);
