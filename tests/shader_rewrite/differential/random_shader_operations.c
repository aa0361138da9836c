/* Instructions of random shaders. */
#include "tests/shader_rewrite/differential/random_shader_private.h"

#include <math.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static struct random_type bools(struct random_type type)
{
    return random_type(RANDOM_BOOL, 1, type.n);
}

static struct random_type scalar_of(struct random_type type)
{
    return random_type(type.kind, type.width, 1);
}

/* ---- floats ---- */

static void float_sum_or_product(struct random_generator *g, struct random_type type)
{
    struct random_value a = random_any(g, type), b = random_any(g, type);
    switch (random_below(g, 8)) {
    case 0:
        random_emit(g, type, a.bound + b.bound, "OpFAdd", "%%v%u %%v%u", a.id, b.id);
        break;
    case 1:
        random_emit(g, type, a.bound + b.bound, "OpFSub", "%%v%u %%v%u", a.id, b.id);
        break;
    case 2: {
        struct random_value c = random_any(g, type);
        random_emit_glsl(g, type, a.bound * b.bound + c.bound, "Fma", "%%v%u %%v%u %%v%u", a.id,
                         b.id, c.id);
        break;
    }
    case 3:
        if (type.n > 1) {
            struct random_value s = random_any(g, scalar_of(type));
            random_emit(g, type, a.bound * s.bound, "OpVectorTimesScalar", "%%v%u %%v%u", a.id,
                        s.id);
            break;
        }
        /* fall through */
    default:
        random_emit(g, type, a.bound * b.bound, "OpFMul", "%%v%u %%v%u", a.id, b.id);
    }
}

static void float_quotient(struct random_generator *g, struct random_type type)
{
    struct random_value a = random_any(g, type), b = random_positive(g, type);
    if (random_once_in(g, 3))
        random_emit(g, type, 9, "OpFMod", "%%v%u %%v%u", random_tame(g, a, 64).id, b.id);
    else
        random_emit(g, type, 2 * a.bound, "OpFDiv", "%%v%u %%v%u", a.id, b.id);
}

static void float_limited(struct random_generator *g, struct random_type type)
{
    static const char *const of_two[] = {"FMin", "FMax", "NMin", "NMax"};
    struct random_value a = random_any(g, type);
    if (random_once_in(g, 3)) { /* saturate */
        struct random_value zero = random_constant_float(g, type, 0);
        struct random_value one = random_constant_float(g, type, 1);
        random_emit_glsl(g, type, 1, random_once_in(g, 4) ? "NClamp" : "FClamp",
                         "%%v%u %%v%u %%v%u", a.id, zero.id, one.id);
        return;
    }
    struct random_value b =
        random_once_in(g, 2) ? random_constant_float(g, type, 0) : random_any(g, type);
    random_emit_glsl(g, type, fmax(a.bound, b.bound), of_two[random_below(g, COUNT(of_two))],
                     "%%v%u %%v%u", a.id, b.id);
}

static void float_mixed(struct random_generator *g, struct random_type type)
{
    struct random_value a = random_any(g, type), b = random_any(g, type);
    if (random_once_in(g, 2)) {
        struct random_value t = random_any(g, type);
        random_emit_glsl(g, type, a.bound * (1 + t.bound) + b.bound * t.bound, "FMix",
                         "%%v%u %%v%u %%v%u", a.id, b.id, t.id);
    } else if (random_once_in(g, 2)) {
        random_emit_glsl(g, type, 1, "Step", "%%v%u %%v%u", a.id, b.id);
    } else {
        struct random_value low = random_constant_float(g, type, random_once_in(g, 2) ? 0 : -0.5);
        struct random_value high = random_constant_float(g, type, random_once_in(g, 2) ? 1 : 2.5);
        random_emit_glsl(g, type, 1, "SmoothStep", "%%v%u %%v%u %%v%u", low.id, high.id, a.id);
    }
}

