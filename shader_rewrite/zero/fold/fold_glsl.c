/* The part of folding about GLSL.std.450. */
#include "shader_rewrite/zero/fold/folding.h"

#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>

static const struct pm_zero_scalar any_zero = {PM_ZERO_ANY_SIGN, 0};
static const struct pm_zero_scalar plus_zero = {PM_ZERO_CONSTANT, 0};

static bool is_float_zero(const struct pm_zero_folding *f, struct pm_zero_scalar s)
{
    double number;
    return pm_zero_fold_number(s, f->width, &number) && number == 0;
}

static bool is_zero(const struct pm_zero_folding *f, uint32_t operand)
{
    for (uint32_t i = 0; i < f->operands[operand].components; i++)
        if (!is_float_zero(f, f->operands[operand].c[i]))
            return false;
    return true;
}

static void set_zero(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++)
        f->out.c[i] = plus_zero;
}

/* Of one component a length is what FAbs is, which keeps a denormal. */
static void set_length(struct pm_zero_folding *f)
{
    f->out.c[0] = f->operands[0].components > 1 ? plus_zero : any_zero;
}

/* What is zero where its argument is, and +0 where that is; of -0 some make +0. */
static void keep_zero(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar s = f->operands[0].c[i];
        if (is_float_zero(f, s))
            f->out.c[i] = s.kind == PM_ZERO_CONSTANT && s.bits == 0 ? plus_zero : any_zero;
    }
}

/* The integer that a number is rounded to, and the like. Of a fraction of one half it is not said
 * which, but for RoundEven; and -0 may become +0. */
static void fold_rounding(struct pm_zero_folding *f, uint32_t glsl)
{
    keep_zero(f);
    for (uint32_t i = 0; f->width == 32 && i < f->out.components; i++) {
        double x, rounded;
        if (!pm_zero_fold_number(f->operands[0].c[i], 32, &x) || x == 0 || !isfinite(x))
            continue;
        switch (glsl) {
        case GLSLstd450Floor:
            rounded = floor(x);
            break;
        case GLSLstd450Ceil:
            rounded = ceil(x);
            break;
        case GLSLstd450Trunc:
            rounded = trunc(x);
            break;
        case GLSLstd450FSign:
            rounded = x > 0 ? 1 : -1;
            break;
        default: /* Round and RoundEven */
            if (fabs(x - trunc(x)) == 0.5)
                continue;
            rounded = floor(x + 0.5);
        }
        if (rounded == 0)
            f->out.c[i] = any_zero;
        else if (pm_zero_fold_single(rounded, &f->out.c[i].bits))
            f->out.c[i].kind = PM_ZERO_CONSTANT;
    }
}

/* A zero of either sign may be a denormal, which stays one. Of -0 a compiler may take it for not
 * negative, and leave this out (seen: lavapipe). */
static void fold_abs(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        struct pm_zero_scalar s = f->operands[0].c[i];
        const bool minus = s.kind == PM_ZERO_CONSTANT && s.bits && is_float_zero(f, s);
        if (s.kind == PM_ZERO_ANY_SIGN || (minus && !f->plus))
            f->out.c[i] = any_zero;
        else if (s.kind == PM_ZERO_CONSTANT)
            pm_zero_fold_set(f, i, s.bits & ~((uint64_t)1 << (f->width - 1)));
    }
}

/* The lesser or greater of two floats that are known; two zeroes may be of either sign. */
static struct pm_zero_scalar choose(const struct pm_zero_folding *f, struct pm_zero_scalar a,
                                    struct pm_zero_scalar b, bool greater)
{
    static const struct pm_zero_scalar unknown = {PM_ZERO_UNKNOWN, 0};
    double x, y;
    if (!pm_zero_fold_number(a, f->width, &x) || !pm_zero_fold_number(b, f->width, &y) ||
        isnan(x) || isnan(y))
        return unknown;
    if (x == 0 && y == 0)
        return a.kind == b.kind && a.bits == b.bits ? a : any_zero;
    return (greater ? x >= y : x <= y) ? a : b;
}

static void fold_float_choice(struct pm_zero_folding *f, bool greater)
{
    for (uint32_t i = 0; i < f->out.components; i++)
        f->out.c[i] = choose(f, f->operands[0].c[i], f->operands[1].c[i], greater);
}

/* Between equal bounds there is one number; what FClamp makes of a NaN is not defined. */
static void fold_clamp(struct pm_zero_folding *f, bool of_nan)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        const struct pm_zero_scalar low = f->operands[1].c[i], high = f->operands[2].c[i];
        double bound;
        f->out.c[i] = choose(f, choose(f, f->operands[0].c[i], low, true), high, false);
        if (f->out.c[i].kind == PM_ZERO_UNKNOWN && (of_nan || f->permitted) &&
            low.kind == PM_ZERO_CONSTANT && high.kind == PM_ZERO_CONSTANT &&
            low.bits == high.bits && pm_zero_fold_number(low, f->width, &bound) &&
            isfinite(bound) && bound != 0)
            f->out.c[i] = low;
    }
}

/* a * b + c as a product and a sum, so that the other factor is not needed where one is zero. */
static void fold_fma(struct pm_zero_folding *f)
{
    struct pm_zero_value product = f->out;
    bool whole = true;
    for (uint32_t i = 0; i < f->out.components; i++) {
        bool zero = pm_zero_fold_product(f, f->operands[0].c[i], f->defs[0], f->operands[1].c[i],
                                         f->defs[1], &product.c[i]);
        whole = whole && zero;
        if (zero)
            f->out.c[i] = pm_zero_fold_sum(f, product.c[i], f->operands[2].c[i]);
    }
    if (whole) {
        pm_zero_fold_same_plus(f, 2, &product);
        pm_zero_fold_sum_with(f, 2, &product);
    }
}

