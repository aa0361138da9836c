#include "shader_rewrite/zero/fold/fold.h"

#include <math.h>

static const struct pm_zero_scalar any_zero = {PM_ZERO_ANY_SIGN, 0};
static const struct pm_zero_scalar plus_zero = {PM_ZERO_CONSTANT, 0};
static const struct pm_zero_scalar unknown = {PM_ZERO_UNKNOWN, 0};

static bool is_one(struct pm_zero_scalar s, uint32_t width)
{
    double number;
    return s.kind == PM_ZERO_CONSTANT && pm_zero_fold_number(s, width, &number) && number == 1;
}

static bool all(const struct pm_zero_value *v, uint32_t width,
                bool (*is)(struct pm_zero_scalar, uint32_t))
{
    for (uint32_t i = 0; i < v->components; i++)
        if (!is(v->c[i], width))
            return false;
    return true;
}

static struct pm_zero_scalar negated(const struct pm_zero_folding *f, struct pm_zero_scalar s)
{
    if (s.kind == PM_ZERO_CONSTANT)
        s.bits ^= (uint64_t)1 << (f->width - 1);
    return s;
}

static void fold_add(struct pm_zero_folding *f, bool subtract)
{
    struct pm_zero_value a = f->operands[0], b = f->operands[1];
    for (uint32_t i = 0; i < f->out.components; i++) {
        if (subtract)
            b.c[i] = negated(f, b.c[i]);
        f->out.c[i] = pm_zero_fold_sum(f, a.c[i], b.c[i]);
    }
    if (all(&b, f->width, pm_zero_fold_is_zero))
        pm_zero_fold_same_plus(f, 0, &b);
    else if (!subtract && all(&a, f->width, pm_zero_fold_is_zero))
        pm_zero_fold_same_plus(f, 1, &a);
}

/* Component by component, where one side may be a scalar for all. */
static void fold_multiply(struct pm_zero_folding *f)
{
    const struct pm_zero_value *a = &f->operands[0], *b = &f->operands[1];
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar x = a->c[a->components == 1 ? 0 : i];
        struct pm_zero_scalar y = b->c[b->components == 1 ? 0 : i];
        double p, q;
        if (!pm_zero_fold_product(f, x, f->defs[0], y, f->defs[1], &f->out.c[i]) &&
            f->width == 32 && x.kind == PM_ZERO_CONSTANT && y.kind == PM_ZERO_CONSTANT &&
            pm_zero_fold_number(x, 32, &p) && pm_zero_fold_number(y, 32, &q) &&
            pm_zero_fold_single(p * q, &f->out.c[i].bits))
            f->out.c[i].kind = PM_ZERO_CONSTANT;
    }
    const bool permitted = f->permitted && !pm_float_flushes(f->lookup->permission, f->instr);
    if (permitted && all(b, f->width, is_one))
        pm_zero_fold_same(f, 0);
    else if (permitted && all(a, f->width, is_one))
        pm_zero_fold_same(f, 1);
}

static void fold_dot(struct pm_zero_folding *f)
{
    struct pm_zero_scalar product;
    bool plus = true;
    for (uint32_t i = 0; i < f->operands[0].components; i++) {
        if (!pm_zero_fold_product(f, f->operands[0].c[i], f->defs[0], f->operands[1].c[i],
                                  f->defs[1], &product))
            return;
        plus = plus && pm_zero_is_known(product) && product.bits == 0;
    }
    f->out.c[0] = plus || f->plus ? plus_zero : any_zero;
}

/* Products with a matrix, as a whole. */
static void fold_matrix(struct pm_zero_folding *f)
{
    bool zero_a = all(&f->operands[0], f->width, pm_zero_fold_is_zero);
    bool zero_b = all(&f->operands[1], f->width, pm_zero_fold_is_zero);
    const struct pm_float_permission *p = f->lookup->permission;
    if ((zero_a && (f->permitted || zero_b || pm_float_is_finite(p, f->defs[1]))) ||
        (zero_b && (f->permitted || pm_float_is_finite(p, f->defs[0]))))
        for (uint32_t i = 0; i < f->out.components; i++)
            f->out.c[i] = f->plus ? plus_zero : any_zero;
}