/* GLSL.std.450 of one operand; where it has one, the bound of the operand and of the result. */
static const struct {
    const char *name;
    double most;         /* of the operand; 0: any */
    double bound;        /* of the result; 0: the operand's and 1 */
    bool positive, wide; /* needs a positive operand; also with 64 bits */
} functions[] = {
    {"FAbs", 0, 0, false, true},       {"FSign", 0, 1, false, true},
    {"Floor", 0, 0, false, true},      {"Ceil", 0, 0, false, true},
    {"Trunc", 0, 0, false, true},      {"Fract", 0, 1, false, true},
    {"RoundEven", 0, 0, false, true},  {"Sqrt", 0, 8, true, true},
    {"InverseSqrt", 0, 2, true, true}, {"Log2", 0, 8, true, false},
    {"Log", 0, 8, true, false},        {"Exp2", 6, 64, false, false},
    {"Exp", 4, 64, false, false},      {"Sin", 16, 1, false, false},
    {"Cos", 16, 1, false, false},      {"Tanh", 8, 1, false, false},
    {"Atan", 0, 2, false, false},      {"Radians", 0, 0, false, false},
};

static void float_function(struct random_generator *g, struct random_type type)
{
    uint32_t f;
    do
        f = random_below(g, COUNT(functions));
    while (type.width != 32 && !functions[f].wide);
    struct random_value a = functions[f].positive ? random_positive(g, type) : random_any(g, type);
    if (functions[f].most > 0)
        a = random_tame(g, a, functions[f].most);
    random_emit_glsl(g, type, functions[f].bound > 0 ? functions[f].bound : a.bound + 1,
                     functions[f].name, "%%v%u", a.id);
}

static void float_power(struct random_generator *g, struct random_type type)
{
    if (type.width != 32) {
        random_emit(g, type, 8, "OpFNegate", "%%v%u", random_bounded(g, random_any(g, type), 8).id);
        return;
    }
    struct random_value base = random_positive(g, type);
    struct random_value exponent = random_tame(g, random_any(g, type), 3);
    random_emit_glsl(g, type, 700, "Pow", "%%v%u %%v%u", base.id, exponent.id);
}

static void float_converted(struct random_generator *g, struct random_type type)
{
    struct random_type other = random_type(RANDOM_UINT, 32, type.n);
    if (g->options.float64 && type.width == 32 && random_once_in(g, 4)) {
        other = random_type(RANDOM_FLOAT, 64, type.n);
        struct random_value from = random_bounded(g, random_any(g, other), 1e6);
        random_emit(g, type, from.bound, "OpFConvert", "%%v%u", from.id);
    } else if (type.width == 64 && random_once_in(g, 2)) {
        other = random_type(RANDOM_FLOAT, 32, type.n);
        struct random_value from = random_any(g, other);
        random_emit(g, type, from.bound, "OpFConvert", "%%v%u", from.id);
    } else if (random_once_in(g, 3)) {
        struct random_value when = random_any(g, bools(type));
        struct random_value zero = random_constant_float(g, type, 0);
        struct random_value other_value =
            random_once_in(g, 2) ? random_constant_float(g, type, 1) : random_any(g, type);
        random_emit(g, type, other_value.bound, "OpSelect", "%%v%u %%v%u %%v%u", when.id,
                    other_value.id, zero.id);
    } else {
        struct random_value bits = random_any(g, other);
        struct random_value mask = random_constant_int(g, other, 15);
        bits = random_emit(g, other, 0, "OpBitwiseAnd", "%%v%u %%v%u", bits.id, mask.id);
        random_emit(g, type, 15, random_once_in(g, 2) ? "OpConvertUToF" : "OpConvertSToF", "%%v%u",
                    bits.id);
    }
}

