/*
 * Making and changing IR: instructions at a place, blocks, selections, OpPhi; and what instructions
 * need of their module: types and constants (each once), capabilities, extensions, decorations,
 * built-in inputs.
 *
 * Every function that returns a definition, instruction or block returns NULL when memory or ids
 * ran out, and then the module stays `failed`; NULL given as a definition or block is accepted and
 * passed on as NULL. So a pass may check once, at its end: pm_ir_emit refuses a failed module.
 *
 * None of them keeps analyses up to date: a pass that adds or changes blocks calls
 * pm_analysis_preserve.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* An operand to be: an id or a literal word. */
struct pm_ir_arg {
    struct pm_ir_def *def;
    uint32_t word;
    bool is_id;
};

static inline struct pm_ir_arg pm_ir_id(struct pm_ir_def *def)
{
    return (struct pm_ir_arg){.def = def, .is_id = true};
}

static inline struct pm_ir_arg pm_ir_word(uint32_t word)
{
    return (struct pm_ir_arg){.word = word};
}

/* Arguments and their number, for the functions below: PM_IR_ARGS(pm_ir_id(x), pm_ir_word(3)). */
#define PM_IR_ARGS(...)                                                                            \
    (const struct pm_ir_arg[]){__VA_ARGS__},                                                       \
        (uint32_t)(sizeof((const struct pm_ir_arg[]){__VA_ARGS__}) / sizeof(struct pm_ir_arg))

/* An instruction in no list, with these operands. type NULL: none. */
struct pm_ir_instr *pm_ir_instr_with(struct pm_ir_module *module, uint16_t opcode,
                                     struct pm_ir_def *type, const struct pm_ir_arg *args,
                                     uint32_t arg_count);

/* ---- module ---- */

/* The global of this form, made when there is none: types and constants, that SPIR-V wants once. A
 * decorated one is taken only where there may be no other. type NULL: none. */
struct pm_ir_def *pm_ir_global(struct pm_ir_module *module, uint16_t opcode, struct pm_ir_def *type,
                               const struct pm_ir_arg *args, uint32_t arg_count);
/* A new one, whatever there is: structures, arrays, variables, specialization constants. */
struct pm_ir_def *pm_ir_global_new(struct pm_ir_module *module, uint16_t opcode,
                                   struct pm_ir_def *type, const struct pm_ir_arg *args,
                                   uint32_t arg_count);

struct pm_ir_def *pm_ir_type_bool(struct pm_ir_module *module);
struct pm_ir_def *pm_ir_type_int(struct pm_ir_module *module, uint32_t width, bool is_signed);
struct pm_ir_def *pm_ir_type_float(struct pm_ir_module *module, uint32_t width);
struct pm_ir_def *pm_ir_type_vector(struct pm_ir_module *module, struct pm_ir_def *component,
                                    uint32_t count);
struct pm_ir_def *pm_ir_type_pointer(struct pm_ir_module *module, SpvStorageClass storage,
                                     struct pm_ir_def *pointee);
/* A 32-bit unsigned constant. */
struct pm_ir_def *pm_ir_constant_uint(struct pm_ir_module *module, uint32_t value);
/* A constant of a 64-bit integer type. */
struct pm_ir_def *pm_ir_constant_int64(struct pm_ir_module *module, struct pm_ir_def *type,
                                       uint64_t value);
struct pm_ir_def *pm_ir_constant_bool(struct pm_ir_module *module, bool value);
/* A constant of a number's type or bool, of the low bits. Narrow ones fill their word:
 * sign-extended when signed, else zero (SPIR-V 2.2.1). */
struct pm_ir_def *pm_ir_constant_scalar(struct pm_ir_module *module, const struct pm_ir_instr *type,
                                        uint64_t bits);

/* Raises the module's version to this one (a header word) when it is below. */
#define PM_SPIRV_1_3 0x10300u
void pm_ir_require_version(struct pm_ir_module *module, uint32_t version);
void pm_ir_require_capability(struct pm_ir_module *module, SpvCapability capability);
bool pm_ir_has_capability(const struct pm_ir_module *module, SpvCapability capability);
void pm_ir_require_extension(struct pm_ir_module *module, const char *name);
bool pm_ir_has_extension(const struct pm_ir_module *module, const char *name);

void pm_ir_decorate(struct pm_ir_module *module, struct pm_ir_def *target, SpvDecoration decoration,
                    const struct pm_ir_arg *args, uint32_t arg_count);
void pm_ir_decorate_member(struct pm_ir_module *module, struct pm_ir_def *target, uint32_t member,
                           SpvDecoration decoration, const struct pm_ir_arg *args,
                           uint32_t arg_count);

