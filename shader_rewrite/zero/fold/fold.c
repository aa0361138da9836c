#include "shader_rewrite/zero/fold/fold.h"

#include <math.h>
#include <string.h>

static const struct pm_zero_scalar zero_any = {PM_ZERO_ANY_SIGN, 0};
static const struct pm_zero_scalar unknown = {PM_ZERO_UNKNOWN, 0};

bool pm_zero_scalar_is_zero(struct pm_zero_scalar s)
{
    return s.kind == PM_ZERO_ANY_SIGN || (s.kind == PM_ZERO_CONSTANT && s.bits == 0);
}

bool pm_zero_value_is_zero(const struct pm_zero_value *value)
{
    for (uint32_t i = 0; i < value->components; i++)
        if (!pm_zero_scalar_is_zero(value->c[i]))
            return false;
    return value->components > 0;
}

static uint32_t components_of(const struct pm_ir_instr *type)
{
    if (!type || type->opcode != SpvOpTypeVector)
        return 1;
    uint32_t count = pm_ir_operand_word(&type->operands[1]);
    return count <= PM_ZERO_ELEMENTS ? count : 1;
}

bool pm_zero_is_plain(const struct pm_ir_instr *type)
{
    if (type && type->opcode == SpvOpTypeVector)
        return pm_ir_operand_word(&type->operands[1]) <= PM_ZERO_ELEMENTS;
    return type && (type->opcode == SpvOpTypeFloat || type->opcode == SpvOpTypeInt ||
                    type->opcode == SpvOpTypeBool);
}

struct pm_zero_value pm_zero_value_all(const struct pm_ir_instr *type, enum pm_zero_kind kind)
{
    struct pm_zero_value value = {.components = components_of(type)};
    for (uint32_t i = 0; i < PM_ZERO_ELEMENTS; i++)
        value.c[i].kind = kind;
    return value;
}

static uint64_t literal(const struct pm_ir_operand *operand)
{
    if (!operand->words)
        return operand->word;
    return operand->words[0] | (operand->word_count > 1 ? (uint64_t)operand->words[1] << 32 : 0);
}

static uint32_t width_of(const struct pm_ir_instr *scalar)
{
    if (!scalar || scalar->opcode == SpvOpTypeBool)
        return 1;
    return pm_ir_operand_word(&scalar->operands[0]);
}

