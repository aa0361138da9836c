/*
 * Cheaper operations with the same bits: a product with an integer that is a power of two is a
 * shift, an unsigned quotient likewise, a remainder a mask; a float over a power of two is a
 * product with its reciprocal, which is a power of two as well, so both are rounded from the same
 * number. Where it is not NoContraction it stays: drivers put products together, and quotients less
 * (tests/shader_rewrite/quirks/leaving/scalars.comp).
 */
#include "shader_rewrite/analysis/analysis_exact.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variant_passes.h"

/* The word of a 32-bit constant scalar of a type; of a vector, of one with all components the same.
 * false: it is none. */
static bool constant_word(const struct pm_ir_instr *instr, uint16_t scalar, uint32_t *word)
{
    if (!instr)
        return false;
    if (instr->opcode == SpvOpConstantComposite) {
        for (uint32_t i = 1; i < instr->operand_count; i++)
            if (instr->operands[i].def != instr->operands[0].def)
                return false;
        instr = pm_ir_operand_instr(instr, 0);
    }
    const struct pm_ir_instr *type = pm_ir_type_of(instr);
    if (instr->opcode != SpvOpConstant || type->opcode != scalar ||
        pm_ir_operand_word(&type->operands[0]) != 32)
        return false;
    *word = pm_ir_operand_word(&instr->operands[0]);
    return true;
}

/* A constant of the same type as another one, with another word. NULL: the module failed. */
static struct pm_ir_def *constant_like(struct pm_ir_module *module, const struct pm_ir_instr *like,
                                       uint32_t word)
{
    const struct pm_ir_instr *type = pm_ir_type_of(like);
    if (type->opcode != SpvOpTypeVector)
        return pm_ir_global(module, SpvOpConstant, like->type.def, PM_IR_ARGS(pm_ir_word(word)));
    struct pm_ir_def *scalar =
        pm_ir_global(module, SpvOpConstant, type->operands[0].def, PM_IR_ARGS(pm_ir_word(word)));
    const struct pm_ir_arg parts[] = {pm_ir_id(scalar), pm_ir_id(scalar), pm_ir_id(scalar),
                                      pm_ir_id(scalar)};
    return pm_ir_global(module, SpvOpConstantComposite, like->type.def, parts,
                        pm_ir_operand_word(&type->operands[1]));
}

static bool replace(struct pm_ir_module *module, struct pm_ir_instr *instr, uint16_t opcode,
                    uint32_t word)
{
    struct pm_ir_def *constant = constant_like(module, pm_ir_operand_instr(instr, 1), word);
    if (!constant)
        return false;
    instr->opcode = opcode;
    pm_ir_operand_set(&instr->operands[1], constant);
    return true;
}

/* 2^n with a reciprocal that is no denormal. */
static bool reciprocal_of(uint32_t word, uint32_t *reciprocal)
{
    const uint32_t exponent = word >> 23 & 0xff;
    if ((word & 0x7fffff) != 0 || exponent == 0 || exponent >= 254)
        return false;
    *reciprocal = (word & 0x80000000) | (254 - exponent) << 23;
    return true;
}

static bool reduce(struct pm_ir_module *module, struct pm_ir_instr *instr)
{
    uint32_t word = 0, reciprocal;
    const struct pm_ir_instr *by = instr->operand_count == 2 ? pm_ir_operand_instr(instr, 1) : NULL;
    if (instr->opcode == SpvOpFDiv)
        return pm_exact_is_asked(instr->result) && constant_word(by, SpvOpTypeFloat, &word) &&
               reciprocal_of(word, &reciprocal) && replace(module, instr, SpvOpFMul, reciprocal);
    if (!constant_word(by, SpvOpTypeInt, &word) || word == 0 || (word & (word - 1)) != 0)
        return false;
    switch (instr->opcode) {
    case SpvOpIMul:
        /* 1 times it does not wrap where numbers have signs, 1 shifted there does. */
        return !(word >> 31) &&
               replace(module, instr, SpvOpShiftLeftLogical, (uint32_t)__builtin_ctz(word));
    case SpvOpUDiv:
        return replace(module, instr, SpvOpShiftRightLogical, (uint32_t)__builtin_ctz(word));
    case SpvOpUMod:
        return replace(module, instr, SpvOpBitwiseAnd, word - 1);
    default:
        return false;
    }
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)context;
    (void)error;
    const struct pm_ir_function *function = pm_variant_function(module);
    bool changed = false;
    for (struct pm_ir_block *b = function ? function->first_block : NULL; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
            changed |= reduce(module, i);
    return pm_pass_result_of(true, changed);
}

const struct pm_pass pm_pass_strength = {"strength", 0, PM_ANALYSIS_ALL, run};
