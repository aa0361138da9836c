#include "shader_rewrite/zero/fold/folding.h"

#include <math.h>
#include <string.h>

static const struct pm_zero_scalar zero_any = {PM_ZERO_ANY_SIGN, 0};
static const struct pm_zero_scalar unknown = {PM_ZERO_UNKNOWN, 0};

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

bool pm_zero_fold_is_zero(struct pm_zero_scalar s, uint32_t width)
{
    return s.kind == PM_ZERO_ANY_SIGN ||
           (s.kind == PM_ZERO_CONSTANT && (s.bits & (pm_zero_mask_of(width) >> 1)) == 0);
}

static bool is_finite(const struct pm_zero_folding *f, struct pm_zero_scalar s,
                      const struct pm_ir_def *def)
{
    double number;
    if (pm_zero_fold_number(s, f->width, &number))
        return isfinite(number);
    return pm_float_is_finite(f->lookup->permission, def);
}

bool pm_zero_fold_product(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                          const struct pm_ir_def *a_def, struct pm_zero_scalar b,
                          const struct pm_ir_def *b_def)
{
    bool zero_a = pm_zero_fold_is_zero(a, f->width), zero_b = pm_zero_fold_is_zero(b, f->width);
    if (!zero_a && !zero_b)
        return false;
    return f->permitted || (zero_a && is_finite(f, b, b_def)) || (zero_b && is_finite(f, a, a_def));
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

struct pm_zero_scalar pm_zero_fold_sum(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                                       struct pm_zero_scalar b)
{
    bool zero_a = pm_zero_fold_is_zero(a, f->width), zero_b = pm_zero_fold_is_zero(b, f->width);
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
    if (pm_zero_fold_single(x + y, &bits) && (x + y) - x == y && (x + y) - y == x)
        return pm_zero_constant(bits);
    return unknown;
}
