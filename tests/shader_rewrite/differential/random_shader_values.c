/* Values of random shaders: constants, inputs, and keeping them within bounds. */
#include "tests/shader_rewrite/differential/random_shader_private.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

uint32_t random_below(struct random_generator *g, uint32_t bound)
{
    return pm_random_below(&g->random, bound);
}

bool random_once_in(struct random_generator *g, uint32_t many)
{
    return random_below(g, many) == 0;
}

struct random_type random_type(enum random_kind kind, uint8_t width, uint8_t n)
{
    return (struct random_type){(uint8_t)kind, width, n};
}

static bool same_type(struct random_type a, struct random_type b)
{
    return a.kind == b.kind && a.width == b.width && a.n == b.n;
}

static struct random_value keep(struct random_generator *g, uint32_t id, struct random_type type,
                                double bound)
{
    struct random_value value = {id, type, bound};
    if (g->value_count < RANDOM_VALUES)
        g->values[g->value_count++] = value;
    return value;
}

struct random_value random_emit(struct random_generator *g, struct random_type type, double bound,
                                const char *op, const char *arguments, ...)
{
    char text[256];
    va_list list;
    va_start(list, arguments);
    vsnprintf(text, sizeof(text), arguments, list);
    va_end(list);
    uint32_t id = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = %s " RANDOM_TYPE " %s\n", id, op, RANDOM_TYPE_ARGS(type),
                     text);
    return keep(g, id, type, bound);
}

struct random_value random_emit_glsl(struct random_generator *g, struct random_type type,
                                     double bound, const char *op, const char *arguments, ...)
{
    char text[256];
    va_list list;
    va_start(list, arguments);
    vsnprintf(text, sizeof(text), arguments, list);
    va_end(list);
    return random_emit(g, type, bound, "OpExtInst", "%%glsl %s %s", op, text);
}

/* ---- constants ---- */

/* A vector of one constant, which scalar is; itself for n = 1. */
static struct random_value splat_constant(struct random_generator *g, struct random_type type,
                                          uint32_t scalar, double bound)
{
    if (type.n == 1)
        return (struct random_value){scalar, type, bound};
    uint32_t id = g->next++;
    pm_buffer_printf(&g->globals, "%%v%u = OpConstantComposite " RANDOM_TYPE, id,
                     RANDOM_TYPE_ARGS(type));
    for (int i = 0; i < type.n; i++)
        pm_buffer_printf(&g->globals, " %%v%u", scalar);
    pm_buffer_append_string(&g->globals, "\n");
    return (struct random_value){id, type, bound};
}

struct random_value random_constant_float(struct random_generator *g, struct random_type type,
                                          double x)
{
    uint32_t id = g->next++;
    struct random_type scalar = random_type(RANDOM_FLOAT, type.width, 1);
    pm_buffer_printf(&g->globals, "%%v%u = OpConstant " RANDOM_TYPE " %.9g\n", id,
                     RANDOM_TYPE_ARGS(scalar), x);
    return splat_constant(g, type, id, fabs(x));
}

struct random_value random_constant_int(struct random_generator *g, struct random_type type,
                                        uint32_t x)
{
    uint32_t id = g->next++;
    struct random_type scalar = random_type(type.kind, type.width, 1);
    pm_buffer_printf(&g->globals, "%%v%u = OpConstant " RANDOM_TYPE " %u\n", id,
                     RANDOM_TYPE_ARGS(scalar), x & 0x7fffffff);
    return splat_constant(g, type, id, 0);
}

static struct random_value any_constant(struct random_generator *g, struct random_type type)
{
    static const double floats[] = {0, 0, 1, -1, 0.5, 2, -3, 0.1, 0.3, -0.7, 5};
    static const uint32_t ints[] = {0, 0, 1, 2, 3, 7, 31, 255, 65537};
    if (type.kind == RANDOM_FLOAT)
        return random_constant_float(g, type, floats[random_below(g, 11)]);
    return random_constant_int(g, type, ints[random_below(g, 9)]);
}

/* ---- inputs ---- */

