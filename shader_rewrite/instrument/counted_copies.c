#include "shader_rewrite/instrument/counted_copies.h"

#include "shader_rewrite/analysis/analysis_exact.h"
#include "shader_rewrite/analysis/analysis_permission.h"
#include "shader_rewrite/ir/block_open.h"

#include <spirv/unified1/GLSL.std.450.h>

enum {
    MOST_OF_MODULE = 4096, /* instructions that are copied; each is compiled once more */
    MOST_OF_VALUE = 512,
    COMPONENTS = 4,
};

bool pm_counted_copies_init(struct pm_counted_copies *c, const struct pm_counting *counting,
                            struct pm_ir_function *function)
{
    struct pm_ir_module *module = counting->module;
    *c = (struct pm_counted_copies){
        .counting = counting,
        .function = function,
        .wanted = pm_arena_zalloc(module->arena, module->bound, sizeof(bool)),
        .copies = pm_arena_zalloc(module->arena, module->bound, sizeof(struct pm_ir_def *)),
        .slice = pm_arena_zalloc(module->arena, MOST_OF_VALUE, sizeof(struct pm_ir_instr *)),
        .id_count = module->bound,
        .left = MOST_OF_MODULE,
        .start = pm_ir_block_start(function->first_block),
    };
    return c->wanted && c->copies && c->slice;
}

/* ---- what is copied ---- */

static bool computes_alone(const struct pm_ir_instr *instr)
{
    if (instr->opcode != SpvOpExtInst)
        return instr->opcode != SpvOpPhi &&
               pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_COMPUTES & ~PM_IR_OP_DERIVATIVE);
    uint32_t function = pm_ir_operand_word(&instr->operands[1]);
    return pm_ir_is_glsl(instr) && function != GLSLstd450Modf &&
           function != GLSLstd450Frexp && /* write to memory */
           (function < GLSLstd450InterpolateAtCentroid || function > GLSLstd450InterpolateAtOffset);
}

/* Float arithmetic, what takes it apart, and comparisons, which select. */
static bool is_copied(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = pm_scalar_type(pm_ir_type_of(instr));
    bool integer = !type || type->opcode == SpvOpTypeInt;
    return type && (!integer || instr->opcode == SpvOpBitcast) && computes_alone(instr) &&
           !pm_exact_is_asked(instr->result);
}

/* Computed in the function; constants and what else comes from outside are nobody's to copy. */
static bool is_local(const struct pm_counted_copies *c, const struct pm_ir_instr *instr)
{
    return instr && instr->block && instr->result && instr->result->id < c->id_count;
}

/* Adds an instruction to the slice, unless it ends there or was taken before. false: no room. */
static bool take(struct pm_counted_copies *c, struct pm_ir_instr *instr, uint32_t *count)
{
    if (!is_local(c, instr) || c->wanted[instr->result->id] || !is_copied(instr))
        return true;
    if (*count == MOST_OF_VALUE || *count == c->left)
        return false;
    c->wanted[instr->result->id] = true;
    c->slice[(*count)++] = instr;
    return true;
}

void pm_counted_copies_want(struct pm_counted_copies *c, struct pm_ir_instr *value)
{
    uint32_t count = 0;
    bool fits = take(c, value, &count);
    for (uint32_t i = 0; i < count && fits; i++)
        for (uint32_t o = 0; o < c->slice[i]->operand_count && fits; o++)
            fits = take(c, pm_ir_operand_instr(c->slice[i], o), &count);
    for (uint32_t i = 0; i < count && !fits; i++)
        c->wanted[c->slice[i]->result->id] = false;
    c->left -= fits ? count : 0;
}

/* ---- the zero ---- */

/* 0: no square has 12 to 15 as its last four bits, which no compiler knows. */
static struct pm_ir_def *build_zero(const struct pm_counted_copies *c, struct pm_ir_builder *b)
{
    struct pm_ir_def *uint = c->counting->uint;
    struct pm_ir_def *place = pm_counting_place(c->counting, b);
    struct pm_ir_def *square =
        pm_ir_build(b, SpvOpIMul, uint, PM_IR_ARGS(pm_ir_id(place), pm_ir_id(place)));
    struct pm_ir_def *bits[2];
    for (uint32_t i = 0; i < 2; i++)
        bits[i] = pm_ir_build(
            b, SpvOpShiftRightLogical, uint,
            PM_IR_ARGS(pm_ir_id(square), pm_ir_id(pm_ir_constant_uint(b->module, 2 + i))));
    struct pm_ir_def *both =
        pm_ir_build(b, SpvOpBitwiseAnd, uint, PM_IR_ARGS(pm_ir_id(bits[0]), pm_ir_id(bits[1])));
    struct pm_ir_def *bit =
        pm_ir_build(b, SpvOpBitwiseAnd, uint,
                    PM_IR_ARGS(pm_ir_id(both), pm_ir_id(pm_ir_constant_uint(b->module, 1))));
    return pm_ir_build(b, SpvOpSNegate, uint, PM_IR_ARGS(pm_ir_id(bit)));
}

