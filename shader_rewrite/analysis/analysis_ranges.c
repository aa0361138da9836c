/* Optimistically, as constants are propagated in loops: what was not reached yet is no number, and
 * what an OpPhi keeps adding to soon has no bound. */
#include "shader_rewrite/analysis/analysis_ranges.h"

#include "shader_rewrite/analysis/analysis_casts.h"
#include "shader_rewrite/analysis/analysis_exposed.h"

#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>
#include <string.h>

enum { MOST_SWEEPS = 20 }; /* loops settle in a few */

/* The least float that is no denormal, and the most that is still sure to be finite after a
 * compiler has put sums and products together otherwise. */
static const double least = 0x1p-126, most = 0x1p127;

struct finding {
    const struct pm_float_permission *p;
    struct pm_range *ranges; /* by id */
    bool changed;
    bool looped; /* an OpPhi had a way that was not looked at yet */
};

struct pm_range pm_range_any(void)
{
    return (struct pm_range){-(double)INFINITY, (double)INFINITY, true, true};
}

static const struct pm_range nothing = {(double)INFINITY, -(double)INFINITY, false, false};

static bool is_nothing(struct pm_range r)
{
    return r.low > r.high && !r.nan;
}

static bool is_infinite(struct pm_range r)
{
    return r.low == -(double)INFINITY || r.high == (double)INFINITY;
}

/* A negative denormal may be flushed to -0 first. */
static bool may_be_minus(struct pm_range r)
{
    return r.low < 0 || r.minus_zero;
}

/* ---- bounds ---- */

static double down(double bound)
{
    if (!(bound > -most))
        return -(double)INFINITY;
    if (bound >= most)
        return most;
    if (bound == 0 || (bound > 0 && bound < 2 * least))
        return 0;
    const double single = (double)(float)bound;
    return single == bound ? bound : (double)nextafterf((float)bound, -INFINITY);
}

static double up(double bound)
{
    return -down(-bound);
}

/* What is rounded to a 32-bit float, and perhaps flushed. */
static struct pm_range rounded(double low, double high, bool nan, bool minus_zero)
{
    struct pm_range r = {down(low), up(high), nan, minus_zero};
    r.minus_zero = (minus_zero || r.low < 0) && pm_range_has_zero(r);
    return r;
}

static struct pm_range hull(struct pm_range a, struct pm_range b)
{
    return (struct pm_range){fmin(a.low, b.low), fmax(a.high, b.high), a.nan || b.nan,
                             a.minus_zero || b.minus_zero};
}

static struct pm_range between(double low, double high, bool nan, bool minus_zero)
{
    return (struct pm_range){low, high, nan, minus_zero};
}

static struct pm_range negated(struct pm_range r)
{
    return between(-r.high, -r.low, r.nan, pm_range_has_zero(r));
}

/* A compiler may take what may be -0 for not negative, and leave this out (seen: lavapipe). */
static struct pm_range absolute(struct pm_range r)
{
    const double low = pm_range_has_zero(r) ? 0 : fmin(fabs(r.low), fabs(r.high));
    return between(low < least ? 0 : low, fmax(fabs(r.low), fabs(r.high)), r.nan, r.minus_zero);
}

/* The sum of two bounds, or what is a little less. */
static double sum_down(double a, double b)
{
    const double s = a + b;
    return s - a == b && s - b == a ? s : nextafter(s, -(double)INFINITY);
}

static bool is_zero(struct pm_range r)
{
    return r.low == 0 && r.high == 0 && !r.nan;
}

/* A compiler may leave out what it knows to be zero, and with it what makes -0 be +0 (seen:
 * lavapipe). */
static struct pm_range sum(struct pm_range a, struct pm_range b)
{
    const bool left_out = (is_zero(a) && b.minus_zero) || (is_zero(b) && a.minus_zero);
    const bool opposite = (a.high == (double)INFINITY && b.low == -(double)INFINITY) ||
                          (a.low == -(double)INFINITY && b.high == (double)INFINITY);
    return rounded(sum_down(a.low, b.low), -sum_down(-a.high, -b.high), a.nan || b.nan || opposite,
                   (a.minus_zero && b.minus_zero) || left_out);
}

