/*
 * Finding a module's global by its form in constant time: code is added by asking for the same few
 * types and constants thousands of times, in modules that have thousands.
 *
 * The index is made when first asked and reads on where globals were appended since; what it finds
 * is looked at again, so that globals may be removed and decorated. It does not see one that was
 * put between others or given another form since it was read.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

/* Opcode, result type (NULL: none) and operands. words: the two words of a 64-bit constant instead
 * of operands; else NULL. */
struct pm_ir_form {
    uint16_t opcode;
    const struct pm_ir_def *type;
    const struct pm_ir_arg *args;
    uint32_t arg_count;
    const uint32_t *words;
};

/* The first global in the module's order that has the form, a result, and no decorations unless
 * `decorated`. NULL: there is none, or the module failed. */
struct pm_ir_instr *pm_ir_global_find(struct pm_ir_module *module, const struct pm_ir_form *form,
                                      bool decorated);