static void float_geometry(struct random_generator *g, uint8_t width)
{
    const struct random_type v =
        random_type(RANDOM_FLOAT, width, (uint8_t)(2 + random_below(g, 3)));
    const struct random_type v3 = random_type(RANDOM_FLOAT, width, 3);
    struct random_value a = random_any(g, v), b = random_any(g, v);
    switch (random_below(g, 6)) {
    case 0:
        a = random_any(g, v3), b = random_any(g, v3);
        random_emit_glsl(g, v3, 2 * a.bound * b.bound, "Cross", "%%v%u %%v%u", a.id, b.id);
        break;
    case 1:
        a = random_bounded(g, a, 64), b = random_bounded(g, b, 64);
        random_emit_glsl(g, v, 1e7, "Reflect", "%%v%u %%v%u", a.id, b.id);
        break;
    case 2:
        random_emit_glsl(g, v, 1.1, "Normalize", "%%v%u", random_positive(g, v).id);
        break;
    case 3:
        a = random_bounded(g, a, 1e4);
        random_emit_glsl(g, scalar_of(v), 2e4, "Length", "%%v%u", a.id);
        break;
    default:
        random_emit(g, scalar_of(v), 4 * a.bound * b.bound, "OpDot", "%%v%u %%v%u", a.id, b.id);
    }
}

static void float_matrix(struct random_generator *g)
{
    const struct random_type v = random_type(RANDOM_FLOAT, 32, (uint8_t)(2 + random_below(g, 3)));
    struct random_value columns[4] = {0};
    double bound = 1;
    /* No draw, and among no values: seeds that are named somewhere keep their other shader. */
    const bool constant = g->next % 3 == 0;
    for (int i = 0; i < v.n; i++) {
        columns[i] = random_bounded(g, random_any(g, v), 64);
        bound = fmax(bound, columns[i].bound);
    }
    const uint32_t values = g->value_count;
    for (int i = 0; i < v.n && constant; i++)
        columns[i] = random_constant_float(g, v, 0.7 - 0.4 * i);
    g->value_count = values;
    uint32_t matrix = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = OpCompositeConstruct %%mat%u", matrix, v.n);
    for (int i = 0; i < v.n; i++)
        pm_buffer_printf(&g->body, " %%v%u", columns[i].id);
    pm_buffer_append_string(&g->body, "\n");
    struct random_value a = random_any(g, v);
    if (random_once_in(g, 3)) {
        uint32_t transposed = g->next++;
        pm_buffer_printf(&g->body, "%%v%u = OpTranspose %%mat%u %%v%u\n", transposed, v.n, matrix);
        matrix = transposed;
    }
    if (random_once_in(g, 2))
        random_emit(g, v, 4 * a.bound * bound, "OpMatrixTimesVector", "%%v%u %%v%u", matrix, a.id);
    else
        random_emit(g, v, 4 * a.bound * bound, "OpVectorTimesMatrix", "%%v%u %%v%u", a.id, matrix);
}

/* ---- vectors of any kind ---- */

static void vector_parts(struct random_generator *g, struct random_type type)
{
    if (type.n == 1)
        type.n = (uint8_t)(2 + random_below(g, 3));
    struct random_value a = random_any(g, type);
    const struct random_type u = random_type(RANDOM_UINT, 32, 1);
    switch (random_below(g, 4)) {
    case 0:
        random_emit(g, scalar_of(type), a.bound, "OpCompositeExtract", "%%v%u %u", a.id,
                    random_below(g, type.n));
        break;
    case 1: {
        struct random_value part = random_any(g, scalar_of(type));
        random_emit(g, type, fmax(a.bound, part.bound), "OpCompositeInsert", "%%v%u %%v%u %u",
                    part.id, a.id, random_below(g, type.n));
        break;
    }
    case 2: {
        struct random_value index = random_any(g, u);
        struct random_value mask = random_constant_int(g, u, 1);
        index = random_emit(g, u, 0, "OpBitwiseAnd", "%%v%u %%v%u", index.id, mask.id);
        random_emit(g, scalar_of(type), a.bound, "OpVectorExtractDynamic", "%%v%u %%v%u", a.id,
                    index.id);
        break;
    }
    default: {
        struct random_value b = random_any(g, type);
        const struct random_type two = random_type(type.kind, type.width, 2);
        random_emit(g, two, fmax(a.bound, b.bound), "OpVectorShuffle", "%%v%u %%v%u %u %u", a.id,
                    b.id, random_below(g, 2u * type.n), random_below(g, 2u * type.n));
        break;
    }
    }
}