/* A known number by another where that is a float exactly. */
static bool fold_quotient(struct pm_zero_folding *f, uint32_t i)
{
    double a, b;
    if (!pm_zero_fold_has_exact_ones(f) || !pm_zero_is_known(f->operands[0].c[i]) ||
        !pm_zero_is_known(f->operands[1].c[i]) ||
        !pm_zero_fold_number(f->operands[0].c[i], 32, &a) ||
        !pm_zero_fold_number(f->operands[1].c[i], 32, &b) || b == 0 ||
        !pm_zero_fold_single(a / b, &f->out.c[i].bits) || a / b * b != a)
        return false;
    f->out.c[i].kind = PM_ZERO_CONSTANT;
    return true;
}

static void fold_divide(struct pm_zero_folding *f)
{
    if (pm_zero_fold_has_exact_ones(f) && f->permitted &&
        !pm_float_flushes(f->lookup->permission, f->instr) &&
        all(&f->operands[1], f->width, is_one)) {
        pm_zero_fold_same(f, 0);
        return;
    }
    for (uint32_t i = 0; i < f->out.components; i++) {
        double divisor;
        if (fold_quotient(f, i))
            continue;
        struct pm_zero_scalar d = f->operands[1].c[i];
        if (d.kind == PM_ZERO_CONSTANT && pm_zero_fold_number(d, f->width, &divisor) &&
            divisor != 0 && isfinite(divisor)) {
            f->out.c[i] = pm_zero_fold_kept(f, f->operands[0].c[i], f->width);
            if (divisor < 0)
                f->out.c[i] = negated(f, f->out.c[i]);
        } else if (f->permitted && d.kind == PM_ZERO_UNKNOWN &&
                   pm_zero_fold_is_zero(f->operands[0].c[i], f->width)) {
            f->out.c[i] = plus_zero; /* 0 * (1 / x); 0 / 0 is NaN, and stays */
        }
    }
}

/* For what keeps a zero and its sign. */
static void fold_keep_zero(struct pm_zero_folding *f)
{
    uint32_t to = pm_zero_width_of(pm_scalar_type(pm_ir_type_of(f->instr)));
    for (uint32_t i = 0; i < f->out.components; i++)
        f->out.c[i] = pm_zero_fold_kept(f, f->operands[0].c[i], to);
}

/* Of zeroes of either sign another may be; of all of one sign there is but +0. */
static void fold_derivative(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++)
        if (pm_zero_fold_is_zero(f->operands[0].c[i], f->width))
            f->out.c[i] = f->operands[0].c[i].kind == PM_ZERO_CONSTANT ? plus_zero : any_zero;
}

/* Towards zero; what does not fit is not defined. */
static void fold_to_integer(struct pm_zero_folding *f, bool is_signed)
{
    const uint32_t to = pm_zero_width_of(pm_scalar_type(pm_ir_type_of(f->instr)));
    const double limit = ldexp(1, (int)(to < 32 ? to : 32) - is_signed);
    for (uint32_t i = 0; i < f->out.components; i++) {
        double number;
        if (pm_zero_fold_number(f->operands[0].c[i], f->width, &number) && number < limit &&
            number >= (is_signed ? -limit : 0))
            pm_zero_fold_set(f, i, (uint64_t)(int64_t)number & pm_zero_mask_of(to));
    }
}

static void fold_from_integer(struct pm_zero_folding *f, bool is_signed)
{
    uint32_t to = pm_zero_width_of(pm_scalar_type(pm_ir_type_of(f->instr)));
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar s = f->operands[0].c[i];
        if (s.kind != PM_ZERO_CONSTANT)
            continue;
        uint64_t sign = (uint64_t)1 << (f->width - 1), bits = 0;
        double number = is_signed ? (double)(int64_t)((s.bits ^ sign) - sign) : (double)s.bits;
        bool small = fabs(number) < 1 << 24;
        if (s.bits == 0 || (to == 32 && small && pm_zero_fold_single(number, &bits)))
            pm_zero_fold_set(f, i, bits);
    }
}

