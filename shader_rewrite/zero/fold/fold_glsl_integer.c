/* The part of folding about the integer functions of GLSL.std.450. */
#include "shader_rewrite/zero/fold/folding.h"

#include <spirv/unified1/GLSL.std.450.h>

/* In the order of unsigned numbers. */
static uint64_t ranked(const struct pm_zero_folding *f, uint64_t bits, bool is_signed)
{
    return is_signed ? bits ^ (uint64_t)1 << (f->width - 1) : bits;
}

/* The lesser or the greater of two. Of the least and the greatest number one is the result whatever
 * the other operand is, and the other one changes nothing. */
static void fold_choice(struct pm_zero_folding *f, bool greater, bool is_signed)
{
    const uint64_t mask = pm_zero_mask_of(f->width);
    const uint64_t wins = ranked(f, greater ? mask : 0, is_signed);
    for (uint32_t i = 0; i < f->out.components; i++) {
        const struct pm_zero_scalar a = f->operands[0].c[i], b = f->operands[1].c[i];
        if (pm_zero_is_known(a) && pm_zero_is_known(b)) {
            const bool first =
                (ranked(f, a.bits, is_signed) > ranked(f, b.bits, is_signed)) == greater;
            pm_zero_fold_set(f, i, first ? a.bits : b.bits);
        } else if ((pm_zero_is_known(a) && a.bits == wins) ||
                   (pm_zero_is_known(b) && b.bits == wins)) {
            pm_zero_fold_set(f, i, wins);
        }
    }
    for (uint32_t o = 0; o < 2; o++)
        if (pm_zero_fold_all_are(&f->operands[o], wins ^ mask))
            pm_zero_fold_same(f, 1 - o);
}

/* Bounds the wrong way round are not defined. */
static void fold_clamp(struct pm_zero_folding *f, bool is_signed)
{
    for (uint32_t i = 0; i < f->out.components; i++) {
        const struct pm_zero_scalar x = f->operands[0].c[i];
        const struct pm_zero_scalar low = f->operands[1].c[i], high = f->operands[2].c[i];
        if (!pm_zero_is_known(low) || !pm_zero_is_known(high))
            continue;
        const uint64_t least = ranked(f, low.bits, is_signed);
        const uint64_t most = ranked(f, high.bits, is_signed);
        if (least == most)
            pm_zero_fold_set(f, i, low.bits);
        else if (least < most && pm_zero_is_known(x) && ranked(f, x.bits, is_signed) <= least)
            pm_zero_fold_set(f, i, low.bits);
        else if (least < most && pm_zero_is_known(x))
            pm_zero_fold_set(f, i, ranked(f, x.bits, is_signed) >= most ? high.bits : x.bits);
    }
}

static void fold_sign(struct pm_zero_folding *f, bool absolute)
{
    const uint64_t mask = pm_zero_mask_of(f->width);
    for (uint32_t i = 0; i < f->out.components; i++) {
        const uint64_t bits = f->operands[0].c[i].bits;
        if (!pm_zero_is_known(f->operands[0].c[i]))
            continue;
        const bool negative = bits >> (f->width - 1);
        if (absolute)
            pm_zero_fold_set(f, i, (negative ? 0 - bits : bits) & mask);
        else
            pm_zero_fold_set(f, i, negative ? mask : bits != 0);
    }
}

/* The number of the least or of the greatest bit that is 1, or of a negative number that is 0; -1
 * where there is none. */
static void fold_find(struct pm_zero_folding *f, uint32_t glsl)
{
    const uint64_t mask = pm_zero_mask_of(f->width);
    for (uint32_t i = 0; i < f->out.components; i++) {
        uint64_t bits = f->operands[0].c[i].bits, found = 0;
        if (!pm_zero_is_known(f->operands[0].c[i]))
            continue;
        if (glsl == GLSLstd450FindSMsb && bits >> (f->width - 1))
            bits = ~bits & mask;
        if (glsl == GLSLstd450FindILsb)
            for (; bits && !(bits & 1); bits >>= 1)
                found++;
        else
            for (; bits > 1; bits >>= 1)
                found++;
        pm_zero_fold_set(f, i, bits ? found : mask);
    }
}

void pm_zero_fold_glsl_integer(struct pm_zero_folding *f, uint32_t glsl)
{
    switch (glsl) {
    case GLSLstd450SAbs:
    case GLSLstd450SSign:
        fold_sign(f, glsl == GLSLstd450SAbs);
        return;
    case GLSLstd450UMin:
    case GLSLstd450SMin:
        fold_choice(f, false, glsl == GLSLstd450SMin);
        return;
    case GLSLstd450UMax:
    case GLSLstd450SMax:
        fold_choice(f, true, glsl == GLSLstd450SMax);
        return;
    case GLSLstd450UClamp:
    case GLSLstd450SClamp:
        fold_clamp(f, glsl == GLSLstd450SClamp);
        return;
    case GLSLstd450FindILsb:
    case GLSLstd450FindSMsb:
    case GLSLstd450FindUMsb:
        fold_find(f, glsl);
        return;
    default:
        return;
    }
}