/* Within the invocation's own region; neighbours read neighbours. */
static struct random_value load_element(struct random_generator *g, struct random_type type,
                                        const char *buffer, double bound)
{
    uint32_t pointer = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%sb_%c%u_%u %%%s %%u_0 %%index_%u\n",
                     pointer, RANDOM_TYPE_ARGS(type), buffer, random_below(g, RANDOM_INDICES));
    return random_emit(g, type, bound, "OpLoad", "%%v%u", pointer);
}

struct random_value random_word(struct random_generator *g, enum random_kind kind)
{
    const struct random_type type = random_type(kind, 32, 1);
    const bool is_float = kind == RANDOM_FLOAT;
    uint32_t pointer = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%pc_%c32_1 %%push %%u_%u %%u_%u\n", pointer,
                     is_float ? 'f' : 'u', is_float ? 0 : 1, random_below(g, 8));
    return random_emit(g, type, is_float ? RANDOM_VARIABLE_BOUND : 0, "OpLoad", "%%v%u", pointer);
}

/* The first n components of what is read or computed as a vec4. */
static struct random_value first_components(struct random_generator *g, struct random_value whole,
                                            uint8_t n)
{
    struct random_type type = random_type(whole.type.kind, whole.type.width, n);
    if (n == whole.type.n)
        return whole;
    if (n == 1)
        return random_emit(g, type, whole.bound, "OpCompositeExtract", "%%v%u %u", whole.id,
                           random_below(g, whole.type.n));
    return random_emit(g, type, whole.bound, "OpVectorShuffle", "%%v%u %%v%u %s", whole.id,
                       whole.id, n == 2 ? "0 1" : "0 1 2");
}

static struct random_value input_float(struct random_generator *g, uint8_t n)
{
    struct random_type f1 = random_type(RANDOM_FLOAT, 32, 1);
    struct random_type f4 = random_type(RANDOM_FLOAT, 32, 4);
    const bool fragment = g->options.stage == PM_STAGE_FRAGMENT;
    if (n == 1 && g->options.words && !random_once_in(g, 3))
        return random_word(g, RANDOM_FLOAT);
    if (n == 1 && !random_once_in(g, 3))
        return load_element(g, f1, "in_floats", RANDOM_VARIABLE_BOUND);
    if (fragment && random_once_in(g, 3))
        return first_components(g, random_emit(g, f4, 1, "OpLoad", "%%in_color"), n);
    if (n == 1 && random_once_in(g, 3))
        return random_word(g, RANDOM_FLOAT);
    return first_components(g, load_element(g, f4, "in_vectors", RANDOM_VARIABLE_BOUND), n);
}

static struct random_value compose(struct random_generator *g, struct random_type type)
{
    struct random_type scalar = random_type(type.kind, type.width, 1);
    uint32_t ids[4] = {0};
    double bound = 0;
    for (int i = 0; i < type.n; i++) {
        struct random_value part = random_any(g, scalar);
        ids[i] = part.id;
        bound = fmax(bound, part.bound);
    }
    if (type.n == 2)
        return random_emit(g, type, bound, "OpCompositeConstruct", "%%v%u %%v%u", ids[0], ids[1]);
    if (type.n == 3)
        return random_emit(g, type, bound, "OpCompositeConstruct", "%%v%u %%v%u %%v%u", ids[0],
                           ids[1], ids[2]);
    return random_emit(g, type, bound, "OpCompositeConstruct", "%%v%u %%v%u %%v%u %%v%u", ids[0],
                       ids[1], ids[2], ids[3]);
}

struct random_value random_input(struct random_generator *g, struct random_type type)
{
    const struct random_type u = random_type(RANDOM_UINT, 32, 1);
    if (type.kind == RANDOM_FLOAT && type.width == 32)
        return input_float(g, type.n);
    if (type.n > 1)
        return compose(g, type);
    if (type.kind == RANDOM_FLOAT)
        return random_emit(g, type, RANDOM_VARIABLE_BOUND, "OpFConvert", "%%v%u",
                           input_float(g, 1).id);
    struct random_value bits = g->options.words && !random_once_in(g, 3)
                                   ? random_word(g, RANDOM_UINT)
                                   : load_element(g, u, "in_uints", 0);
    if (type.kind == RANDOM_BOOL)
        return random_emit(g, type, 0, "OpINotEqual", "%%v%u %%u_0", bits.id);
    if (type.width == 64 && type.kind == RANDOM_INT)
        return random_emit(g, type, 0, "OpSConvert", "%%v%u", bits.id);
    if (type.width == 64)
        return random_emit(g, type, 0, "OpUConvert", "%%v%u", bits.id);
    return type.kind == RANDOM_UINT ? bits : random_emit(g, type, 0, "OpBitcast", "%%v%u", bits.id);
}

