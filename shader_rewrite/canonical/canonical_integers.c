/*
 * Integer operations on constants that the pinned SPIRV-Tools computes wrongly, or that end the
 * process, are kept from its constant folding:
 *   - OpSDiv, OpSRem and OpSMod of 64 bits by -1: of the least number it traps, and the game with
 * it
 *   - OpSMod by a negative number: where nothing remains it gives the divisor
 *   - OpSConvert of a narrow unsigned type: it extends by zeroes
 *   - SClamp of an unsigned type and UClamp of a signed one: it compares as the type says
 * What is constant comes up inside of the optimizer, too, so whatever may be one of these is
 * another operation while it runs: one of floats, or of matrices, that has no side effects either,
 * and that it neither folds nor sees of integers. A divisor that became a harmless constant is
 * folded in the next round.
 *
 * Operations on specialization constants cannot be hidden so. OpSMod of 32 bits is written with
 * others that are folded rightly, the rest is refused.
 */
#include "shader_rewrite/canonical/canonical_passes.h"
#include "shader_rewrite/ir/ir_builder.h"

#include <spirv/unified1/GLSL.std.450.h>

/* What stands for each while it is hidden. */
static const struct disguise {
    uint16_t opcode, as;
} disguises[] = {
    {SpvOpSMod, SpvOpFMod},
    {SpvOpSRem, SpvOpFRem},
    {SpvOpSDiv, SpvOpOuterProduct},
    {SpvOpSConvert, SpvOpIsNan},
};
static const struct disguise clamps[] = {
    {GLSLstd450SClamp, GLSLstd450FaceForward},
    {GLSLstd450UClamp, GLSLstd450Refract},
};
enum {
    DISGUISES = sizeof disguises / sizeof disguises[0],
    CLAMPS = sizeof clamps / sizeof clamps[0],
};

static const struct pm_ir_instr *integer_of(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = instr ? pm_ir_type_of(instr) : NULL;
    type = type ? pm_ir_component_type(type) : NULL;
    return type && type->opcode == SpvOpTypeInt ? type : NULL;
}

static uint32_t width_of(const struct pm_ir_instr *integer)
{
    return pm_ir_operand_word(&integer->operands[0]);
}

static bool is_signed(const struct pm_ir_instr *integer)
{
    return pm_ir_operand_word(&integer->operands[1]) != 0;
}

/* A constant, of a vector each component, that is not -1, or not negative at all. */
static bool is_harmless(const struct pm_ir_instr *divisor, bool may_be_negative)
{
    const struct pm_ir_instr *integer = integer_of(divisor);
    if (!integer)
        return false;
    if (divisor->opcode == SpvOpConstantComposite) {
        for (uint32_t i = 0; i < divisor->operand_count; i++)
            if (!is_harmless(pm_ir_operand_instr(divisor, i), may_be_negative))
                return false;
        return true;
    }
    if (divisor->opcode != SpvOpConstant)
        return divisor->opcode == SpvOpConstantNull;
    const unsigned above = 64 - width_of(integer);
    const uint64_t top = pm_ir_operand_literal(&divisor->operands[0]) << above;
    return may_be_negative ? top != UINT64_MAX << above : !(top >> 63);
}

/* operands: where the first one is. */
static bool is_folded_wrongly(const struct pm_ir_instr *instr, uint32_t opcode, uint32_t operands)
{
    const struct pm_ir_instr *first = pm_ir_operand_instr(instr, operands);
    switch (opcode) {
    case SpvOpSMod:
        return !is_harmless(pm_ir_operand_instr(instr, operands + 1), false);
    case SpvOpSDiv:
    case SpvOpSRem:
        return width_of(integer_of(instr)) == 64 &&
               !is_harmless(pm_ir_operand_instr(instr, operands + 1), true);
    case SpvOpSConvert:
        return !is_signed(integer_of(first)) && width_of(integer_of(first)) < 32;
    default:
        return false;
    }
}

static bool is_clamp_of_other_sign(const struct pm_ir_instr *instr, uint32_t number)
{
    const bool wants_signed = number == GLSLstd450SClamp;
    if (is_signed(integer_of(instr)) != wants_signed)
        return true;
    for (uint32_t i = 2; i < instr->operand_count; i++)
        if (is_signed(integer_of(pm_ir_operand_instr(instr, i))) != wants_signed)
            return true;
    return false;
}

static bool hide(struct pm_ir_instr *instr)
{
    if (!integer_of(instr))
        return false;
    const uint32_t number = pm_ir_is_glsl(instr) ? pm_ir_operand_word(&instr->operands[1]) : 0;
    for (int i = 0; number && i < CLAMPS; i++)
        if (clamps[i].opcode == number && is_clamp_of_other_sign(instr, number)) {
            pm_ir_operand_set_word(&instr->operands[1], clamps[i].as);
            return true;
        }
    for (int i = 0; i < DISGUISES; i++)
        if (disguises[i].opcode == instr->opcode && is_folded_wrongly(instr, instr->opcode, 0)) {
            instr->opcode = disguises[i].as;
            return true;
        }
    return false;
}