/* A bound of a product: what is infinite times 0 is said apart. */
static double times(double a, double b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static struct pm_range product(struct pm_range a, struct pm_range b)
{
    const double p[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                        times(a.high, b.high)};
    const bool invalid =
        (pm_range_has_zero(a) && is_infinite(b)) || (pm_range_has_zero(b) && is_infinite(a));
    const bool minus = (may_be_minus(a) && b.high >= 0) || (may_be_minus(b) && a.high >= 0);
    return rounded(fmin(fmin(p[0], p[1]), fmin(p[2], p[3])),
                   fmax(fmax(p[0], p[1]), fmax(p[2], p[3])), a.nan || b.nan || invalid, minus);
}

/* Of a value by itself. */
static struct pm_range square(struct pm_range r)
{
    const struct pm_range size = absolute(r);
    struct pm_range s = rounded(size.low * size.low, size.high * size.high, r.nan, false);
    s.minus_zero = false;
    return s;
}

/* By what is neither zero, nor so small or large that a device may divide otherwise. */
static struct pm_range quotient(struct pm_range a, struct pm_range b)
{
    const bool plus = b.low >= least && b.high <= most / 2;
    const bool minus = b.high <= -least && b.low >= -most / 2;
    if (b.nan || (!plus && !minus))
        return pm_range_any();
    const double q[] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
    const double some = 1e-6; /* 2.5 ULP, and more */
    const double low = fmin(fmin(q[0], q[1]), fmin(q[2], q[3]));
    const double high = fmax(fmax(q[0], q[1]), fmax(q[2], q[3]));
    return rounded(low - fabs(low) * some, high + fabs(high) * some, a.nan,
                   minus ? a.high >= 0 : may_be_minus(a));
}

static struct pm_range least_of(struct pm_range a, struct pm_range b, bool of_nan)
{
    struct pm_range r = between(fmin(a.low, b.low), fmin(a.high, b.high),
                                of_nan ? a.nan && b.nan : a.nan || b.nan, false);
    if (a.nan)
        r.high = fmax(r.high, b.high);
    if (b.nan)
        r.high = fmax(r.high, a.high);
    r.minus_zero = (may_be_minus(a) || may_be_minus(b)) && pm_range_has_zero(r);
    return r;
}

static struct pm_range most_of(struct pm_range a, struct pm_range b, bool of_nan)
{
    struct pm_range r = negated(least_of(negated(a), negated(b), of_nan));
    r.minus_zero = (may_be_minus(a) || may_be_minus(b)) && pm_range_has_zero(r);
    return r;
}

/* Of bounds that may be the wrong way around it is not defined. */
static struct pm_range clamped(struct pm_range x, struct pm_range low, struct pm_range high,
                               bool of_nan)
{
    if (low.nan || high.nan || low.high > high.low)
        return pm_range_any();
    return least_of(most_of(x, low, of_nan), high, of_nan);
}

/* x (1 - a) + y a, or x + a (y - x). */
static struct pm_range mixed(struct pm_range x, struct pm_range y, struct pm_range a)
{
    const struct pm_range one = between(1, 1, false, false);
    return hull(sum(product(x, sum(one, negated(a))), product(y, a)),
                sum(x, product(a, sum(y, negated(x)))));
}

/* ---- constants ---- */

static struct pm_range constant_range(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = pm_ir_type_of(instr);
    if (!type || (type->opcode != SpvOpTypeFloat && type->opcode != SpvOpTypeInt) ||
        pm_ir_operand_word(&type->operands[0]) != 32)
        return pm_range_any();
    const uint32_t word = pm_ir_operand_word(&instr->operands[0]);
    float number;
    memcpy(&number, &word, sizeof(number));
    if ((word & 0x7f800000) == 0x7f800000)
        return word & 0x7fffff ? pm_range_any()
                               : between((double)number, (double)number, false, false);
    const double x = (word & 0x7f800000) ? (double)number : 0; /* a denormal, maybe */
    const double size = (word & 0x7f800000) ? 0 : least;
    const bool minus = word >> 31, zero = (word & 0x7fffffff) == 0;
    return between(x - (minus && !zero ? size : 0), x + (!minus && !zero ? size : 0), false,
                   minus && size != 0);
}

/* ---- instructions ---- */

static struct pm_range range_of(const struct finding *f, const struct pm_ir_def *def)
{
    return def && def->id < f->p->id_count ? f->ranges[def->id] : pm_range_any();
}

static struct pm_range at(const struct finding *f, const struct pm_ir_instr *instr, uint32_t o)
{
    return o < instr->operand_count ? range_of(f, instr->operands[o].def) : pm_range_any();
}

static struct pm_range hull_of(const struct finding *f, const struct pm_ir_instr *instr,
                               uint32_t first, uint32_t step)
{
    struct pm_range all = nothing;
    for (uint32_t o = first; o < instr->operand_count; o += step)
        if (instr->operands[o].def)
            all = hull(all, at(f, instr, o));
    return all;
}

/* The first of a few bounds that is no more: a bound that changes must not for long. */
static double next_down(double bound)
{
    return bound >= 0 ? 0 : bound >= -1 ? -1 : -(double)INFINITY;
}

static struct pm_range phi_range(struct finding *f, const struct pm_ir_instr *phi)
{
    const struct pm_range before = range_of(f, phi->result);
    struct pm_range all = nothing;
    for (uint32_t o = 0; o < phi->operand_count; o += 2) {
        const struct pm_range way = at(f, phi, o);
        f->looped |= is_nothing(way);
        all = hull(all, way);
    }
    if (is_nothing(before))
        return all;
    if (all.low < before.low)
        all.low = next_down(all.low);
    if (all.high > before.high)
        all.high = -next_down(-all.high);
    return all;
}

static struct pm_range shuffle_range(const struct finding *f, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 2; o < instr->operand_count; o++)
        if (pm_ir_operand_word(&instr->operands[o]) == UINT32_MAX)
            return pm_range_any();
    return hull(at(f, instr, 0), at(f, instr, 1));
}