struct random_value random_uniform_uint(struct random_generator *g)
{
    const struct random_type u = random_type(RANDOM_UINT, 32, 1);
    uint32_t pointer = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%sb_u32_1 %%in_uints %%u_0 %%u_%u\n",
                     pointer, random_below(g, 32));
    return random_emit(g, u, 0, "OpLoad", "%%v%u", pointer);
}

struct random_value random_uniform_bool(struct random_generator *g)
{
    const struct random_type b = random_type(RANDOM_BOOL, 1, 1);
    return random_emit(g, b, 0, random_once_in(g, 2) ? "OpIEqual" : "OpUGreaterThan", "%%v%u %%u_0",
                       random_uniform_uint(g).id);
}

static bool load_variable(struct random_generator *g, struct random_type type,
                          struct random_value *value)
{
    for (int tries = 0; tries < 4 && g->variable_count; tries++) {
        const uint32_t at = random_below(g, g->variable_count);
        const struct random_variable *v = &g->variables[at];
        if (at >= g->stored_count || v->elements || !same_type(v->type, type))
            continue;
        *value = random_emit(g, type, RANDOM_VARIABLE_BOUND, "OpLoad", "%%v%u", v->id);
        return true;
    }
    return false;
}

struct random_value random_any(struct random_generator *g, struct random_type type)
{
    struct random_value value;
    const uint32_t recent = g->value_count < 16 ? g->value_count : 16;
    for (uint32_t tries = 0; tries < 20 && recent; tries++) {
        uint32_t at = random_once_in(g, 2) ? random_below(g, g->value_count)
                                           : g->value_count - 1 - random_below(g, recent);
        if (same_type(g->values[at].type, type))
            return g->values[at];
    }
    if (random_once_in(g, 3) && load_variable(g, type, &value))
        return value;
    if (type.kind != RANDOM_BOOL && random_once_in(g, 4))
        return any_constant(g, type);
    if (type.n > 1 && random_once_in(g, 3))
        return compose(g, type);
    return random_input(g, type);
}

struct random_type random_int_type(struct random_generator *g)
{
    struct random_type type = random_any_type(g);
    if (type.kind == RANDOM_INT || type.kind == RANDOM_UINT)
        return type;
    return random_type(random_once_in(g, 2) ? RANDOM_INT : RANDOM_UINT, 32, 1);
}

struct random_type random_any_type(struct random_generator *g)
{
    uint8_t n = (uint8_t)(random_once_in(g, 2) ? 1 : 1 + random_below(g, 4));
    switch (random_below(g, 16)) {
    case 0:
    case 1:
        return random_type(RANDOM_INT, 32, n);
    case 2:
    case 3:
        return random_type(RANDOM_UINT, 32, n);
    case 4:
        return random_type(RANDOM_BOOL, 1, n);
    case 5:
        if (g->options.float64)
            return random_type(RANDOM_FLOAT, 64, n);
        break;
    case 6:
        if (g->options.int64)
            return random_type(random_once_in(g, 2) ? RANDOM_INT : RANDOM_UINT, 64, n);
        break;
    default:
        break;
    }
    return random_type(RANDOM_FLOAT, 32, n);
}

/* ---- bounds ---- */

static struct random_value clamp(struct random_generator *g, struct random_value value,
                                 double limit)
{
    struct random_value low = random_constant_float(g, value.type, -limit);
    struct random_value high = random_constant_float(g, value.type, limit);
    return random_emit_glsl(g, value.type, limit, "FClamp", "%%v%u %%v%u %%v%u", value.id, low.id,
                            high.id);
}

