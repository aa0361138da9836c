#include "shader_rewrite/zero/fold/folding.h"

#include <math.h>
#include <string.h>

static const struct pm_zero_scalar any_zero = {PM_ZERO_ANY_SIGN, 0};
static const struct pm_zero_scalar plus_zero = {PM_ZERO_CONSTANT, 0};
static const struct pm_zero_scalar unknown = {PM_ZERO_UNKNOWN, 0};

void pm_zero_fold_same(struct pm_zero_folding *f, uint32_t index)
{
    const struct pm_ir_instr *from = f->defs[index]->instr;
    for (uint32_t i = 0; i < f->out.components && i < f->operands[index].components; i++)
        f->out.c[i] = f->operands[index].c[i];
    if (from && from->type.def == f->instr->type.def)
        f->out.same = pm_zero_value_name(&f->operands[index], f->defs[index]);
}

bool pm_zero_fold_all_are(const struct pm_zero_value *value, uint64_t bits)
{
    for (uint32_t i = 0; i < value->components; i++)
        if (!pm_zero_is_known(value->c[i]) || value->c[i].bits != bits)
            return false;
    return true;
}

void pm_zero_fold_same_plus(struct pm_zero_folding *f, uint32_t index,
                            const struct pm_zero_value *zeroes)
{
    bool exact = pm_zero_fold_all_are(zeroes, (uint64_t)1 << (f->width - 1));
    bool signed_zero = pm_float_is_signed(f->lookup->permission, f->instr->result);
    bool flushes = pm_float_flushes(f->lookup->permission, f->instr);
    if (!f->plus || (signed_zero && exact && !f->permitted) ||
        (signed_zero && !exact && !pm_zero_fold_all_are(zeroes, 0)) ||
        (flushes && (exact || !signed_zero))) /* plus_zero keeps a sum */
        return;
    struct pm_zero_value sum = f->out;
    pm_zero_fold_same(f, index);
    f->out.plus_zero = f->out.same && signed_zero && !exact;
    for (uint32_t i = 0; i < sum.components; i++)
        f->out.c[i] = sum.c[i];
}

void pm_zero_fold_sum_with(struct pm_zero_folding *f, uint32_t index,
                           const struct pm_zero_value *zeroes)
{
    if (f->permitted || f->out.same || !pm_zero_fold_all_are(zeroes, 0))
        return;
    struct pm_zero_value sum = f->out;
    pm_zero_fold_same(f, index);
    f->out.plus_zero = f->out.same;
    for (uint32_t i = 0; i < sum.components; i++)
        f->out.c[i] = sum.c[i];
}

bool pm_zero_fold_has_exact_ones(const struct pm_zero_folding *f)
{
    return f->lookup->exact_ones && f->width == 32;
}

void pm_zero_fold_set(struct pm_zero_folding *f, uint32_t i, uint64_t bits)
{
    f->out.c[i] = pm_zero_constant(bits);
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

/* By its bits: a game may have told its threads to take denormals for zero. */
static bool is_denormal(uint64_t bits, uint32_t width)
{
    const uint32_t fraction_bits = width == 64 ? 52 : width == 32 ? 23 : 10;
    const uint64_t fraction = (UINT64_C(1) << fraction_bits) - 1;
    const uint64_t exponent = (UINT64_C(1) << (width - 1)) - 1 - fraction;
    return (bits & exponent) == 0 && (bits & fraction) != 0;
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
    return !is_denormal(s.bits, width);
}

static bool is_finite(const struct pm_zero_folding *f, struct pm_zero_scalar s,
                      const struct pm_ir_def *def)
{
    double number;
    if (pm_zero_fold_number(s, f->width, &number))
        return isfinite(number);
    return pm_float_is_finite(f->lookup->permission, def);
}

static enum pm_float_sign sign_of(const struct pm_zero_folding *f, struct pm_zero_scalar s,
                                  const struct pm_ir_def *def)
{
    double number;
    if (s.kind != PM_ZERO_CONSTANT)
        return pm_float_sign_of(f->lookup->permission, def);
    if (pm_zero_fold_number(s, f->width, &number) && isnan(number))
        return PM_FLOAT_EITHER_SIGN;
    return s.bits >> (f->width - 1) ? PM_FLOAT_MINUS : PM_FLOAT_PLUS;
}

bool pm_zero_fold_product(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                          const struct pm_ir_def *a_def, struct pm_zero_scalar b,
                          const struct pm_ir_def *b_def, struct pm_zero_scalar *product)
{
    bool zero_a = pm_zero_fold_is_zero(a, f->width), zero_b = pm_zero_fold_is_zero(b, f->width);
    bool finite = (zero_a && is_finite(f, b, b_def)) || (zero_b && is_finite(f, a, a_def));
    if (!finite && !(f->permitted && (zero_a || zero_b)))
        return false;
    const uint64_t sign = (uint64_t)1 << (f->width - 1);
    const enum pm_float_sign sign_a = sign_of(f, a, a_def), sign_b = sign_of(f, b, b_def);
    if (finite && sign_a != PM_FLOAT_EITHER_SIGN && sign_b != PM_FLOAT_EITHER_SIGN)
        *product = pm_zero_constant(sign_a == sign_b ? 0 : sign);
    else
        *product = f->plus ? plus_zero : any_zero;
    return true;
}

struct pm_zero_scalar pm_zero_fold_kept(const struct pm_zero_folding *f,
                                        struct pm_zero_scalar scalar, uint32_t to)
{
    if (!pm_zero_fold_is_zero(scalar, f->width))
        return unknown;
    return scalar.kind == PM_ZERO_CONSTANT
               ? pm_zero_constant(scalar.bits >> (f->width - 1) << (to - 1))
               : any_zero;
}

bool pm_zero_fold_single(double number, uint64_t *bits)
{
    float single = (float)number;
    if ((double)single != number || !isnormal(single))
        return false;
    uint32_t word;
    memcpy(&word, &single, sizeof(word));
    *bits = word;
    return true;
}

static bool is_plus_zero(struct pm_zero_scalar s)
{
    return s.kind == PM_ZERO_CONSTANT && s.bits == 0;
}

struct pm_zero_scalar pm_zero_fold_sum(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                                       struct pm_zero_scalar b)
{
    bool zero_a = pm_zero_fold_is_zero(a, f->width), zero_b = pm_zero_fold_is_zero(b, f->width);
    if (zero_a && zero_b && a.kind == b.kind && a.bits == b.bits)
        return a;
    if (zero_a && zero_b) /* a compiler may know the +0, and leave it out (seen: lavapipe) */
        return f->plus && (is_plus_zero(a) || is_plus_zero(b)) ? plus_zero : any_zero;
    /* Of a denormal a device may make a zero. */
    if (zero_a && b.kind == PM_ZERO_CONSTANT)
        return is_denormal(b.bits, f->width) ? unknown : b;
    if (zero_b && a.kind == PM_ZERO_CONSTANT)
        return is_denormal(a.bits, f->width) ? unknown : a;
    double x, y;
    uint64_t bits;
    if (f->width != 32 || !pm_zero_fold_number(a, 32, &x) || !pm_zero_fold_number(b, 32, &y))
        return unknown;
    if (x == -y && isfinite(x))
        return plus_zero;
    /* A sum of two 32-bit floats that are far apart is rounded in 64 bits too; then it is no 32-bit
     * float. */
    if (pm_zero_fold_single(x + y, &bits) && (x + y) - x == y && (x + y) - y == x)
        return pm_zero_constant(bits);
    return unknown;
}
