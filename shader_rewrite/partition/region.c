#include "shader_rewrite/partition/region.h"

#include "shader_rewrite/ir/device_address.h"

/* Those that a base workgroup changes, and how: by itself, or times the workgroup's size. */
static const SpvBuiltIn builtins[PM_REGION_BUILTINS] = {SpvBuiltInWorkgroupId,
                                                        SpvBuiltInGlobalInvocationId};

static bool is_chain(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpAccessChain || instr->opcode == SpvOpInBoundsAccessChain ||
           instr->opcode == SpvOpCopyObject;
}

/* Names, decorations, the entry point. */
static bool is_about(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpEntryPoint || instr->opcode == SpvOpName ||
           pm_ir_opcode_is(instr->opcode, PM_IR_OP_ANNOTATION);
}

static bool is_only_loaded(const struct pm_ir_def *pointer)
{
    for (const struct pm_ir_operand *use = pointer->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (is_chain(user) ? !is_only_loaded(user->result)
                           : user->opcode != SpvOpLoad && !is_about(user))
            return false;
    }
    return true;
}

bool pm_region_init(struct pm_region *region, struct pm_ir_module *module, struct pm_error *error)
{
    *region = (struct pm_region){.module = module};
    for (uint32_t i = 0; i < PM_REGION_BUILTINS; i++) {
        const struct pm_ir_def *variable = pm_ir_builtin_find(module, builtins[i]);
        if (variable && !is_only_loaded(variable))
            return pm_fail(error, PM_ERROR_UNSUPPORTED,
                           "it does more with its workgroup's number than to load it");
    }
    region->words = pm_spec_constant_new(module, &region->spec_id);
    return true;
}

/* Chains into what is the function's own now. */
static void retype(struct pm_ir_module *module, struct pm_ir_def *pointer)
{
    for (struct pm_ir_operand *use = pointer->first_use; use; use = use->next_use) {
        struct pm_ir_instr *chain = use->user;
        if (!is_chain(chain))
            continue;
        struct pm_ir_def *pointee = pm_ir_operand_instr(pm_ir_type_of(chain), 1)->result;
        struct pm_ir_def *type = pm_ir_type_pointer(module, SpvStorageClassFunction, pointee);
        if (!type)
            return;
        pm_ir_operand_set(&chain->type, type);
        retype(module, chain->result);
    }
}

/* Makes all that loads a built-in load a variable of the function's. NULL: nothing does, or memory
 * ran out. */
static struct pm_ir_def *replace(struct pm_ir_builder *b, struct pm_ir_def *builtin)
{
    struct pm_ir_block *entry = b->block;
    struct pm_ir_def *pointee = pm_ir_operand_instr(pm_ir_type_of(builtin->instr), 1)->result;
    struct pm_ir_instr *variable = pm_ir_instr_with(
        b->module, SpvOpVariable, pm_ir_type_pointer(b->module, SpvStorageClassFunction, pointee),
        PM_IR_ARGS(pm_ir_word(SpvStorageClassFunction)));
    if (!variable)
        return NULL;
    for (struct pm_ir_operand *use = builtin->first_use, *next; use; use = next) {
        next = use->next_use;
        if (!is_about(use->user))
            pm_ir_operand_set(use, variable->result);
    }
    pm_ir_insert(&entry->body, entry, entry->body.first, variable);
    retype(b->module, variable->result);
    return variable->result;
}

static struct pm_ir_def *binary(struct pm_ir_builder *b, uint16_t opcode, struct pm_ir_def *x,
                                struct pm_ir_def *y)
{
    return pm_ir_build(b, opcode, pm_ir_type_int(b->module, 32, false),
                       PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

/* Puts what the built-in would be without a base into the variable. */
static void set(struct pm_ir_builder *b, struct pm_ir_def *builtin, struct pm_ir_def *variable,
                struct pm_ir_def *base)
{
    struct pm_ir_def *uint = pm_ir_type_int(b->module, 32, false);
    struct pm_ir_def *uvec3 = pm_ir_type_vector(b->module, uint, 3);
    struct pm_ir_def *declared = pm_ir_operand_instr(pm_ir_type_of(builtin->instr), 1)->result;
    struct pm_ir_def *there = pm_ir_build_load_as(b, builtin, uvec3);
    struct pm_ir_def *z =
        pm_ir_build(b, SpvOpCompositeExtract, uint, PM_IR_ARGS(pm_ir_id(there), pm_ir_word(2)));
    struct pm_ir_def *moved = pm_ir_build(
        b, SpvOpCompositeInsert, uvec3,
        PM_IR_ARGS(pm_ir_id(binary(b, SpvOpISub, z, base)), pm_ir_id(there), pm_ir_word(2)));
    if (declared != uvec3)
        moved = pm_ir_build(b, SpvOpBitcast, declared, PM_IR_ARGS(pm_ir_id(moved)));
    pm_ir_build_instr(b, SpvOpStore, NULL, PM_IR_ARGS(pm_ir_id(variable), pm_ir_id(moved)));
}

void pm_region_begin(struct pm_region *region, struct pm_ir_builder *builder)
{
    for (uint32_t i = 0; i < PM_REGION_BUILTINS; i++) {
        struct pm_ir_def *found = pm_ir_builtin_find(region->module, builtins[i]);
        region->own[i] = found ? replace(builder, found) : NULL;
    }
}

struct pm_ir_def *pm_region_find(const struct pm_region *region, struct pm_ir_builder *builder,
                                 struct pm_ir_def **group, struct pm_ir_def *groups, uint32_t size)
{
    struct pm_ir_def *number = binary(builder, SpvOpUDiv, *group, groups);
    struct pm_ir_def *base = binary(builder, SpvOpIMul, number, groups);
    for (uint32_t i = 0; i < PM_REGION_BUILTINS; i++) {
        struct pm_ir_def *times = pm_ir_constant_uint(
            region->module, builtins[i] == SpvBuiltInGlobalInvocationId ? size : 1);
        if (region->own[i])
            set(builder, pm_ir_builtin_find(region->module, builtins[i]), region->own[i],
                binary(builder, SpvOpIMul, base, times));
    }
    *group = binary(builder, SpvOpISub, *group, base);
    return binary(builder, SpvOpIMul, number, region->words);
}
