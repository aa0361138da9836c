/* The part of folding about integers, booleans and comparisons. */
#include "shader_rewrite/zero/fold/folding.h"

static int64_t extended(uint64_t bits, uint32_t width)
{
    uint64_t sign = (uint64_t)1 << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

static bool known(struct pm_zero_scalar s)
{
    return s.kind == PM_ZERO_CONSTANT;
}

/* Two known components; false: no such operation, or not defined. */
static bool binary(uint16_t opcode, uint64_t a, uint64_t b, uint32_t width, uint64_t *out)
{
    switch (opcode) {
    case SpvOpIAdd:
        *out = a + b;
        return true;
    case SpvOpISub:
        *out = a - b;
        return true;
    case SpvOpIMul:
        *out = a * b;
        return true;
    case SpvOpBitwiseAnd:
        *out = a & b;
        return true;
    case SpvOpBitwiseOr:
        *out = a | b;
        return true;
    case SpvOpBitwiseXor:
        *out = a ^ b;
        return true;
    case SpvOpShiftLeftLogical:
        *out = b < width ? a << b : 0;
        return b < width;
    case SpvOpShiftRightLogical:
        *out = b < width ? a >> b : 0;
        return b < width;
    default:
        return false;
    }
}

/* One side is zero and the other is not known. */
static bool zero_wins(uint16_t opcode, bool left)
{
    switch (opcode) {
    case SpvOpIMul:
    case SpvOpBitwiseAnd:
        return true;
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        return left;
    default:
        return false;
    }
}

static bool is_all_zero(const struct pm_zero_value *v)
{
    for (uint32_t i = 0; i < v->components; i++)
        if (!known(v->c[i]) || v->c[i].bits)
            return false;
    return true;
}

static void fold_binary(struct pm_zero_folding *f)
{
    uint16_t opcode = f->instr->opcode;
    /* The result's width; a shift's amount may have another, and is the last operand. */
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(f->instr));
    uint32_t width = pm_ir_operand_word(&scalar->operands[0]);
    uint64_t mask = width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar a = f->operands[0].c[i], b = f->operands[1].c[i];
        uint64_t bits;
        if (known(a) && known(b) && binary(opcode, a.bits, b.bits, width, &bits))
            pm_zero_fold_set(f, i, bits & mask);
        else if ((known(a) && a.bits == 0 && zero_wins(opcode, true)) ||
                 (known(b) && b.bits == 0 && zero_wins(opcode, false)))
            pm_zero_fold_set(f, i, 0);
    }
    bool adds = opcode == SpvOpIAdd || opcode == SpvOpBitwiseOr || opcode == SpvOpBitwiseXor;
    bool keeps_left = adds || opcode == SpvOpISub || opcode == SpvOpShiftLeftLogical ||
                      opcode == SpvOpShiftRightLogical || opcode == SpvOpShiftRightArithmetic;
    if (keeps_left && is_all_zero(&f->operands[1]))
        pm_zero_fold_same(f, 0);
    else if (adds && is_all_zero(&f->operands[0]))
        pm_zero_fold_same(f, 1);
}

/* 0 / x, where x is a number that is not 0. */
static void fold_quotient(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar a = f->operands[0].c[i], b = f->operands[1].c[i];
        if (known(a) && a.bits == 0 && known(b) && b.bits != 0)
            pm_zero_fold_set(f, i, 0);
    }
}

/* What maps zero to zero. */
static void fold_zero(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++)
        if (known(f->operands[0].c[i]) && f->operands[0].c[i].bits == 0)
            pm_zero_fold_set(f, i, 0);
}

void pm_zero_fold_integer(struct pm_zero_folding *f)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(f->instr));
    if (scalar->opcode != SpvOpTypeInt)
        return;
    switch (f->instr->opcode) {
    case SpvOpIAdd:
    case SpvOpISub:
    case SpvOpIMul:
    case SpvOpBitwiseAnd:
    case SpvOpBitwiseOr:
    case SpvOpBitwiseXor:
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        fold_binary(f);
        return;
    case SpvOpUDiv:
    case SpvOpSDiv:
    case SpvOpUMod:
    case SpvOpSMod:
    case SpvOpSRem:
        fold_quotient(f);
        return;
    case SpvOpSNegate:
    case SpvOpSConvert:
    case SpvOpUConvert:
    case SpvOpBitCount:
    case SpvOpBitReverse:
    case SpvOpBitFieldSExtract:
    case SpvOpBitFieldUExtract:
        fold_zero(f);
        return;
    default:
        return;
    }
}

/* ---- comparisons ---- */