struct random_value random_tame(struct random_generator *g, struct random_value value, double limit)
{
    if (!g->options.specials)
        return random_bounded(g, value, limit);
    const struct random_type b = random_type(RANDOM_BOOL, 1, value.type.n);
    struct random_value size = random_emit_glsl(g, value.type, limit, "FAbs", "%%v%u", value.id);
    struct random_value most = random_constant_float(g, value.type, limit);
    struct random_value ordinary =
        random_emit(g, b, 0, "OpFOrdLessThan", "%%v%u %%v%u", size.id, most.id);
    struct random_value other = random_constant_float(g, value.type, limit < 1 ? 0.25 : 1);
    return random_emit(g, value.type, limit, "OpSelect", "%%v%u %%v%u %%v%u", ordinary.id, value.id,
                       other.id);
}

struct random_value random_bounded(struct random_generator *g, struct random_value value,
                                   double limit)
{
    if (g->options.specials || value.bound <= limit)
        return value;
    if (random_once_in(g, 2))
        return clamp(g, value, limit);
    struct random_value scale = random_constant_float(g, value.type, 0.99 * limit / value.bound);
    return random_emit(g, value.type, limit, "OpFMul", "%%v%u %%v%u", value.id, scale.id);
}

struct random_value random_washed(struct random_generator *g, struct random_value value)
{
    const struct random_type u = random_type(RANDOM_UINT, 32, value.type.n);
    const struct random_type b = random_type(RANDOM_BOOL, 1, value.type.n);
    if (!g->options.specials)
        return random_emit_glsl(g, value.type, value.bound, "FAbs", "%%v%u", value.id);
    const uint32_t kept = g->value_count;
    struct random_value bits = random_emit(g, u, 0, "OpBitcast", "%%v%u", value.id);
    struct random_value is_nan =
        random_emit(g, b, 0, "OpFUnordNotEqual", "%%v%u %%v%u", value.id, value.id);
    struct random_value nan = random_constant_int(g, u, 0x7fc00000);
    bits = random_emit(g, u, 0, "OpSelect", "%%v%u %%v%u %%v%u", is_nan.id, nan.id, bits.id);
    g->value_count = kept;
    return random_emit(g, value.type, value.bound, "OpBitcast", "%%v%u", bits.id);
}

struct random_value random_positive(struct random_generator *g, struct random_type type)
{
    struct random_value tame = random_tame(g, random_any(g, type), RANDOM_VARIABLE_BOUND);
    struct random_value size = random_emit_glsl(g, type, tame.bound, "FAbs", "%%v%u", tame.id);
    struct random_value least = random_constant_float(g, type, 0.5);
    return random_emit(g, type, tame.bound + 0.5, "OpFAdd", "%%v%u %%v%u", size.id, least.id);
}

static struct random_value one_component(struct random_generator *g, struct random_value value)
{
    struct random_type type = random_type(value.type.kind, value.type.width, 1);
    if (value.type.n == 1)
        return value;
    return random_emit(g, type, value.bound, "OpCompositeExtract", "%%v%u %u", value.id,
                       random_below(g, value.type.n));
}

struct random_value random_single(struct random_generator *g, struct random_value value)
{
    value = one_component(g, value);
    if (value.type.width == 64)
        value = random_emit(g, random_type(RANDOM_FLOAT, 32, 1), value.bound, "OpFConvert", "%%v%u",
                            value.id);
    return value;
}

struct random_value random_bits(struct random_generator *g, struct random_value value)
{
    const struct random_type u = random_type(RANDOM_UINT, 32, 1);
    value = one_component(g, value);
    if (value.type.kind == RANDOM_BOOL)
        return random_emit(g, u, 0, "OpSelect", "%%v%u %%u_1 %%u_0", value.id);
    if (value.type.width == 64)
        return random_emit(g, u, 0, "OpUConvert", "%%v%u", value.id);
    return value.type.kind == RANDOM_UINT ? value
                                          : random_emit(g, u, 0, "OpBitcast", "%%v%u", value.id);
}
