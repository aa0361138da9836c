#include "shader_rewrite/quirks/hidden_constants.h"

#include <spirv/unified1/GLSL.std.450.h>

enum { MOST_COMPONENTS = 4 };

static bool is_constant(const struct pm_ir_instr *instr)
{
    return pm_ir_opcode_is(instr->opcode, PM_IR_OP_CONSTANT);
}

static bool has_constants_alone(const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, o);
        if (operand && operand->opcode != SpvOpExtInstImport && !is_constant(operand))
            return false;
    }
    return true;
}

static uint32_t width_of(const struct pm_ir_instr *type)
{
    return pm_ir_operand_word(&type->operands[0]);
}

/* A float32 or a vector of such. */
static bool can_be_hidden(const struct pm_ir_instr *constant)
{
    const struct pm_ir_instr *type = is_constant(constant) ? pm_ir_type_of(constant) : NULL;
    type = pm_ir_component_type(type);
    return type && type->opcode == SpvOpTypeFloat && width_of(type) == 32;
}

bool pm_can_be_hidden(const struct pm_ir_instr *value)
{
    const struct pm_ir_instr *type = pm_ir_component_type(pm_ir_type_of(value));
    return type && (type->opcode == SpvOpTypeFloat || type->opcode == SpvOpTypeInt) &&
           width_of(type) == 32;
}

/* 0, of the candidate's first element, which is a zero of either sign or, if the device flushes
 * those, a denormal: the exponent's bits; of floats of other widths the integer part. A denormal
 * half is a normal float. An integer may be a float in disguise. */
static struct pm_ir_def *build_zero(const struct pm_hidden_constants *h, struct pm_ir_block *first)
{
    struct pm_ir_builder b = {h->module, first, first->body.first};
    struct pm_ir_def *value = h->candidate;
    const struct pm_ir_instr *type = pm_ir_type_of(value->instr);
    if (type->opcode == SpvOpTypeVector) {
        type = pm_ir_operand_instr(type, 0);
        value = pm_ir_build(&b, SpvOpCompositeExtract, type->result,
                            PM_IR_ARGS(pm_ir_id(value), pm_ir_word(0)));
    }
    struct pm_ir_def *uint = pm_ir_type_int(h->module, 32, false);
    if (type->opcode != SpvOpTypeFloat && width_of(type) != 32)
        return pm_ir_build(&b, SpvOpUConvert, uint, PM_IR_ARGS(pm_ir_id(value)));
    if (width_of(type) != 32) {
        value = pm_ir_build(&b, SpvOpFConvert, pm_ir_type_float(h->module, 32),
                            PM_IR_ARGS(pm_ir_id(value)));
        return pm_ir_build(&b, SpvOpConvertFToS, uint, PM_IR_ARGS(pm_ir_id(value)));
    }
    struct pm_ir_def *bits = type->result == uint
                                 ? value
                                 : pm_ir_build(&b, SpvOpBitcast, uint, PM_IR_ARGS(pm_ir_id(value)));
    return pm_ir_build(
        &b, SpvOpBitwiseAnd, uint,
        PM_IR_ARGS(pm_ir_id(bits), pm_ir_id(pm_ir_constant_uint(h->module, 0x7f800000))));
}

static bool is_integer(const struct pm_ir_instr *type)
{
    type = pm_ir_component_type(type);
    return type->opcode == SpvOpTypeInt && width_of(type) == 32;
}

static struct pm_ir_def *build_hidden(const struct pm_hidden_constants *h,
                                      struct pm_ir_instr *before, struct pm_ir_def *constant)
{
    struct pm_ir_builder b = {h->module, before->block, before};
    struct pm_ir_def *type = constant->instr->type.def, *zero = h->zero;
    struct pm_ir_def *uint = pm_ir_type_int(h->module, 32, false);
    if (type->instr->opcode == SpvOpTypeVector) {
        uint32_t count = pm_ir_operand_word(&type->instr->operands[1]);
        struct pm_ir_arg args[MOST_COMPONENTS];
        for (uint32_t i = 0; i < count && i < MOST_COMPONENTS; i++)
            args[i] = pm_ir_id(zero);
        uint = pm_ir_type_vector(h->module, uint, count);
        zero = pm_ir_build(&b, SpvOpCompositeConstruct, uint, args, count);
    }
    if (is_integer(type->instr))
        return pm_ir_build(&b, SpvOpBitwiseOr, type,
                           PM_IR_ARGS(pm_ir_id(constant), pm_ir_id(zero)));
    struct pm_ir_def *bits = pm_ir_build(&b, SpvOpBitcast, uint, PM_IR_ARGS(pm_ir_id(constant)));
    bits = pm_ir_build(&b, SpvOpBitwiseOr, uint, PM_IR_ARGS(pm_ir_id(bits), pm_ir_id(zero)));
    return pm_ir_build(&b, SpvOpBitcast, type, PM_IR_ARGS(pm_ir_id(bits)));
}

