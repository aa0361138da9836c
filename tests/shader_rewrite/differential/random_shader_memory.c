/* What random shaders write, exchange and keep in variables. */
#include "tests/shader_rewrite/differential/random_shader_private.h"

static const struct random_type uint_type = {RANDOM_UINT, 32, 1};
static const struct random_type bool_type = {RANDOM_BOOL, 1, 1};

/* One of the invocation's places in the output: of the integers, or of the floats. */
static uint32_t output_pointer(struct random_generator *g, struct random_type type)
{
    uint32_t pointer = g->next++, index = g->next++;
    pm_buffer_printf(&g->body,
                     "%%v%u = OpIAdd %%u32_1 %%place %%u_%u\n"
                     "%%v%u = OpAccessChain %%sb_%c32_1 %%out %%u_%u %%v%u\n",
                     index, random_below(g, RANDOM_SHADER_SLOTS), pointer, "fiub"[type.kind],
                     type.kind == RANDOM_FLOAT ? 1 : 0, index);
    return pointer;
}

void random_write_out(struct random_generator *g, struct random_value value)
{
    static const struct random_type float_type = {RANDOM_FLOAT, 32, 1};
    const uint32_t kept = g->value_count;
    const bool mixes = random_once_in(g, 2);
    if (value.type.kind == RANDOM_FLOAT) {
        value = random_single(g, value);
        uint32_t pointer = output_pointer(g, float_type);
        if (mixes && !g->options.specials) {
            struct random_value old = random_emit(g, float_type, 0, "OpLoad", "%%v%u", pointer);
            old = random_emit(g, float_type, 0, "OpFMul", "%%v%u %%f_half", old.id);
            value = random_emit(g, float_type, 0, "OpFAdd", "%%v%u %%v%u", old.id, value.id);
        }
        pm_buffer_printf(&g->body, "OpStore %%v%u %%v%u\n", pointer, value.id);
    } else {
        value = random_bits(g, value);
        uint32_t pointer = output_pointer(g, uint_type);
        if (mixes) {
            struct random_value old = random_emit(g, uint_type, 0, "OpLoad", "%%v%u", pointer);
            old = random_emit(g, uint_type, 0, "OpIMul", "%%v%u %%u_31", old.id);
            value = random_emit(g, uint_type, 0, "OpIAdd", "%%v%u %%v%u", old.id, value.id);
        }
        pm_buffer_printf(&g->body, "OpStore %%v%u %%v%u\n", pointer, value.id);
    }
    g->value_count = kept;
}

uint32_t random_element_pointer(struct random_generator *g, const struct random_variable *v)
{
    if (!v->elements)
        return v->id;
    struct random_value index = random_any(g, uint_type);
    index = random_emit(g, uint_type, 0, "OpBitwiseAnd", "%%v%u %%u_3", index.id);
    uint32_t pointer = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%fn_%c%u_%u %%v%u %%v%u\n", pointer,
                     RANDOM_TYPE_ARGS(v->type), v->id, index.id);
    return pointer;
}

void random_use_variable(struct random_generator *g)
{
    const struct random_variable *v = &g->variables[random_below(g, g->variable_count)];
    struct random_value value = random_any(g, v->type);
    if (v->type.kind == RANDOM_FLOAT)
        value = random_bounded(g, value, RANDOM_VARIABLE_BOUND);
    uint32_t pointer = random_element_pointer(g, v);
    pm_buffer_printf(&g->body, "OpStore %%v%u %%v%u\n", pointer, value.id);
    if (v->elements)
        random_emit(g, v->type, RANDOM_VARIABLE_BOUND, "OpLoad", "%%v%u",
                    random_element_pointer(g, v));
}

void random_exchange(struct random_generator *g)
{
    struct random_value value = random_bits(g, random_any(g, random_int_type(g)));
    uint32_t mine = g->next++, theirs = g->next++;
    static const char barrier[] = "OpControlBarrier %u_2 %u_2 %u_264\n";
    pm_buffer_append_string(&g->body, barrier);
    pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%wg_u32_1 %%shared %%local\n", mine);
    pm_buffer_printf(&g->body, "OpStore %%v%u %%v%u\n", mine, value.id);
    pm_buffer_append_string(&g->body, barrier);
    struct random_value index =
        random_emit(g, uint_type, 0, "OpIAdd", "%%local %%u_%u", 1 + random_below(g, 7));
    index = random_emit(g, uint_type, 0, "OpUMod", "%%v%u %%lanes", index.id);
    pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%wg_u32_1 %%shared %%v%u\n", theirs,
                     index.id);
    random_emit(g, uint_type, 0, "OpLoad", "%%v%u", theirs);
}

static struct random_value load_raw(struct random_generator *g)
{
    static const struct random_type float_type = {RANDOM_FLOAT, 32, 1};
    const uint32_t pointer = g->next++;
    pm_buffer_printf(&g->body, "%%v%u = OpAccessChain %%sb_f32_1 %%in_raw %%u_0 %%index_%u\n",
                     pointer, random_below(g, RANDOM_INDICES));
    return random_emit(g, float_type, 0, "OpLoad", "%%v%u", pointer);
}

void random_copy_raw(struct random_generator *g)
{
    static const struct random_type float_type = {RANDOM_FLOAT, 32, 1};
    const uint32_t kept = g->value_count, pointer = g->next++, index = g->next++;
    const struct random_value raw = load_raw(g);
    struct random_value moved = raw;
    switch (random_below(g, 4)) {
    case 0:
        moved = load_raw(g);
        moved = random_emit(g, float_type, 0, "OpSelect", "%%v%u %%v%u %%v%u",
                            random_any(g, bool_type).id, raw.id, moved.id);
        break;
    case 1:
        moved = random_emit(g, uint_type, 0, "OpBitcast", "%%v%u", raw.id);
        moved = random_emit(g, float_type, 0, "OpBitcast", "%%v%u", moved.id);
        break;
    case 2:
        moved = random_emit(g, random_type(RANDOM_FLOAT, 32, 2), 0, "OpCompositeConstruct",
                            "%%v%u %%f_half", raw.id);
        moved = random_emit(g, float_type, 0, "OpCompositeExtract", "%%v%u 0", moved.id);
        break;
    default:
        break;
    }
    struct random_value size = random_emit_glsl(g, float_type, 0, "FAbs", "%%v%u", raw.id);
    struct random_value most = random_constant_float(g, float_type, RANDOM_VARIABLE_BOUND);
    struct random_value ordinary =
        random_emit(g, bool_type, 0, "OpFOrdLessThan", "%%v%u %%v%u", size.id, most.id);
    struct random_value factor = random_emit(g, float_type, RANDOM_VARIABLE_BOUND, "OpSelect",
                                             "%%v%u %%v%u %%f_half", ordinary.id, raw.id);
    g->value_count = kept;
    struct random_value other = random_bounded(g, random_any(g, float_type), RANDOM_VARIABLE_BOUND);
    random_emit(g, float_type, RANDOM_VARIABLE_BOUND * RANDOM_VARIABLE_BOUND, "OpFMul",
                "%%v%u %%v%u", factor.id, other.id);
    pm_buffer_printf(&g->body,
                     "%%v%u = OpIAdd %%u32_1 %%place %%u_%u\n"
                     "%%v%u = OpAccessChain %%sb_f32_1 %%out_raw %%u_0 %%v%u\n"
                     "OpStore %%v%u %%v%u\n",
                     index, random_below(g, RANDOM_SHADER_SLOTS), pointer, index, pointer,
                     moved.id);
}
