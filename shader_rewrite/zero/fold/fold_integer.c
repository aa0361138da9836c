/* The part of folding about integers, booleans and comparisons. */
#include "shader_rewrite/zero/fold/folding.h"

static int64_t extended(uint64_t bits, uint32_t width)
{
    uint64_t sign = (uint64_t)1 << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

static bool is_negative(uint64_t bits, uint32_t width)
{
    return bits >> (width - 1);
}

/* Two known components; false: no such operation, or not defined. Of negative numbers no remainder
 * is, in Vulkan, and quotients are left to the device, too. */
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
    case SpvOpShiftRightArithmetic:
        *out = b < width ? (uint64_t)(extended(a, width) >> b) : 0;
        return b < width;
    case SpvOpUDiv:
    case SpvOpSDiv:
        *out = b ? a / b : 0;
        return b && (!a || opcode == SpvOpUDiv || !is_negative(a | b, width));
    case SpvOpUMod:
    case SpvOpSMod:
    case SpvOpSRem:
        *out = b ? a % b : 0;
        return b && (!a || opcode == SpvOpUMod || !is_negative(a | b, width));
    default:
        return false;
    }
}

/* One side is this and the other is not known: the result is it. */
static bool wins(uint16_t opcode, uint64_t bits, bool left, uint64_t mask)
{
    switch (opcode) {
    case SpvOpIMul:
    case SpvOpBitwiseAnd:
        return bits == 0;
    case SpvOpBitwiseOr:
        return bits == mask;
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        return bits == 0 && left;
    default:
        return false;
    }
}

static bool commutes(uint16_t opcode)
{
    return opcode == SpvOpIAdd || opcode == SpvOpIMul || opcode == SpvOpBitwiseAnd ||
           opcode == SpvOpBitwiseOr || opcode == SpvOpBitwiseXor;
}

/* The right operand that leaves the left one as it is. */
static uint64_t neutral(uint16_t opcode, uint64_t mask)
{
    switch (opcode) {
    case SpvOpIMul:
    case SpvOpUDiv:
    case SpvOpSDiv:
        return 1;
    case SpvOpBitwiseAnd:
        return mask;
    default:
        return 0;
    }
}

static bool is_remainder(uint16_t opcode)
{
    return opcode == SpvOpUMod || opcode == SpvOpSMod || opcode == SpvOpSRem;
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
        if (pm_zero_is_known(a) && pm_zero_is_known(b) &&
            binary(opcode, a.bits, b.bits, width, &bits))
            pm_zero_fold_set(f, i, bits & mask);
        else if (pm_zero_is_known(a) && wins(opcode, a.bits, true, mask))
            pm_zero_fold_set(f, i, a.bits);
        else if (pm_zero_is_known(b) && wins(opcode, b.bits, false, mask))
            pm_zero_fold_set(f, i, b.bits);
        else if (is_remainder(opcode) && pm_zero_is_known(b) && b.bits == 1)
            pm_zero_fold_set(f, i, 0);
    }
    if (!is_remainder(opcode) && pm_zero_fold_all_are(&f->operands[1], neutral(opcode, mask)))
        pm_zero_fold_same(f, 0);
    else if (commutes(opcode) && pm_zero_fold_all_are(&f->operands[0], neutral(opcode, mask)))
        pm_zero_fold_same(f, 1);
}

/* The operand's width, f->width, and the result's may differ. */
static void fold_unary(struct pm_zero_folding *f)
{
    const uint32_t width = pm_zero_width_of(pm_scalar_type(pm_ir_type_of(f->instr)));
    for (uint32_t i = 0; i < f->out.components; i++) {
        uint64_t bits = f->operands[0].c[i].bits;
        if (!pm_zero_is_known(f->operands[0].c[i]))
            continue;
        if (f->instr->opcode == SpvOpNot)
            bits = ~bits;
        else if (f->instr->opcode == SpvOpSNegate)
            bits = 0 - bits;
        else if (f->instr->opcode == SpvOpBitCount)
            bits = (uint64_t)__builtin_popcountll(bits);
        else if (f->instr->opcode == SpvOpSConvert)
            bits = (uint64_t)extended(bits, f->width);
        pm_zero_fold_set(f, i, bits & pm_zero_mask_of(width));
    }
}

/* What maps zero to zero. */
static void fold_zero(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++)
        if (pm_zero_is_known(f->operands[0].c[i]) && f->operands[0].c[i].bits == 0)
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
    case SpvOpUDiv:
    case SpvOpSDiv:
    case SpvOpUMod:
    case SpvOpSMod:
    case SpvOpSRem:
        fold_binary(f);
        return;
    case SpvOpNot:
    case SpvOpSNegate:
    case SpvOpSConvert:
    case SpvOpUConvert:
    case SpvOpBitCount:
        fold_unary(f);
        return;
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
        if ((pm_zero_is_known(a) && a.bits == decides) ||
            (pm_zero_is_known(b) && b.bits == decides))
            pm_zero_fold_set(f, i, decides);
        else if (pm_zero_is_known(a) && pm_zero_is_known(b))
            pm_zero_fold_set(f, i, !decides);
    }
    for (uint32_t o = 0; o < 2; o++)
        if (pm_zero_fold_all_are(&f->operands[o], !decides))
            pm_zero_fold_same(f, 1 - o);
}

static void fold_reduction(struct pm_zero_folding *f, bool decides)
{
    bool every = true;
    for (uint32_t i = 0; i < f->operands[0].components; i++) {
        struct pm_zero_scalar s = f->operands[0].c[i];
        every &= pm_zero_is_known(s);
        if (pm_zero_is_known(s) && s.bits == decides) {
            pm_zero_fold_set(f, 0, decides);
            return;
        }
    }
    if (every)
        pm_zero_fold_set(f, 0, !decides);
}

/* Nothing is less than 0, without a sign. */
static bool compare_with_least(uint16_t opcode, struct pm_zero_scalar a, struct pm_zero_scalar b,
                               bool *result)
{
    const bool zero_a = pm_zero_is_known(a) && a.bits == 0;
    const bool zero_b = pm_zero_is_known(b) && b.bits == 0;
    *result = opcode == SpvOpULessThanEqual || opcode == SpvOpUGreaterThanEqual;
    return (zero_b && (opcode == SpvOpULessThan || opcode == SpvOpUGreaterThanEqual)) ||
           (zero_a && (opcode == SpvOpUGreaterThan || opcode == SpvOpULessThanEqual));
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
        else if (pm_zero_is_known(a) && pm_zero_is_known(b) &&
                 compare_integers(f->instr->opcode, a.bits, b.bits, f->width, &result))
            pm_zero_fold_set(f, i, result);
        else if (compare_with_least(f->instr->opcode, a, b, &result))
            pm_zero_fold_set(f, i, result);
    }
    /* Of booleans: what is equal to true is as it is. */
    const bool equal = f->instr->opcode == SpvOpLogicalEqual;
    for (uint32_t o = 0; o < 2 && (equal || f->instr->opcode == SpvOpLogicalNotEqual); o++)
        if (pm_zero_fold_all_are(&f->operands[o], equal))
            pm_zero_fold_same(f, 1 - o);
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
            if (pm_zero_is_known(f->operands[0].c[i]))
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