/* +0 of a float of another width, or a vector of such. */
static bool is_other_zero(const struct pm_ir_instr *constant)
{
    const struct pm_ir_instr *type = is_constant(constant) ? pm_ir_type_of(constant) : NULL;
    type = pm_ir_component_type(type);
    if (!type || type->opcode != SpvOpTypeFloat || width_of(type) == 32)
        return false;
    if (constant->opcode == SpvOpConstantNull)
        return true;
    const bool composite = constant->opcode == SpvOpConstantComposite;
    if (!composite && constant->opcode != SpvOpConstant)
        return false;
    for (uint32_t o = 0; composite && o < constant->operand_count; o++)
        if (!is_other_zero(pm_ir_operand_instr(constant, o)))
            return false;
    const struct pm_ir_operand *number = &constant->operands[0];
    if (!composite && !number->words)
        return pm_ir_operand_word(number) == 0;
    for (uint32_t w = 0; !composite && w < number->word_count; w++)
        if (number->words[w])
            return false;
    return true;
}

/* A hidden zero of 32 bits, converted. */
static struct pm_ir_def *build_other_zero(const struct pm_hidden_constants *h,
                                          struct pm_ir_instr *before, struct pm_ir_def *type)
{
    struct pm_ir_builder b = {h->module, before->block, before};
    struct pm_ir_def *single = pm_ir_type_float(h->module, 32);
    if (type->instr->opcode == SpvOpTypeVector)
        single =
            pm_ir_type_vector(h->module, single, pm_ir_operand_word(&type->instr->operands[1]));
    struct pm_ir_def *zero = pm_ir_global(h->module, SpvOpConstantNull, single, NULL, 0);
    if (h->module->failed)
        return zero;
    return pm_ir_build(&b, SpvOpFConvert, type,
                       PM_IR_ARGS(pm_ir_id(build_hidden(h, before, zero))));
}

struct pm_ir_def *pm_hidden_zero(struct pm_hidden_constants *h, struct pm_ir_block *first,
                                 struct pm_ir_instr *before, struct pm_ir_def *type)
{
    struct pm_ir_def *zero = pm_ir_global(h->module, SpvOpConstantNull, type, NULL, 0);
    const bool other = !h->module->failed && is_other_zero(zero->instr);
    if (h->module->failed || (!other && !can_be_hidden(zero->instr)))
        return zero;
    if (!h->zero)
        h->zero = build_zero(h, first);
    return other ? build_other_zero(h, before, type) : build_hidden(h, before, zero);
}

struct pm_ir_def *pm_hide_constant(struct pm_hidden_constants *h, struct pm_ir_instr *before,
                                   struct pm_ir_def *constant)
{
    if (!constant || h->module->failed || !pm_can_be_hidden(constant->instr))
        return constant;
    return build_hidden(h, before, constant);
}

/* What a device may round as it likes (Vulkan specification, "Precision and Operation of SPIR-V
 * Instructions"), and compilers compute otherwise. Products and sums are not among them. */
static bool is_rounded_freely(const struct pm_ir_instr *instr)
{
    if (instr->opcode != SpvOpExtInst)
        return instr->opcode == SpvOpFDiv || instr->opcode == SpvOpFRem ||
               instr->opcode == SpvOpFMod;
    uint32_t glsl = pm_ir_operand_word(&instr->operands[1]);
    return (glsl >= GLSLstd450Sin && glsl <= GLSLstd450MatrixInverse) ||
           glsl == GLSLstd450SmoothStep || (glsl >= GLSLstd450Length && glsl <= GLSLstd450Refract);
}

/* What compilers shorten where they see a zero, 0 * x to 0 and x + 0 to x, though it may be neither
 * (seen: lavapipe 22.3, with NoContraction). Where that is permitted S has no such instruction. */
static bool is_shortened(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
    case SpvOpDot:
        return true;
    case SpvOpExtInst: {
        uint32_t glsl = pm_ir_operand_word(&instr->operands[1]);
        return glsl == GLSLstd450Fma || glsl == GLSLstd450FMix;
    }
    default:
        return false;
    }
}

static bool has_zero(const struct pm_ir_instr *constant)
{
    if (constant->opcode == SpvOpConstantNull)
        return true;
    if (constant->opcode == SpvOpConstant)
        return (pm_ir_operand_word(&constant->operands[0]) & 0x7fffffff) == 0;
    for (uint32_t o = 0; constant->opcode == SpvOpConstantComposite && o < constant->operand_count;
         o++)
        if (has_zero(pm_ir_operand_instr(constant, o)))
            return true;
    return false;
}

void pm_hide_constants(struct pm_hidden_constants *h, struct pm_ir_block *first,
                       const struct pm_ir_instr *instr, struct pm_ir_instr *copy)
{
    if (h->module->failed || copy->opcode == SpvOpPhi || !copy->result)
        return;
    bool rounded_freely = is_rounded_freely(copy), alone = has_constants_alone(copy);
    if (!rounded_freely && !alone && !is_shortened(copy))
        return;
    for (uint32_t i = 0; i < copy->operand_count; i++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(copy, i);
        if (!operand || operand == pm_ir_operand_instr(instr, i))
            continue;
        const bool other = is_other_zero(operand);
        if (!other &&
            (!can_be_hidden(operand) || (!rounded_freely && !alone && !has_zero(operand))))
            continue;
        if (!h->zero)
            h->zero = build_zero(h, first);
        pm_ir_operand_set(&copy->operands[i], other ? build_other_zero(h, copy, operand->type.def)
                                                    : build_hidden(h, copy, operand->result));
        if (!rounded_freely && alone)
            return;
    }
}