static struct pm_range integer_range(const struct pm_ir_instr *instr, bool is_signed)
{
    const struct pm_ir_instr *from = pm_ir_operand_instr(instr, 0);
    const struct pm_ir_instr *scalar = from ? pm_scalar_type(pm_ir_type_of(from)) : NULL;
    if (!scalar || pm_float_width(pm_ir_type_of(instr)) < 1)
        return pm_range_any();
    const int bits = (int)pm_ir_operand_word(&scalar->operands[0]);
    const double limit = ldexp(1, is_signed ? bits - 1 : bits);
    return between(is_signed ? -limit : 0, limit, false, false);
}

/* A dot product of so many components. */
static struct pm_range dot_range(const struct finding *f, const struct pm_ir_instr *instr,
                                 uint32_t first)
{
    const struct pm_ir_instr *of = pm_ir_operand_instr(instr, first);
    const uint32_t count = pm_ir_components(of ? pm_ir_type_of(of) : NULL);
    const struct pm_range a = at(f, instr, first), b = at(f, instr, first + 1);
    const bool same = instr->operands[first].def == instr->operands[first + 1].def;
    const struct pm_range one = same ? square(a) : product(a, b);
    struct pm_range all = one;
    for (uint32_t i = 1; i < count; i++)
        all = sum(all, one);
    return all;
}

static struct pm_range fraction_range(struct pm_range x)
{
    return between(0, 1, x.nan || is_infinite(x), may_be_minus(x));
}

static struct pm_range whole_range(struct pm_range x)
{
    return between(floor(x.low), ceil(x.high), x.nan,
                   may_be_minus(x) && floor(x.low) <= 0 && ceil(x.high) >= 0);
}

/* It may be computed as 1 / inversesqrt(x), and a quotient is defined only by ordinary numbers. */
static struct pm_range root_range(struct pm_range x)
{
    return between(0, x.high < most ? up(fmax(x.high, 1) * 1.001) : (double)INFINITY,
                   x.nan || x.low < least || x.high > most, may_be_minus(x));
}