static bool show(struct pm_ir_instr *instr)
{
    if (!integer_of(instr))
        return false;
    const uint32_t number = pm_ir_is_glsl(instr) ? pm_ir_operand_word(&instr->operands[1]) : 0;
    for (int i = 0; number && i < CLAMPS; i++)
        if (clamps[i].as == number) {
            pm_ir_operand_set_word(&instr->operands[1], clamps[i].opcode);
            return true;
        }
    for (int i = 0; i < DISGUISES; i++)
        if (disguises[i].as == instr->opcode) {
            instr->opcode = disguises[i].opcode;
            return true;
        }
    return false;
}

static bool visit(struct pm_ir_module *module, bool (*change)(struct pm_ir_instr *))
{
    bool changed = false;
    for (struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
                changed |= change(i);
    return changed;
}

/* ---- operations on specialization constants ---- */

static struct pm_ir_def *put(struct pm_ir_module *module, struct pm_ir_instr *before,
                             uint16_t opcode, const struct pm_ir_arg *args, uint32_t count)
{
    struct pm_ir_instr *made = pm_ir_instr_with(module, opcode, before->type.def, args, count);
    if (!made)
        return NULL; /* the module is marked as failed */
    pm_ir_insert(before->list, NULL, before, made);
    return made->result;
}

static struct pm_ir_def *operation(struct pm_ir_module *module, struct pm_ir_instr *before,
                                   SpvOp opcode, struct pm_ir_def *a, struct pm_ir_def *b)
{
    const struct pm_ir_arg args[] = {pm_ir_word(opcode), pm_ir_id(a), pm_ir_id(b)};
    return put(module, before, SpvOpSpecConstantOp, args, b ? 3 : 2);
}

/* r = a rem b; r + b where r is not 0 and has the other sign, else r. */
static bool write_modulo(struct pm_ir_module *module, struct pm_ir_instr *instr)
{
    struct pm_ir_def *b = instr->operands[2].def;
    struct pm_ir_def *top = put(module, instr, SpvOpConstant, PM_IR_ARGS(pm_ir_word(31)));
    struct pm_ir_def *r = operation(module, instr, SpvOpSRem, instr->operands[1].def, b);
    struct pm_ir_def *negated = operation(module, instr, SpvOpSNegate, r, NULL);
    struct pm_ir_def *either = operation(module, instr, SpvOpBitwiseOr, r, negated);
    struct pm_ir_def *other = operation(module, instr, SpvOpBitwiseXor, r, b);
    struct pm_ir_def *both = operation(module, instr, SpvOpBitwiseAnd, either, other);
    struct pm_ir_def *mask = operation(module, instr, SpvOpShiftRightArithmetic, both, top);
    struct pm_ir_def *added = operation(module, instr, SpvOpBitwiseAnd, mask, b);
    if (!added)
        return false;
    pm_ir_operand_set_word(&instr->operands[0], SpvOpIAdd);
    pm_ir_operand_set(&instr->operands[1], r);
    pm_ir_operand_set(&instr->operands[2], added);
    return true;
}

static bool write_operation(struct pm_ir_module *module, struct pm_ir_instr *instr, bool *changed,
                            struct pm_error *error)
{
    if (instr->opcode != SpvOpSpecConstantOp || !integer_of(instr))
        return true;
    const uint32_t opcode = pm_ir_operand_word(&instr->operands[0]);
    if (!is_folded_wrongly(instr, opcode, 1))
        return true;
    if (opcode != SpvOpSMod || pm_ir_type_of(instr)->opcode != SpvOpTypeInt ||
        width_of(integer_of(instr)) != 32)
        return pm_fail(error, PM_ERROR_UNSUPPORTED,
                       "OpSpecConstantOp %u: SPIRV-Tools computes %s of such operands wrongly",
                       instr->result->id, pm_ir_opcode_name((uint16_t)opcode));
    *changed = true;
    return write_modulo(module, instr) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory or ids for a modulo");
}

/* ---- the passes ---- */

static enum pm_pass_result hide_all(struct pm_ir_module *module, void *context,
                                    struct pm_error *error)
{
    (void)context;
    bool ok = true, changed = false;
    for (struct pm_ir_instr *i = module->sections[PM_IR_SECTION_GLOBAL].first; ok && i; i = i->next)
        ok = write_operation(module, i, &changed, error);
    changed |= ok && visit(module, hide);
    return pm_pass_result_of(ok, changed);
}

static enum pm_pass_result show_all(struct pm_ir_module *module, void *context,
                                    struct pm_error *error)
{
    (void)context;
    (void)error;
    return pm_pass_result_of(true, visit(module, show));
}

const struct pm_pass pm_pass_hide_integers = {"hide integers", 0, PM_ANALYSIS_ALL, hide_all};
const struct pm_pass pm_pass_show_integers = {"show integers", 0, PM_ANALYSIS_ALL, show_all};