static void any_select(struct random_generator *g, struct random_type type)
{
    struct random_value a = random_any(g, type), b = random_any(g, type);
    random_emit(g, type, fmax(a.bound, b.bound), "OpSelect", "%%v%u %%v%u %%v%u",
                random_any(g, bools(type)).id, a.id, b.id);
}

/* ---- images ---- */

static struct random_value coordinates(struct random_generator *g)
{
    return random_tame(g, random_any(g, random_type(RANDOM_FLOAT, 32, 2)), 4);
}

static void image_read(struct random_generator *g)
{
    const struct random_type f1 = random_type(RANDOM_FLOAT, 32, 1);
    const struct random_type f4 = random_type(RANDOM_FLOAT, 32, 4);
    const struct random_type u2 = random_type(RANDOM_UINT, 32, 2);
    const bool implicit = g->options.stage == PM_STAGE_FRAGMENT && g->place.uniform && !g->diverged;
    struct random_value at = coordinates(g);
    uint32_t lod = random_once_in(g, 2) ? random_constant_float(g, f1, random_below(g, 7)).id
                                        : random_tame(g, random_any(g, f1), 6).id;
    struct random_value texel = random_any(g, u2);
    texel = random_emit(g, u2, 0, "OpBitwiseAnd", "%%v%u %%u2_63", texel.id);
    uint32_t image = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = OpLoad %%sampled_image %%texture\n", image);
    if (random_once_in(g, 4)) {
        uint32_t plain = g->next++;
        pm_buffer_printf(&g->body, "%%v%u = OpImage %%image %%v%u\n", plain, image);
        random_emit(g, f4, 1, "OpImageFetch", "%%v%u %%v%u Lod %%u_0", plain, texel.id);
    } else if (implicit && !random_once_in(g, 4)) {
        if (random_once_in(g, 4))
            random_emit(g, f4, 1, "OpImageSampleImplicitLod", "%%v%u %%v%u Bias %%f_half", image,
                        at.id);
        else
            random_emit(g, f4, 1, "OpImageSampleImplicitLod", "%%v%u %%v%u", image, at.id);
    } else {
        random_emit(g, f4, 1, "OpImageSampleExplicitLod", "%%v%u %%v%u Lod %%v%u", image, at.id,
                    lod);
    }
}

static void derivative(struct random_generator *g)
{
    static const char *const names[] = {"OpDPdx", "OpDPdy", "OpFwidth", "OpDPdxFine",
                                        "OpDPdyCoarse"};
    if (g->options.stage != PM_STAGE_FRAGMENT || !g->place.uniform || g->diverged) {
        image_read(g);
        return;
    }
    struct random_type type = random_type(RANDOM_FLOAT, 32, (uint8_t)(1 + random_below(g, 4)));
    struct random_value a = random_any(g, type);
    random_emit(g, type, 4 * a.bound, names[random_below(g, COUNT(names))], "%%v%u", a.id);
}

/* ---- integers ---- */

/* x & mask, plus more: small, and above 0 where more is. */
static struct random_value small(struct random_generator *g, struct random_type type, uint32_t mask,
                                 uint32_t more)
{
    struct random_value x = random_any(g, type);
    struct random_value m = random_constant_int(g, type, mask);
    x = random_emit(g, type, 0, "OpBitwiseAnd", "%%v%u %%v%u", x.id, m.id);
    if (!more)
        return x;
    struct random_value plus = random_constant_int(g, type, more);
    return random_emit(g, type, 0, "OpIAdd", "%%v%u %%v%u", x.id, plus.id);
}

static void int_of_two(struct random_generator *g, struct random_type type)
{
    static const char *const names[] = {"OpIAdd",      "OpISub",       "OpIMul",
                                        "OpIMul",      "OpBitwiseAnd", "OpBitwiseAnd",
                                        "OpBitwiseOr", "OpBitwiseXor"};
    struct random_value a = random_any(g, type), b = random_any(g, type);
    random_emit(g, type, 0, names[random_below(g, COUNT(names))], "%%v%u %%v%u", a.id, b.id);
}