static uint64_t mask_of(uint32_t width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static struct pm_zero_scalar constant(uint64_t bits)
{
    return (struct pm_zero_scalar){PM_ZERO_CONSTANT, bits};
}

struct pm_zero_value pm_zero_value_global(const struct pm_ir_def *def)
{
    const struct pm_ir_instr *instr = def->instr;
    const struct pm_ir_instr *type = instr ? pm_ir_type_of(instr) : NULL;
    struct pm_zero_value value = pm_zero_value_all(type, PM_ZERO_UNKNOWN);
    const struct pm_ir_instr *scalar = pm_zero_scalar_type(type);
    if (!scalar)
        return value;
    switch (instr->opcode) {
    case SpvOpConstantNull:
        return pm_zero_value_all(type, PM_ZERO_CONSTANT);
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
        value.c[0] = constant(instr->opcode == SpvOpConstantTrue);
        return value;
    case SpvOpConstant:
        value.c[0] = constant(literal(&instr->operands[0]) & mask_of(width_of(scalar)));
        return value;
    case SpvOpConstantComposite:
        break;
    default:
        return value;
    }
    if (pm_zero_is_plain(type)) {
        for (uint32_t i = 0; i < value.components && i < instr->operand_count; i++)
            value.c[i] = pm_zero_value_global(instr->operands[i].def).c[0];
        return value;
    }
    for (uint32_t i = 0; i < instr->operand_count; i++) {
        struct pm_zero_value column = pm_zero_value_global(instr->operands[i].def);
        if (!pm_zero_value_is_zero(&column))
            return value;
    }
    return pm_zero_value_all(type, PM_ZERO_CONSTANT);
}

/* ---- helpers of the parts ---- */

void pm_zero_fold_same(struct pm_zero_folding *f, uint32_t index)
{
    const struct pm_ir_instr *from = f->defs[index]->instr;
    for (uint32_t i = 0; i < f->out.components && i < f->operands[index].components; i++)
        f->out.c[i] = f->operands[index].c[i];
    if (from && from->type.def == f->instr->type.def)
        f->out.same = f->operands[index].same ? f->operands[index].same : f->defs[index];
}

void pm_zero_fold_set(struct pm_zero_folding *f, uint32_t i, uint64_t bits)
{
    f->out.c[i] = constant(bits);
}

static double half(uint64_t bits)
{
    int exponent = (int)(bits >> 10 & 31);
    double fraction = (double)(bits & 1023) / 1024;
    double size = exponent == 0    ? ldexp(fraction, -14)
                  : exponent == 31 ? (fraction > 0 ? (double)NAN : (double)INFINITY)
                                   : ldexp(1 + fraction, exponent - 15);
    return bits & 0x8000 ? -size : size;
}

bool pm_zero_fold_number(struct pm_zero_scalar s, uint32_t width, double *number)
{
    *number = 0;
    if (s.kind == PM_ZERO_ANY_SIGN)
        return true;
    if (s.kind != PM_ZERO_CONSTANT)
        return false;
    if (width == 64) {
        memcpy(number, &s.bits, sizeof(*number));
    } else if (width == 32) {
        float single;
        uint32_t bits = (uint32_t)s.bits;
        memcpy(&single, &bits, sizeof(single));
        *number = (double)single;
    } else if (width == 16) {
        *number = half(s.bits);
    } else {
        return false;
    }
    return true;
}

static bool is_float_zero(struct pm_zero_scalar s, uint32_t width)
{
    return s.kind == PM_ZERO_ANY_SIGN ||
           (s.kind == PM_ZERO_CONSTANT && (s.bits & (mask_of(width) >> 1)) == 0);
}

static bool is_finite(const struct pm_zero_folding *f, struct pm_zero_scalar s,
                      const struct pm_ir_def *def)
{
    double number;
    if (pm_zero_fold_number(s, f->width, &number))
        return isfinite(number);
    return pm_zero_is_finite(f->lookup->permission, def);
}

bool pm_zero_fold_product(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                          const struct pm_ir_def *a_def, struct pm_zero_scalar b,
                          const struct pm_ir_def *b_def)
{
    bool zero_a = is_float_zero(a, f->width), zero_b = is_float_zero(b, f->width);
    if (!zero_a && !zero_b)
        return false;
    return f->permitted || (zero_a && is_finite(f, b, b_def)) || (zero_b && is_finite(f, a, a_def));
}

/* The bits of a 32-bit float, where the number is one exactly, and an ordinary one. */
static bool single_bits(double number, uint64_t *bits)
{
    float single = (float)number;
    if ((double)single != number || !isnormal(single))
        return false;
    uint32_t word;
    memcpy(&word, &single, sizeof(word));
    *bits = word;
    return true;
}

struct pm_zero_scalar pm_zero_fold_sum(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                                       struct pm_zero_scalar b)
{
    bool zero_a = is_float_zero(a, f->width), zero_b = is_float_zero(b, f->width);
    if (zero_a && zero_b)
        return zero_any;
    if (zero_a && b.kind == PM_ZERO_CONSTANT)
        return b;
    if (zero_b && a.kind == PM_ZERO_CONSTANT)
        return a;
    double x, y;
    uint64_t bits;
    if (f->width != 32 || !pm_zero_fold_number(a, 32, &x) || !pm_zero_fold_number(b, 32, &y))
        return unknown;
    if (x == -y && isfinite(x))
        return zero_any;
    /* A sum of two 32-bit floats that are far apart is rounded in 64 bits too; then it is no 32-bit
     * float. */
    if (single_bits(x + y, &bits) && (x + y) - x == y && (x + y) - y == x)
        return constant(bits);
    return unknown;
}

/* ---- arithmetic ---- */

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
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar b = f->operands[1].c[i];
        f->out.c[i] = pm_zero_fold_sum(f, f->operands[0].c[i], subtract ? negated(f, b) : b);
    }
    if (f->permitted && all(&f->operands[1], f->width, is_float_zero))
        pm_zero_fold_same(f, 0);
    else if (f->permitted && !subtract && all(&f->operands[0], f->width, is_float_zero))
        pm_zero_fold_same(f, 1);
}

/* Component by component, where one side may be a scalar for all. */
static void fold_multiply(struct pm_zero_folding *f)
{
    const struct pm_zero_value *a = &f->operands[0], *b = &f->operands[1];
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar x = a->c[a->components == 1 ? 0 : i];
        struct pm_zero_scalar y = b->c[b->components == 1 ? 0 : i];
        double p, q;
        if (pm_zero_fold_product(f, x, f->defs[0], y, f->defs[1]))
            f->out.c[i] = zero_any;
        else if (f->width == 32 && x.kind == PM_ZERO_CONSTANT && y.kind == PM_ZERO_CONSTANT &&
                 pm_zero_fold_number(x, 32, &p) && pm_zero_fold_number(y, 32, &q) &&
                 single_bits(p * q, &f->out.c[i].bits))
            f->out.c[i].kind = PM_ZERO_CONSTANT;
    }
    if (f->permitted && all(b, f->width, is_one))
        pm_zero_fold_same(f, 0);
    else if (f->permitted && all(a, f->width, is_one))
        pm_zero_fold_same(f, 1);
}