/* As a uint scalar or vector. */
static struct pm_ir_def *zero_of(struct pm_counted_copies *c, uint32_t components)
{
    struct pm_ir_builder b = {c->counting->module, c->start->block, c->start};
    if (!c->zeros[0])
        c->zeros[0] = build_zero(c, &b);
    struct pm_ir_def **zero = &c->zeros[components - 1];
    if (!*zero) {
        struct pm_ir_arg args[COMPONENTS];
        for (uint32_t i = 0; i < components; i++)
            args[i] = pm_ir_id(c->zeros[0]);
        *zero = pm_ir_build(&b, SpvOpCompositeConstruct,
                            pm_ir_type_vector(b.module, c->counting->uint, components), args,
                            components);
    }
    return *zero;
}

/* Whether the module can take a number's bits for an integer. */
static bool has_bits(const struct pm_counted_copies *c, const struct pm_ir_instr *scalar)
{
    const struct pm_ir_module *module = c->counting->module;
    if (!scalar || scalar->opcode == SpvOpTypeBool)
        return false;
    switch (pm_ir_operand_word(&scalar->operands[0])) {
    case 16:
        return pm_ir_has_capability(module, SpvCapabilityInt16);
    case 32:
        return true;
    case 64:
        return pm_ir_has_capability(module, SpvCapabilityInt64);
    default:
        return false;
    }
}

/* A value with the zero mixed in, directly behind it; the value itself where it is no scalar or
 * vector that this can be done to. */
static struct pm_ir_def *build_mixed(struct pm_counted_copies *c, struct pm_ir_def *value)
{
    const struct pm_ir_instr *type = pm_ir_type_of(value->instr), *scalar = pm_scalar_type(type);
    if (!has_bits(c, scalar) || type->opcode == SpvOpTypeMatrix)
        return value;
    struct pm_ir_module *module = c->counting->module;
    struct pm_ir_instr *behind = pm_block_behind(value->instr);
    struct pm_ir_builder b = {module, behind->block, behind};
    uint32_t width = pm_ir_operand_word(&scalar->operands[0]);
    const uint32_t components = pm_ir_components(type);
    if (components > COMPONENTS)
        return value;
    struct pm_ir_def *zero = zero_of(c, components);
    struct pm_ir_def *bits_type = pm_ir_type_int(module, width, false);
    if (components > 1)
        bits_type = pm_ir_type_vector(module, bits_type, components);
    if (width != 32)
        zero = pm_ir_build(&b, SpvOpSConvert, bits_type, PM_IR_ARGS(pm_ir_id(zero)));
    if (scalar->opcode == SpvOpTypeInt)
        return pm_ir_build(&b, SpvOpBitwiseXor, type->result,
                           PM_IR_ARGS(pm_ir_id(value), pm_ir_id(zero)));
    struct pm_ir_def *bits = pm_ir_build(&b, SpvOpBitcast, bits_type, PM_IR_ARGS(pm_ir_id(value)));
    bits = pm_ir_build(&b, SpvOpBitwiseXor, bits_type, PM_IR_ARGS(pm_ir_id(bits), pm_ir_id(zero)));
    return pm_ir_build(&b, SpvOpBitcast, type->result, PM_IR_ARGS(pm_ir_id(bits)));
}

/* ---- the copies ---- */

/* What stands in a copy for an operand, made when it is needed. */
static struct pm_ir_def *operand_in_copy(struct pm_counted_copies *c, struct pm_ir_def *def)
{
    if (!is_local(c, def->instr))
        return def;
    struct pm_ir_def **copy = &c->copies[def->id];
    if (!*copy)
        *copy = build_mixed(c, def);
    return *copy;
}

static void build_copy(struct pm_counted_copies *c, struct pm_ir_instr *instr)
{
    struct pm_ir_module *module = c->counting->module;
    struct pm_ir_instr *copy = pm_ir_instr_like(module, instr, instr->type.def);
    bool other = false;
    for (uint32_t o = 0; copy && !module->failed && o < instr->operand_count; o++) {
        struct pm_ir_def *def = instr->operands[o].def;
        struct pm_ir_def *with = def ? operand_in_copy(c, def) : NULL;
        if (def)
            pm_ir_operand_set(&copy->operands[o], with);
        else
            pm_ir_operand_copy_literal(&copy->operands[o], &instr->operands[o]);
        other |= with != def;
    }
    if (!copy || module->failed)
        return;
    pm_ir_insert(&instr->block->body, instr->block, instr->next, copy);
    if (!other) {
        pm_ir_remove(copy);
        return;
    }
    pm_ir_copy_decorations(module, instr->result, copy->result, false);
    c->copies[instr->result->id] = copy->result;
}

/* Blocks come behind those that dominate them, so that operands' copies are there. */
void pm_counted_copies_build(struct pm_counted_copies *c)
{
    for (struct pm_ir_block *block = c->function->first_block; block; block = block->next) {
        struct pm_ir_instr *next;
        for (struct pm_ir_instr *i = block->body.first; i && !c->counting->module->failed;
             i = next) {
            next = i->next;
            if (is_local(c, i) && c->wanted[i->result->id])
                build_copy(c, i);
        }
    }
}

struct pm_ir_def *pm_counted_copy_of(const struct pm_counted_copies *c, struct pm_ir_def *value)
{
    bool has = c->wanted && value && value->id < c->id_count && c->wanted[value->id] &&
               c->copies[value->id];
    return has ? c->copies[value->id] : value;
}
