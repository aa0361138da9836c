/* The part of ir_builder.h that changes a module's own sections. */
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/ir/ir_global_index.h"

#include <string.h>

static struct pm_ir_instr *append(struct pm_ir_module *module, enum pm_ir_section section,
                                  uint16_t opcode, struct pm_ir_def *type,
                                  const struct pm_ir_arg *args, uint32_t arg_count)
{
    struct pm_ir_instr *instr = pm_ir_instr_with(module, opcode, type, args, arg_count);
    if (!instr)
        return NULL;
    pm_ir_insert(&module->sections[section], NULL, NULL, instr);
    return instr;
}

struct pm_ir_def *pm_ir_global_new(struct pm_ir_module *module, uint16_t opcode,
                                   struct pm_ir_def *type, const struct pm_ir_arg *args,
                                   uint32_t arg_count)
{
    struct pm_ir_instr *instr = append(module, PM_IR_SECTION_GLOBAL, opcode, type, args, arg_count);
    return instr ? instr->result : NULL;
}

/* Types that may not be declared twice, not even with other decorations (SPIR-V specification 2.8).
 */
static bool is_unique_type(uint16_t opcode)
{
    return opcode == SpvOpTypeBool || opcode == SpvOpTypeInt || opcode == SpvOpTypeFloat ||
           opcode == SpvOpTypeVector;
}

struct pm_ir_def *pm_ir_global(struct pm_ir_module *module, uint16_t opcode, struct pm_ir_def *type,
                               const struct pm_ir_arg *args, uint32_t arg_count)
{
    const struct pm_ir_form form = {opcode, type, args, arg_count, NULL};
    const struct pm_ir_instr *found = pm_ir_global_find(module, &form, is_unique_type(opcode));
    if (found)
        return found->result;
    return pm_ir_global_new(module, opcode, type, args, arg_count);
}

struct pm_ir_def *pm_ir_type_bool(struct pm_ir_module *module)
{
    return pm_ir_global(module, SpvOpTypeBool, NULL, NULL, 0);
}

struct pm_ir_def *pm_ir_type_int(struct pm_ir_module *module, uint32_t width, bool is_signed)
{
    return pm_ir_global(module, SpvOpTypeInt, NULL,
                        PM_IR_ARGS(pm_ir_word(width), pm_ir_word(is_signed)));
}

struct pm_ir_def *pm_ir_type_float(struct pm_ir_module *module, uint32_t width)
{
    return pm_ir_global(module, SpvOpTypeFloat, NULL, PM_IR_ARGS(pm_ir_word(width)));
}

struct pm_ir_def *pm_ir_type_vector(struct pm_ir_module *module, struct pm_ir_def *component,
                                    uint32_t count)
{
    return pm_ir_global(module, SpvOpTypeVector, NULL,
                        PM_IR_ARGS(pm_ir_id(component), pm_ir_word(count)));
}

struct pm_ir_def *pm_ir_type_pointer(struct pm_ir_module *module, SpvStorageClass storage,
                                     struct pm_ir_def *pointee)
{
    return pm_ir_global(module, SpvOpTypePointer, NULL,
                        PM_IR_ARGS(pm_ir_word(storage), pm_ir_id(pointee)));
}

struct pm_ir_def *pm_ir_constant_uint(struct pm_ir_module *module, uint32_t value)
{
    struct pm_ir_def *type = pm_ir_type_int(module, 32, false);
    return pm_ir_global(module, SpvOpConstant, type, PM_IR_ARGS(pm_ir_word(value)));
}

struct pm_ir_def *pm_ir_constant_int64(struct pm_ir_module *module, struct pm_ir_def *type,
                                       uint64_t value)
{
    const uint32_t words[2] = {(uint32_t)value, (uint32_t)(value >> 32)};
    const struct pm_ir_form form = {SpvOpConstant, type, .words = words};
    const struct pm_ir_instr *found = pm_ir_global_find(module, &form, false);
    if (found)
        return found->result;
    struct pm_ir_def *constant =
        pm_ir_global_new(module, SpvOpConstant, type, PM_IR_ARGS(pm_ir_word(0)));
    if (!constant)
        return NULL;
    pm_ir_operand_set_words(module, &constant->instr->operands[0], words, 2);
    return constant;
}

struct pm_ir_def *pm_ir_constant_bool(struct pm_ir_module *module, bool value)
{
    return pm_ir_global(module, value ? SpvOpConstantTrue : SpvOpConstantFalse,
                        pm_ir_type_bool(module), NULL, 0);
}

struct pm_ir_def *pm_ir_constant_scalar(struct pm_ir_module *module, const struct pm_ir_instr *type,
                                        uint64_t bits)
{
    if (type->opcode == SpvOpTypeBool)
        return pm_ir_constant_bool(module, bits != 0);
    const uint32_t width = pm_ir_operand_word(&type->operands[0]);
    if (width == 64)
        return pm_ir_constant_int64(module, type->result, bits);
    uint32_t word = (uint32_t)bits;
    if (width < 32) {
        const bool is_signed =
            type->opcode == SpvOpTypeInt && pm_ir_operand_word(&type->operands[1]);
        const uint32_t unused = UINT32_MAX << width;
        word = is_signed && word >> (width - 1) & 1 ? word | unused : word & ~unused;
    }
    return pm_ir_global(module, SpvOpConstant, type->result, PM_IR_ARGS(pm_ir_word(word)));
}

void pm_ir_require_version(struct pm_ir_module *module, uint32_t version)
{
    if (module->version < version)
        module->version = version;
}

bool pm_ir_has_capability(const struct pm_ir_module *module, SpvCapability capability)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_CAPABILITY].first; i;
         i = i->next)
        if (i->opcode == SpvOpCapability &&
            pm_ir_operand_word(&i->operands[0]) == (uint32_t)capability)
            return true;
    return false;
}