/* A matrix knows of zero only. */
static bool is_matrix(const struct pm_ir_instr *type)
{
    return type && type->opcode == SpvOpTypeMatrix;
}

static void fold(struct pm_zero_folding *f)
{
    switch (f->instr->opcode) {
    case SpvOpCopyObject:
    case SpvOpExpectKHR:
        pm_zero_fold_same(f, 0);
        return;
    case SpvOpTranspose:
        f->out.c[0] = pm_zero_value_is_zero(&f->operands[0]) ? f->operands[0].c[0] : unknown;
        return;
    case SpvOpCompositeExtract:
    case SpvOpCompositeInsert:
    case SpvOpVectorExtractDynamic:
    case SpvOpVectorInsertDynamic:
    case SpvOpVectorShuffle:
    case SpvOpSelect:
    case SpvOpBitcast:
        pm_zero_fold_move(f);
        return;
    case SpvOpFNegate:
        for (uint32_t i = 0; i < f->out.components; i++)
            f->out.c[i] = negated(f, f->operands[0].c[i]);
        return;
    case SpvOpFAdd:
    case SpvOpFSub:
        if (!is_matrix(pm_ir_type_of(f->instr)))
            fold_add(f, f->instr->opcode == SpvOpFSub);
        return;
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
        fold_multiply(f);
        return;
    case SpvOpDot:
        fold_dot(f);
        return;
    case SpvOpMatrixTimesScalar:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
    case SpvOpOuterProduct:
        fold_matrix(f);
        return;
    case SpvOpFDiv:
        fold_divide(f);
        return;
    case SpvOpFConvert:
    case SpvOpQuantizeToF16:
        fold_keep_zero(f);
        return;
    case SpvOpConvertFToS:
    case SpvOpConvertFToU:
        fold_to_integer(f, f->instr->opcode == SpvOpConvertFToS);
        return;
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
        fold_from_integer(f, f->instr->opcode == SpvOpConvertSToF);
        return;
    default:
        if (pm_ir_opcode_is(f->instr->opcode, PM_IR_OP_DERIVATIVE))
            fold_derivative(f);
        pm_zero_fold_integer(f);
        pm_zero_fold_compare(f);
    }
}

/* Looks up what an instruction reads; false: more, or other, than is understood. */
static bool read_operands(struct pm_zero_folding *f, uint32_t first, bool *unset)
{
    const struct pm_zero_lookup *l = f->lookup;
    for (uint32_t o = first; o < f->instr->operand_count; o++) {
        struct pm_ir_def *def = f->instr->operands[o].def;
        if (!def)
            continue;
        if (f->count == 4 || !def->instr || !pm_ir_type_of(def->instr))
            return false;
        f->defs[f->count] = def;
        f->operands[f->count] = l->value(l->user, def);
        for (uint32_t i = 0; i < f->operands[f->count].components; i++)
            *unset |= f->operands[f->count].c[i].kind == PM_ZERO_UNSET;
        f->width = pm_zero_width_of(pm_scalar_type(pm_ir_type_of(def->instr)));
        f->count++;
    }
    return f->count > 0;
}

struct pm_zero_value pm_zero_fold(const struct pm_zero_lookup *lookup,
                                  const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = pm_ir_type_of(instr);
    struct pm_zero_folding f = {
        .lookup = lookup, .instr = instr, .out = pm_zero_value_all(type, PM_ZERO_UNKNOWN)};
    if (!pm_scalar_type(type) || instr->opcode == SpvOpPhi)
        return f.out;
    if (instr->opcode == SpvOpCompositeConstruct) {
        pm_zero_fold_move(&f);
        return f.out;
    }
    bool unset = false;
    uint32_t glsl = pm_glsl_of(lookup->permission, instr);
    if ((instr->opcode == SpvOpExtInst && !glsl) || !read_operands(&f, glsl ? 2 : 0, &unset))
        return f.out;
    if (unset)
        return pm_zero_value_all(type, PM_ZERO_UNSET);
    f.permitted = pm_float_takes_zero(lookup->permission, instr);
    f.plus = pm_float_takes_plus(lookup->permission, instr);
    if (glsl)
        pm_zero_fold_glsl(&f, glsl);
    else
        fold(&f);
    return f.out;
}