/* Gives `to` the decorations of `from`. only_moved: those alone that a moved value keeps. */
void pm_ir_copy_decorations(struct pm_ir_module *module, const struct pm_ir_def *from,
                            struct pm_ir_def *to, bool only_moved);

/* Puts a variable in the entry point's interface, once. entry: an OpEntryPoint. NULL is allowed. */
void pm_ir_interface_add(struct pm_ir_module *module, struct pm_ir_instr *entry,
                         struct pm_ir_def *variable);

/* The input variable of a built-in; NULL: there is none. */
struct pm_ir_def *pm_ir_builtin_find(const struct pm_ir_module *module, SpvBuiltIn builtin);

/* The same; made, with this type, when there is none. It is put in the
 * entry point's interface. entry: an OpEntryPoint. */
struct pm_ir_def *pm_ir_builtin_input(struct pm_ir_module *module, struct pm_ir_instr *entry,
                                      SpvBuiltIn builtin, struct pm_ir_def *type);

/* ---- instructions ---- */

/* Where the next instruction goes. */
struct pm_ir_builder {
    struct pm_ir_module *module;
    struct pm_ir_block *block;
    struct pm_ir_instr *before; /* NULL: at the end of the block */
};

/* Adds an instruction. type NULL: none. */
struct pm_ir_instr *pm_ir_build_instr(struct pm_ir_builder *builder, uint16_t opcode,
                                      struct pm_ir_def *type, const struct pm_ir_arg *args,
                                      uint32_t arg_count);
/* As above; its result. */
struct pm_ir_def *pm_ir_build(struct pm_ir_builder *builder, uint16_t opcode,
                              struct pm_ir_def *type, const struct pm_ir_arg *args,
                              uint32_t arg_count);

/* Loads a built-in as `type`, whatever type the module declared it with: signed and unsigned are
 * both allowed. */
struct pm_ir_def *pm_ir_build_load_as(struct pm_ir_builder *builder, struct pm_ir_def *variable,
                                      struct pm_ir_def *type);

void pm_ir_build_branch(struct pm_ir_builder *builder, struct pm_ir_block *to);
void pm_ir_build_branch_conditional(struct pm_ir_builder *builder, struct pm_ir_def *condition,
                                    struct pm_ir_block *yes, struct pm_ir_block *no);
void pm_ir_build_selection_merge(struct pm_ir_builder *builder, struct pm_ir_block *merge);

/* Ends the builder's block, which has no terminator yet, in a selection whose inside runs where
 * condition == when, and moves the builder inside. merge: where it ends; NULL: a new block. Returns
 * the merge block. */
struct pm_ir_block *pm_ir_build_if(struct pm_ir_builder *builder, struct pm_ir_def *condition,
                                   bool when, struct pm_ir_block *merge);
/* Ends the inside with a branch to the merge block and moves the builder to that block's start. */
void pm_ir_build_end_if(struct pm_ir_builder *builder, struct pm_ir_block *merge);

/* ---- blocks ---- */

/* An empty block after another one of the same function. */
struct pm_ir_block *pm_ir_block_create(struct pm_ir_module *module, struct pm_ir_block *after);

/* Takes an empty block that nothing names any more out of its function. */
void pm_ir_block_remove(struct pm_ir_block *block);

/* Puts a block behind another one of its function. */
void pm_ir_block_move(struct pm_ir_block *block, struct pm_ir_block *after);

/* Moves `at` and all behind it, with the terminator, into a new block behind this one, and makes
 * the OpPhi that named this block name the new one. The block is left without a terminator. at
 * NULL: an empty block. */
struct pm_ir_block *pm_ir_block_split(struct pm_ir_module *module, struct pm_ir_block *block,
                                      struct pm_ir_instr *at);

/* The first instruction that is no OpPhi and, in a function's first block, no OpVariable, with the
 * lines before it. */
struct pm_ir_instr *pm_ir_block_start(const struct pm_ir_block *block);
/* Its merge instruction, else its terminator. */
struct pm_ir_instr *pm_ir_block_end(const struct pm_ir_block *block);

/* Adds a (value, predecessor) pair to an OpPhi. */
void pm_ir_phi_add(struct pm_ir_module *module, struct pm_ir_instr *phi, struct pm_ir_def *value,
                   struct pm_ir_block *predecessor);
/* The value that an OpPhi has from a predecessor; NULL: none. */
struct pm_ir_def *pm_ir_phi_value(const struct pm_ir_instr *phi,
                                  const struct pm_ir_block *predecessor);
/* Takes out the pair of a predecessor; nothing when there is none. */
void pm_ir_phi_remove(struct pm_ir_instr *phi, const struct pm_ir_block *predecessor);