static void int_shift_or_quotient(struct random_generator *g, struct random_type type)
{
    static const char *const shifts[] = {"OpShiftLeftLogical", "OpShiftRightLogical",
                                         "OpShiftRightArithmetic"};
    struct random_value a = random_any(g, type);
    if (random_once_in(g, 2)) {
        struct random_value by = small(g, type, 15, 0);
        random_emit(g, type, 0, shifts[random_below(g, COUNT(shifts))], "%%v%u %%v%u", a.id, by.id);
        return;
    }
    struct random_value by = small(g, type, 7, 1);
    if (type.kind == RANDOM_UINT)
        random_emit(g, type, 0, random_once_in(g, 2) ? "OpUDiv" : "OpUMod", "%%v%u %%v%u", a.id,
                    by.id);
    else
        random_emit(g, type, 0, random_once_in(g, 2) ? "OpSDiv" : "OpSRem", "%%v%u %%v%u",
                    small(g, type, 0x7fffff, 0).id, by.id);
}

static void int_function(struct random_generator *g, struct random_type type)
{
    static const char *const of_two[2][2] = {{"SMin", "SMax"}, {"UMin", "UMax"}};
    struct random_value a = random_any(g, type), b = random_any(g, type);
    switch (random_below(g, type.width == 32 ? 8 : 3)) {
    case 0:
        random_emit_glsl(g, type, 0, of_two[type.kind == RANDOM_UINT][random_below(g, 2)],
                         "%%v%u %%v%u", a.id, b.id);
        break;
    case 1:
        if (type.kind == RANDOM_INT)
            random_emit_glsl(g, type, 0, random_once_in(g, 2) ? "SAbs" : "SSign", "%%v%u", a.id);
        else
            random_emit(g, type, 0, "OpNot", "%%v%u", a.id);
        break;
    case 2:
        random_emit(g, type, 0, "OpSNegate", "%%v%u", a.id);
        break;
    case 3:
        random_emit(g, type, 0, "OpBitCount", "%%v%u", a.id);
        break;
    case 4:
        random_emit(g, type, 0, "OpBitReverse", "%%v%u", a.id);
        break;
    case 5:
        random_emit(g, type, 0, "OpBitFieldInsert", "%%v%u %%v%u %%u_3 %%u_7", a.id, b.id);
        break;
    case 6:
        random_emit_glsl(g, type, 0, "FindILsb", "%%v%u", a.id);
        break;
    default:
        random_emit(g, type, 0,
                    type.kind == RANDOM_UINT ? "OpBitFieldUExtract" : "OpBitFieldSExtract",
                    "%%v%u %%u_5 %%u_7", a.id);
    }
}

static void int_converted(struct random_generator *g, struct random_type type)
{
    const bool is_unsigned = type.kind == RANDOM_UINT;
    struct random_type from = random_type(RANDOM_FLOAT, 32, type.n);
    if (type.width == 64) {
        from.kind = type.kind;
        random_emit(g, type, 0, is_unsigned ? "OpUConvert" : "OpSConvert", "%%v%u",
                    random_any(g, from).id);
    } else if (random_once_in(g, 3)) {
        random_emit(g, type, 0, "OpBitcast", "%%v%u", random_washed(g, random_any(g, from)).id);
    } else if (is_unsigned) {
        random_emit(g, type, 0, "OpConvertFToU", "%%v%u", random_positive(g, from).id);
    } else {
        struct random_value tame = random_tame(g, random_any(g, from), 1e6);
        random_emit(g, type, 0, "OpConvertFToS", "%%v%u", tame.id);
    }
}