/* x * (1 - a) + y * a, and the other way drivers compute it, x + a * (y - x), agree where a is 0.
 */
static void fold_mix(struct pm_zero_folding *f)
{
    if (!f->permitted)
        return;
    for (uint32_t i = 0; i < f->out.components; i++) {
        if (is_float_zero(f, f->operands[2].c[i]))
            f->out.c[i] = pm_zero_fold_sum(f, f->operands[0].c[i], plus_zero);
        else if (is_float_zero(f, f->operands[0].c[i]) && is_float_zero(f, f->operands[1].c[i]))
            f->out.c[i] = plus_zero;
    }
    struct pm_zero_value product = pm_zero_value_all(pm_ir_type_of(f->instr), PM_ZERO_CONSTANT);
    if (is_zero(f, 2))
        pm_zero_fold_same_plus(f, 0, &product);
}

static uint64_t one(uint32_t width)
{
    return width == 16 ? 0x3c00 : width == 32 ? 0x3f800000 : (uint64_t)0x3ff << 52;
}

static void fold_step(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        double edge, x;
        if (pm_zero_fold_number(f->operands[0].c[i], f->width, &edge) &&
            pm_zero_fold_number(f->operands[1].c[i], f->width, &x) && !isnan(edge) && !isnan(x))
            pm_zero_fold_set(f, i, x < edge ? 0 : one(f->width));
    }
}

/* Only where it is 0: towards 1 it is rounded. */
static void fold_smooth_step(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        double low, high, x;
        if (pm_zero_fold_number(f->operands[0].c[i], f->width, &low) &&
            pm_zero_fold_number(f->operands[1].c[i], f->width, &high) &&
            pm_zero_fold_number(f->operands[2].c[i], f->width, &x) && low < high && x <= low &&
            isfinite(low) && isfinite(high) && isfinite(x))
            f->out.c[i] = plus_zero;
    }
}

/* exp2(0) and the like: Vulkan promises only that it is near 1. */
static void fold_to_one(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; pm_zero_fold_has_exact_ones(f) && i < f->out.components; i++)
        if (is_float_zero(f, f->operands[0].c[i]))
            pm_zero_fold_set(f, i, one(f->width));
}

/* sqrt(1), log2(1) and the like: likewise. */
static void fold_of_one(struct pm_zero_folding *f, uint64_t bits)
{
    for (uint32_t i = 0; pm_zero_fold_has_exact_ones(f) && i < f->out.components; i++)
        if (pm_zero_is_known(f->operands[0].c[i]) && f->operands[0].c[i].bits == one(f->width))
            pm_zero_fold_set(f, i, bits);
}

/* pow(x, 0) is exp2(0 * log2(x)). */
static void fold_pow(struct pm_zero_folding *f)
{
    for (uint32_t i = 0; f->permitted && i < f->out.components; i++) {
        double power;
        if (pm_zero_fold_has_exact_ones(f) && is_float_zero(f, f->operands[1].c[i]))
            pm_zero_fold_set(f, i, one(f->width));
        if (is_float_zero(f, f->operands[0].c[i]) &&
            pm_zero_fold_number(f->operands[1].c[i], f->width, &power) && power > 0)
            f->out.c[i] = plus_zero;
    }
}

void pm_zero_fold_glsl(struct pm_zero_folding *f, uint32_t glsl)
{
    switch (glsl) {
    case GLSLstd450Round:
    case GLSLstd450RoundEven:
    case GLSLstd450Trunc:
    case GLSLstd450Floor:
    case GLSLstd450Ceil:
    case GLSLstd450FSign:
        fold_rounding(f, glsl);
        return;
    case GLSLstd450Fract:
        keep_zero(f);
        return;
    case GLSLstd450Radians:
    case GLSLstd450Degrees:
    case GLSLstd450Sin:
    case GLSLstd450Sqrt:
        if (f->permitted)
            keep_zero(f);
        if (glsl == GLSLstd450Sqrt)
            fold_of_one(f, one(f->width));
        return;
    case GLSLstd450InverseSqrt:
        fold_of_one(f, one(f->width));
        return;
    case GLSLstd450Log:
    case GLSLstd450Log2:
        fold_of_one(f, 0);
        return;
    case GLSLstd450Exp:
    case GLSLstd450Exp2:
    case GLSLstd450Cos:
        fold_to_one(f);
        return;
    case GLSLstd450FAbs:
        fold_abs(f);
        return;
    case GLSLstd450FMin:
    case GLSLstd450NMin:
    case GLSLstd450FMax:
    case GLSLstd450NMax:
        fold_float_choice(f, glsl == GLSLstd450FMax || glsl == GLSLstd450NMax);
        return;
    case GLSLstd450FClamp:
    case GLSLstd450NClamp:
        fold_clamp(f, glsl == GLSLstd450NClamp);
        return;
    case GLSLstd450FMix:
        fold_mix(f);
        return;
    case GLSLstd450Fma:
        fold_fma(f);
        return;
    case GLSLstd450Step:
        fold_step(f);
        return;
    case GLSLstd450SmoothStep:
        fold_smooth_step(f);
        return;
    case GLSLstd450Pow:
        fold_pow(f);
        return;
    case GLSLstd450Length:
        if (f->permitted && is_zero(f, 0))
            set_length(f);
        return;
    case GLSLstd450Distance:
        if (f->permitted && is_zero(f, 0) && is_zero(f, 1))
            set_length(f);
        return;
    case GLSLstd450Cross:
        if (f->permitted && (is_zero(f, 0) || is_zero(f, 1)))
            set_zero(f);
        return;
    default:
        pm_zero_fold_glsl_integer(f, glsl);
    }
}