void pm_ir_require_capability(struct pm_ir_module *module, SpvCapability capability)
{
    if (!pm_ir_has_capability(module, capability))
        append(module, PM_IR_SECTION_CAPABILITY, SpvOpCapability, NULL,
               PM_IR_ARGS(pm_ir_word((uint32_t)capability)));
}

bool pm_ir_has_extension(const struct pm_ir_module *module, const char *name)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_EXTENSION].first; i;
         i = i->next)
        if (i->opcode == SpvOpExtension && strcmp(pm_ir_operand_text(&i->operands[0]), name) == 0)
            return true;
    return false;
}

void pm_ir_require_extension(struct pm_ir_module *module, const char *name)
{
    if (pm_ir_has_extension(module, name))
        return;
    struct pm_ir_instr *instr =
        append(module, PM_IR_SECTION_EXTENSION, SpvOpExtension, NULL, PM_IR_ARGS(pm_ir_word(0)));
    if (instr)
        pm_ir_operand_set_text(module, &instr->operands[0], name);
}

static void decorate(struct pm_ir_module *module, uint16_t opcode, const struct pm_ir_arg *head,
                     uint32_t head_count, const struct pm_ir_arg *args, uint32_t arg_count)
{
    struct pm_ir_arg all[8];
    if (head_count + arg_count > sizeof(all) / sizeof(all[0])) {
        module->failed = true;
        return;
    }
    memcpy(all, head, head_count * sizeof(*head));
    if (arg_count)
        memcpy(all + head_count, args, arg_count * sizeof(*args));
    append(module, PM_IR_SECTION_ANNOTATION, opcode, NULL, all, head_count + arg_count);
}

void pm_ir_decorate(struct pm_ir_module *module, struct pm_ir_def *target, SpvDecoration decoration,
                    const struct pm_ir_arg *args, uint32_t arg_count)
{
    decorate(module, SpvOpDecorate, PM_IR_ARGS(pm_ir_id(target), pm_ir_word(decoration)), args,
             arg_count);
}

void pm_ir_decorate_member(struct pm_ir_module *module, struct pm_ir_def *target, uint32_t member,
                           SpvDecoration decoration, const struct pm_ir_arg *args,
                           uint32_t arg_count)
{
    decorate(module, SpvOpMemberDecorate,
             PM_IR_ARGS(pm_ir_id(target), pm_ir_word(member), pm_ir_word(decoration)), args,
             arg_count);
}

void pm_ir_copy_decorations(struct pm_ir_module *module, const struct pm_ir_def *from,
                            struct pm_ir_def *to, bool only_moved)
{
    for (const struct pm_ir_operand *use = from->first_use; to && use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (use != &user->operands[0] ||
            (user->opcode != SpvOpDecorate && user->opcode != SpvOpDecorateId))
            continue;
        uint32_t decoration = pm_ir_operand_word(&user->operands[1]);
        if (only_moved && decoration != SpvDecorationRelaxedPrecision &&
            decoration != SpvDecorationNonUniform)
            continue;
        struct pm_ir_instr *copy =
            pm_ir_instr_create(module, user->opcode, NULL, user->operand_count);
        if (!copy)
            return;
        pm_ir_operand_set(&copy->operands[0], to);
        for (uint32_t o = 1; o < user->operand_count; o++) {
            if (user->operands[o].def)
                pm_ir_operand_set(&copy->operands[o], user->operands[o].def);
            else
                pm_ir_operand_copy_literal(&copy->operands[o], &user->operands[o]);
        }
        pm_ir_insert(&module->sections[PM_IR_SECTION_ANNOTATION], NULL, NULL, copy);
    }
}

struct pm_ir_def *pm_ir_builtin_find(const struct pm_ir_module *module, SpvBuiltIn builtin)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next) {
        if (i->opcode != SpvOpDecorate || i->operand_count != 3 ||
            pm_ir_operand_word(&i->operands[1]) != SpvDecorationBuiltIn ||
            pm_ir_operand_word(&i->operands[2]) != (uint32_t)builtin)
            continue;
        const struct pm_ir_instr *variable = pm_ir_operand_instr(i, 0);
        if (variable && variable->opcode == SpvOpVariable &&
            pm_ir_operand_word(&variable->operands[0]) == SpvStorageClassInput)
            return variable->result;
    }
    return NULL;
}

void pm_ir_interface_add(struct pm_ir_module *module, struct pm_ir_instr *entry,
                         struct pm_ir_def *variable)
{
    if (!variable)
        return;
    for (uint32_t i = 3; i < entry->operand_count; i++)
        if (entry->operands[i].def == variable)
            return;
    uint32_t at = entry->operand_count;
    if (pm_ir_operands_insert(module, entry, at, 1))
        pm_ir_operand_set(&entry->operands[at], variable);
}

struct pm_ir_def *pm_ir_builtin_input(struct pm_ir_module *module, struct pm_ir_instr *entry,
                                      SpvBuiltIn builtin, struct pm_ir_def *type)
{
    struct pm_ir_def *variable = pm_ir_builtin_find(module, builtin);
    if (!variable) {
        struct pm_ir_def *pointer = pm_ir_type_pointer(module, SpvStorageClassInput, type);
        variable = pm_ir_global_new(module, SpvOpVariable, pointer,
                                    PM_IR_ARGS(pm_ir_word(SpvStorageClassInput)));
        pm_ir_decorate(module, variable, SpvDecorationBuiltIn,
                       PM_IR_ARGS(pm_ir_word((uint32_t)builtin)));
    }
    pm_ir_interface_add(module, entry, variable);
    return variable;
}