static void int_packed(struct random_generator *g)
{
    const struct random_type u = random_type(RANDOM_UINT, 32, 1);
    const struct random_type f2 = random_type(RANDOM_FLOAT, 32, 2);
    const struct random_type f4 = random_type(RANDOM_FLOAT, 32, 4);
    if (random_once_in(g, 2)) {
        struct random_value a = random_washed(g, random_tame(g, random_any(g, f2), 1000));
        a = random_emit_glsl(g, u, 0, "PackHalf2x16", "%%v%u", a.id);
        if (random_once_in(g, 2))
            random_emit_glsl(g, f2, 1000, "UnpackHalf2x16", "%%v%u", a.id);
    } else {
        struct random_value a = random_washed(g, random_tame(g, random_any(g, f4), 8));
        a = random_emit_glsl(g, u, 0, "PackUnorm4x8", "%%v%u", a.id);
        if (random_once_in(g, 2))
            random_emit_glsl(g, f4, 1, "UnpackUnorm4x8", "%%v%u", a.id);
    }
}

/* ---- booleans ---- */

static void comparison(struct random_generator *g, struct random_type type)
{
    static const char *const names[3][4] = {
        {"OpFOrdLessThan", "OpFOrdEqual", "OpFUnordNotEqual", "OpFOrdGreaterThanEqual"},
        {"OpSLessThan", "OpIEqual", "OpINotEqual", "OpSGreaterThanEqual"},
        {"OpULessThan", "OpIEqual", "OpINotEqual", "OpUGreaterThanEqual"},
    };
    struct random_value a = random_any(g, type);
    struct random_value b = random_any(g, type);
    if (random_once_in(g, 2))
        b = type.kind == RANDOM_FLOAT ? random_constant_float(g, type, 0)
                                      : random_constant_int(g, type, 0);
    random_emit(g, bools(type), 0, names[type.kind][random_below(g, 4)], "%%v%u %%v%u", a.id, b.id);
}

static void logic(struct random_generator *g, struct random_type type)
{
    static const char *const names[] = {"OpLogicalAnd", "OpLogicalOr", "OpLogicalNotEqual",
                                        "OpLogicalEqual"};
    struct random_value a = random_any(g, type), b = random_any(g, type);
    if (type.n > 1 && random_once_in(g, 2))
        random_emit(g, scalar_of(type), 0, random_once_in(g, 2) ? "OpAny" : "OpAll", "%%v%u", a.id);
    else if (random_once_in(g, 4))
        random_emit(g, type, 0, "OpLogicalNot", "%%v%u", a.id);
    else
        random_emit(g, type, 0, names[random_below(g, COUNT(names))], "%%v%u %%v%u", a.id, b.id);
}

static void int_operation(struct random_generator *g, struct random_type type)
{
    switch (random_below(g, 8)) {
    case 0:
        int_shift_or_quotient(g, type);
        break;
    case 1:
    case 2:
        int_function(g, type);
        break;
    case 3:
        int_converted(g, type);
        break;
    case 4:
        random_once_in(g, 4) ? int_packed(g) : any_select(g, type);
        break;
    default:
        int_of_two(g, type);
    }
}

static void float_operation(struct random_generator *g, struct random_type type)
{
    static void (*const operations[])(struct random_generator *, struct random_type) = {
        float_quotient, float_limited,   float_limited, float_mixed,
        float_function, float_converted, float_power,   any_select,
    };
    if (random_once_in(g, 8) && type.width == 32)
        float_matrix(g);
    else if (random_once_in(g, 7))
        float_geometry(g, type.width);
    else if (random_once_in(g, 8))
        random_once_in(g, 2) ? image_read(g) : derivative(g);
    else if (random_once_in(g, 2))
        float_sum_or_product(g, type);
    else
        operations[random_below(g, COUNT(operations))](g, type);
}

void random_operation(struct random_generator *g)
{
    struct random_type type = random_any_type(g);
    const uint32_t before = g->value_count;
    if (random_once_in(g, 10))
        vector_parts(g, type);
    else if (type.kind == RANDOM_BOOL)
        logic(g, type);
    else if (random_once_in(g, 8))
        comparison(g, type);
    else if (type.kind == RANDOM_FLOAT)
        float_operation(g, type);
    else
        int_operation(g, type);
    /* Chains of products stay finite: nothing larger than this is among the values. */
    for (uint32_t i = before; i < g->value_count && !g->options.specials; i++)
        if (g->values[i].bound > 1e5) {
            struct random_value large = g->values[i];
            g->values[i] = random_bounded(g, large, 1e3);
        }
}