static bool compare_floats(uint16_t opcode, double a, double b, bool *result)
{
    bool unordered = a != a || b != b;
    switch (opcode) {
    case SpvOpFOrdEqual:
        *result = a == b;
        return true;
    case SpvOpFUnordEqual:
        *result = unordered || a == b;
        return true;
    case SpvOpFOrdNotEqual:
        *result = !unordered && a != b;
        return true;
    case SpvOpFUnordNotEqual:
        *result = a != b;
        return true;
    case SpvOpFOrdLessThan:
        *result = a < b;
        return true;
    case SpvOpFUnordLessThan:
        *result = unordered || a < b;
        return true;
    case SpvOpFOrdGreaterThan:
        *result = a > b;
        return true;
    case SpvOpFUnordGreaterThan:
        *result = unordered || a > b;
        return true;
    case SpvOpFOrdLessThanEqual:
        *result = a <= b;
        return true;
    case SpvOpFUnordLessThanEqual:
        *result = unordered || a <= b;
        return true;
    case SpvOpFOrdGreaterThanEqual:
        *result = a >= b;
        return true;
    case SpvOpFUnordGreaterThanEqual:
        *result = unordered || a >= b;
        return true;
    default:
        return false;
    }
}

static bool compare_integers(uint16_t opcode, uint64_t a, uint64_t b, uint32_t width, bool *result)
{
    int64_t x = extended(a, width), y = extended(b, width);
    switch (opcode) {
    case SpvOpIEqual:
    case SpvOpLogicalEqual:
        *result = a == b;
        return true;
    case SpvOpINotEqual:
    case SpvOpLogicalNotEqual:
        *result = a != b;
        return true;
    case SpvOpULessThan:
        *result = a < b;
        return true;
    case SpvOpUGreaterThan:
        *result = a > b;
        return true;
    case SpvOpULessThanEqual:
        *result = a <= b;
        return true;
    case SpvOpUGreaterThanEqual:
        *result = a >= b;
        return true;
    case SpvOpSLessThan:
        *result = x < y;
        return true;
    case SpvOpSGreaterThan:
        *result = x > y;
        return true;
    case SpvOpSLessThanEqual:
        *result = x <= y;
        return true;
    case SpvOpSGreaterThanEqual:
        *result = x >= y;
        return true;
    default:
        return false;
    }
}

static void fold_logical(struct pm_zero_folding *f, bool decides)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar a = f->operands[0].c[i], b = f->operands[1].c[i];
        if ((known(a) && a.bits == decides) || (known(b) && b.bits == decides))
            pm_zero_fold_set(f, i, decides);
        else if (known(a) && known(b))
            pm_zero_fold_set(f, i, !decides);
    }
}

static void fold_reduction(struct pm_zero_folding *f, bool decides)
{
    bool every = true;
    for (uint32_t i = 0; i < f->operands[0].components; i++) {
        struct pm_zero_scalar s = f->operands[0].c[i];
        every &= known(s);
        if (known(s) && s.bits == decides) {
            pm_zero_fold_set(f, 0, decides);
            return;
        }
    }
    if (every)
        pm_zero_fold_set(f, 0, !decides);
}

static void fold_pairs(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; f->count == 2 && i < f->out.components; i++) {
        struct pm_zero_scalar a = f->operands[0].c[i], b = f->operands[1].c[i];
        double x, y;
        bool result;
        if (pm_zero_fold_number(a, f->width, &x) && pm_zero_fold_number(b, f->width, &y) &&
            compare_floats(f->instr->opcode, x, y, &result))
            pm_zero_fold_set(f, i, result);
        else if (known(a) && known(b) &&
                 compare_integers(f->instr->opcode, a.bits, b.bits, f->width, &result))
            pm_zero_fold_set(f, i, result);
    }
}

void pm_zero_fold_compare(struct pm_zero_folding *f)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(f->instr));
    if (scalar->opcode != SpvOpTypeBool)
        return;
    double number;
    switch (f->instr->opcode) {
    case SpvOpLogicalAnd:
    case SpvOpLogicalOr:
        fold_logical(f, f->instr->opcode == SpvOpLogicalOr);
        return;
    case SpvOpAny:
    case SpvOpAll:
        fold_reduction(f, f->instr->opcode == SpvOpAny);
        return;
    case SpvOpLogicalNot:
        for (uint32_t i = 0; i < f->out.components; i++)
            if (known(f->operands[0].c[i]))
                pm_zero_fold_set(f, i, !f->operands[0].c[i].bits);
        return;
    case SpvOpIsNan:
    case SpvOpIsInf:
        for (uint32_t i = 0; i < f->out.components; i++)
            if (pm_zero_fold_number(f->operands[0].c[i], f->width, &number) && number - number == 0)
                pm_zero_fold_set(f, i, 0);
        return;
    default:
        fold_pairs(f);
    }
}