static struct pm_range glsl_range(const struct finding *f, const struct pm_ir_instr *instr)
{
    const struct pm_range x = at(f, instr, 2);
    const uint32_t glsl = pm_glsl_of(f->p, instr);
    switch (glsl) {
    case GLSLstd450FMin:
    case GLSLstd450NMin:
        return least_of(x, at(f, instr, 3), glsl == GLSLstd450NMin);
    case GLSLstd450FMax:
    case GLSLstd450NMax:
        return most_of(x, at(f, instr, 3), glsl == GLSLstd450NMax);
    case GLSLstd450FClamp:
    case GLSLstd450NClamp:
        return clamped(x, at(f, instr, 3), at(f, instr, 4), glsl == GLSLstd450NClamp);
    case GLSLstd450FAbs:
        return absolute(x);
    case GLSLstd450FSign:
        return between(x.low < 0 ? -1 : 0, x.high > 0 ? 1 : 0, x.nan, may_be_minus(x));
    case GLSLstd450Floor:
    case GLSLstd450Ceil:
    case GLSLstd450Trunc:
    case GLSLstd450Round:
    case GLSLstd450RoundEven:
        return whole_range(x);
    case GLSLstd450Fract:
        return fraction_range(x);
    case GLSLstd450Fma:
        return sum(product(x, at(f, instr, 3)), at(f, instr, 4));
    case GLSLstd450FMix:
        return mixed(x, at(f, instr, 3), at(f, instr, 4));
    case GLSLstd450Exp:
    case GLSLstd450Exp2:
        return between(0, (double)INFINITY, x.nan, false);
    case GLSLstd450Sqrt:
        return root_range(x);
    case GLSLstd450Step:
        return between(0, 1, false, false);
    case GLSLstd450UnpackUnorm4x8:
    case GLSLstd450UnpackUnorm2x16:
        return between(0, 1, false, false);
    case GLSLstd450UnpackSnorm4x8:
    case GLSLstd450UnpackSnorm2x16:
        return between(-1, 1, false, true);
    default:
        return pm_range_any();
    }
}

/* A storage image has the format that it says, but for bits that another view of it has. */
static struct pm_range image_range(const struct pm_ir_instr *read)
{
    const struct pm_ir_instr *image = pm_ir_operand_instr(read, 0);
    const struct pm_ir_instr *type = image ? pm_ir_type_of(image) : NULL;
    if (!type || type->opcode != SpvOpTypeImage || type->operand_count < 7 ||
        pm_ir_operand_word(&type->operands[5]) != 2)
        return pm_range_any();
    switch (pm_ir_operand_word(&type->operands[6])) {
    case SpvImageFormatRgba16:
    case SpvImageFormatRgba8:
    case SpvImageFormatRgb10A2:
    case SpvImageFormatRg16:
    case SpvImageFormatRg8:
    case SpvImageFormatR16:
    case SpvImageFormatR8:
        return between(0, 1, false, false);
    case SpvImageFormatRgba16Snorm:
    case SpvImageFormatRgba8Snorm:
    case SpvImageFormatRg16Snorm:
    case SpvImageFormatRg8Snorm:
    case SpvImageFormatR16Snorm:
    case SpvImageFormatR8Snorm:
        return between(-1, 1, false, true);
    default:
        return pm_range_any();
    }
}

static struct pm_range move_range(struct finding *f, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpPhi:
        return phi_range(f, instr);
    case SpvOpSelect:
        return hull_of(f, instr, 1, 1);
    case SpvOpCopyObject:
    case SpvOpCompositeConstruct:
    case SpvOpCompositeInsert:
    case SpvOpConstantComposite:
        return hull_of(f, instr, 0, 1);
    case SpvOpCompositeExtract:
    case SpvOpVectorExtractDynamic:
    case SpvOpBitcast:
        return at(f, instr, 0);
    case SpvOpVectorInsertDynamic:
        return hull(at(f, instr, 0), at(f, instr, 1));
    default:
        return shuffle_range(f, instr);
    }
}

static struct pm_range arithmetic_range(const struct finding *f, const struct pm_ir_instr *instr)
{
    const struct pm_range a = at(f, instr, 0), b = at(f, instr, 1);
    switch (instr->opcode) {
    case SpvOpFAdd:
        return sum(a, b);
    case SpvOpFSub:
        return sum(a, negated(b));
    case SpvOpFMul:
        if (instr->operands[0].def == instr->operands[1].def)
            return square(a);
        return product(a, b);
    case SpvOpVectorTimesScalar:
        return product(a, b);
    case SpvOpFDiv:
        return quotient(a, b);
    case SpvOpDot:
        return dot_range(f, instr, 0);
    default:
        return glsl_range(f, instr);
    }
}