static void fold_dot(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->operands[0].components; i++)
        if (!pm_zero_fold_product(f, f->operands[0].c[i], f->defs[0], f->operands[1].c[i],
                                  f->defs[1]))
            return;
    f->out.c[0] = zero_any;
}

/* Products with a matrix, as a whole. */
static void fold_matrix(struct pm_zero_folding *f)
{
    bool zero_a = all(&f->operands[0], f->width, is_float_zero);
    bool zero_b = all(&f->operands[1], f->width, is_float_zero);
    const struct pm_zero_permission *p = f->lookup->permission;
    if ((zero_a && (f->permitted || zero_b || pm_zero_is_finite(p, f->defs[1]))) ||
        (zero_b && (f->permitted || pm_zero_is_finite(p, f->defs[0]))))
        for (uint32_t i = 0; i < f->out.components; i++)
            f->out.c[i] = zero_any;
}

static void fold_divide(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        double divisor;
        struct pm_zero_scalar d = f->operands[1].c[i];
        if (is_float_zero(f->operands[0].c[i], f->width) && d.kind == PM_ZERO_CONSTANT &&
            pm_zero_fold_number(d, f->width, &divisor) && divisor != 0 && isfinite(divisor))
            f->out.c[i] = zero_any;
    }
}

/* A zero to a zero of either sign, for what keeps it one. */
static void fold_keep_zero(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++)
        if (is_float_zero(f->operands[0].c[i], f->width))
            f->out.c[i] = zero_any;
}

static void fold_to_integer(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++)
        if (is_float_zero(f->operands[0].c[i], f->width))
            pm_zero_fold_set(f, i, 0);
}

static void fold_from_integer(struct pm_zero_folding *f, bool is_signed)
{
    uint32_t to = width_of(pm_zero_scalar_type(pm_ir_type_of(f->instr)));
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar s = f->operands[0].c[i];
        if (s.kind != PM_ZERO_CONSTANT)
            continue;
        uint64_t sign = (uint64_t)1 << (f->width - 1), bits = 0;
        double number = is_signed ? (double)(int64_t)((s.bits ^ sign) - sign) : (double)s.bits;
        bool small = fabs(number) < 1 << 24;
        if (s.bits == 0 || (to == 32 && small && single_bits(number, &bits)))
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
        pm_zero_fold_same(f, 0);
        return;
    case SpvOpTranspose:
        f->out.c[0] = pm_zero_value_is_zero(&f->operands[0]) ? f->operands[0].c[0] : unknown;
        return;
    case SpvOpCompositeExtract:
    case SpvOpCompositeInsert:
    case SpvOpVectorShuffle:
    case SpvOpSelect:
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
    case SpvOpDPdx:
    case SpvOpDPdy:
    case SpvOpFwidth:
    case SpvOpDPdxFine:
    case SpvOpDPdyFine:
    case SpvOpFwidthFine:
    case SpvOpDPdxCoarse:
    case SpvOpDPdyCoarse:
    case SpvOpFwidthCoarse:
        fold_keep_zero(f);
        return;
    case SpvOpConvertFToS:
    case SpvOpConvertFToU:
        fold_to_integer(f);
        return;
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
        fold_from_integer(f, f->instr->opcode == SpvOpConvertSToF);
        return;
    default:
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
        f->width = width_of(pm_zero_scalar_type(pm_ir_type_of(def->instr)));
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
    if (!pm_zero_scalar_type(type) || instr->opcode == SpvOpPhi)
        return f.out;
    if (instr->opcode == SpvOpCompositeConstruct) {
        pm_zero_fold_move(&f);
        return f.out;
    }
    bool unset = false;
    uint32_t glsl = pm_zero_glsl(lookup->permission, instr);
    if ((instr->opcode == SpvOpExtInst && !glsl) || !read_operands(&f, glsl ? 2 : 0, &unset))
        return f.out;
    if (unset)
        return pm_zero_value_all(type, PM_ZERO_UNSET);
    f.permitted = pm_zero_permits(lookup->permission, instr);
    if (glsl)
        pm_zero_fold_glsl(&f, glsl);
    else
        fold(&f);
    return f.out;
}