static bool has_nothing(const struct finding *f, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def && is_nothing(range_of(f, instr->operands[o].def)))
            return true;
    return false;
}

static bool is_matrix(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = pm_ir_type_of(instr);
    return type && type->opcode == SpvOpTypeMatrix;
}

static struct pm_range instr_range(struct finding *f, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpConstant:
        return constant_range(instr);
    case SpvOpConstantNull:
        return between(0, 0, false, false);
    case SpvOpFNegate:
        return negated(at(f, instr, 0));
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
        return integer_range(instr, instr->opcode == SpvOpConvertSToF);
    case SpvOpImageRead:
        return image_range(instr);
    case SpvOpVectorShuffle:
        return move_range(f, instr);
    case SpvOpBitcast:
        return pm_is_component_cast(instr) ? move_range(f, instr) : pm_range_any();
    case SpvOpConstantComposite:
        return move_range(f, instr);
    case SpvOpUndef:
        return pm_range_any();
    default:
        break;
    }
    if (pm_is_move(instr) && instr->opcode != SpvOpCopyLogical && instr->opcode != SpvOpTranspose)
        return move_range(f, instr);
    const bool single = pm_float_width(pm_ir_type_of(instr)) == 1 && !is_matrix(instr);
    return pm_float_is_arithmetic(f->p, instr) || pm_glsl_of(f->p, instr)
               ? (single ? arithmetic_range(f, instr) : pm_range_any())
               : pm_range_any();
}

static bool is_sum(const struct finding *f, const struct pm_ir_instr *instr)
{
    const uint32_t glsl = pm_glsl_of(f->p, instr);
    return instr->opcode == SpvOpFAdd || instr->opcode == SpvOpFSub || instr->opcode == SpvOpDot ||
           glsl == GLSLstd450Fma || glsl == GLSLstd450FMix;
}

/* Where signs may be lost another zero may be in the driver's code, or in S. */
static struct pm_range sure_range(const struct finding *f, const struct pm_ir_instr *instr,
                                  struct pm_range r)
{
    const bool computes = pm_float_is_arithmetic(f->p, instr) || pm_glsl_of(f->p, instr);
    if ((computes && pm_float_may_lose_signs(f->p, instr)) ||
        (is_sum(f, instr) && pm_float_may_transform(f->p, instr)))
        r.minus_zero = pm_range_has_zero(r);
    return r;
}

static void look_at(struct finding *f, const struct pm_ir_instr *instr)
{
    if (!instr->result || instr->result->id >= f->p->id_count)
        return;
    struct pm_range *range = &f->ranges[instr->result->id], now;
    if (instr->opcode != SpvOpPhi && has_nothing(f, instr))
        return;
    now = sure_range(f, instr, instr_range(f, instr));
    f->changed |= now.low != range->low || now.high != range->high || now.nan != range->nan ||
                  now.minus_zero != range->minus_zero;
    *range = now;
}

static void sweep(struct finding *f, const struct pm_ir_function *function)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            look_at(f, i);
}

/* What the function's own instructions do not give is not known. */
static void begin(struct finding *f, const struct pm_ir_function *function)
{
    for (uint32_t id = 0; id < f->p->id_count; id++)
        f->ranges[id] = pm_range_any();
    for (const struct pm_ir_instr *i = f->p->module->sections[PM_IR_SECTION_GLOBAL].first; i;
         i = i->next)
        look_at(f, i);
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->result && i->result->id < f->p->id_count)
                f->ranges[i->result->id] = nothing;
}

const struct pm_range *pm_ranges_find(const struct pm_float_permission *permission,
                                      const struct pm_ir_function *function, struct pm_arena *arena)
{
    struct finding f = {.p = permission};
    f.ranges = pm_arena_zalloc(arena, permission->id_count, sizeof(*f.ranges));
    if (!f.ranges)
        return NULL;
    begin(&f, function);
    f.changed = true;
    for (int sweeps = 0; f.changed && sweeps < MOST_SWEEPS; sweeps++) {
        f.changed = f.looped = false;
        sweep(&f, function);
        if (sweeps == 0 && !f.looped)
            f.changed = false;
    }
    for (uint32_t id = 0; id < permission->id_count; id++)
        if (f.changed || is_nothing(f.ranges[id]))
            f.ranges[id] = pm_range_any();
    return f.ranges;
}
