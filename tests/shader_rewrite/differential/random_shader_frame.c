/* What a random shader's module has around its function: capabilities, types, the interface. */
#include "tests/shader_rewrite/differential/random_shader_private.h"

#include <math.h>
#include <string.h>

static void append(struct pm_buffer *text, const char *lines)
{
    pm_buffer_append_string(text, lines);
}

static void interface(struct pm_buffer *text, struct random_generator *g)
{
    static const uint32_t sizes[][3] = {{64, 1, 1}, {8, 8, 1}, {17, 3, 1}, {32, 2, 1}, {5, 1, 3}};
    if (g->options.stage == PM_STAGE_FRAGMENT) {
        append(text, "OpCapability DerivativeControl\n");
        if (g->options.demote)
            append(text, "OpCapability DemoteToHelperInvocationEXT\n"
                         "OpExtension \"SPV_EXT_demote_to_helper_invocation\"\n");
    }
    append(text, "OpExtension \"SPV_KHR_storage_buffer_storage_class\"\n"
                 "%glsl = OpExtInstImport \"GLSL.std.450\"\n"
                 "OpMemoryModel Logical GLSL450\n");
    if (g->options.stage == PM_STAGE_FRAGMENT) {
        append(text, "OpEntryPoint Fragment %main \"main\" %in_color %in_at %out_color\n"
                     "OpExecutionMode %main OriginUpperLeft\n"
                     "OpDecorate %in_color Location 0\n"
                     "OpDecorate %in_at BuiltIn FragCoord\n"
                     "OpDecorate %out_color Location 0\n");
        return;
    }
    const uint32_t *size = sizes[random_below(g, sizeof(sizes) / sizeof(sizes[0]))];
    pm_buffer_printf(text,
                     "OpEntryPoint GLCompute %%main \"main\" %%in_group %%in_local\n"
                     "OpExecutionMode %%main LocalSize %u %u %u\n"
                     "OpDecorate %%in_group BuiltIn WorkgroupId\n"
                     "OpDecorate %%in_local BuiltIn LocalInvocationIndex\n",
                     size[0], size[1], size[2]);
    pm_buffer_printf(&g->globals, "%%lanes = OpConstant %%u32_1 %u\n", size[0] * size[1] * size[2]);
}

static void decorations(struct pm_buffer *text, const struct random_generator *g)
{
    static const char *const buffers[] = {"in_floats", "in_uints", "in_vectors", "out"};
    for (unsigned i = 0; i < 4; i++)
        pm_buffer_printf(text,
                         "OpDecorate %%%s DescriptorSet 0\nOpDecorate %%%s Binding %u\n"
                         "%s%s%s",
                         buffers[i], buffers[i], i, i < 3 ? "OpDecorate %" : "",
                         i < 3 ? buffers[i] : "", i < 3 ? " NonWritable\n" : "");
    if (g->options.uniforms)
        append(text, "OpDecorate %push DescriptorSet 0\nOpDecorate %push Binding 9\n");
    if (g->options.volatile_uints)
        append(text, "OpMemberDecorate %block_uints 0 Volatile\n");
    if (g->options.raw_copies)
        append(text, "OpDecorate %in_raw DescriptorSet 0\nOpDecorate %in_raw Binding 1\n"
                     "OpDecorate %in_raw NonWritable\n"
                     "OpDecorate %out_raw DescriptorSet 0\nOpDecorate %out_raw Binding 3\n"
                     "OpDecorate %out_raw Aliased\nOpDecorate %out Aliased\n");
    append(text, "OpDecorate %texture DescriptorSet 0\n"
                 "OpDecorate %texture Binding 8\n"
                 "OpDecorate %array_floats ArrayStride 4\n"
                 "OpDecorate %array_uints ArrayStride 4\n"
                 "OpDecorate %array_out ArrayStride 4\n"
                 "OpDecorate %array_vectors ArrayStride 16\n"
                 "OpDecorate %array_push ArrayStride 4\n"
                 "OpDecorate %array_push_u ArrayStride 4\n"
                 "OpDecorate %block_floats Block\n"
                 "OpDecorate %block_uints Block\n"
                 "OpDecorate %block_out Block\n"
                 "OpDecorate %block_vectors Block\n"
                 "OpDecorate %block_push Block\n"
                 "OpMemberDecorate %block_floats 0 Offset 0\n"
                 "OpMemberDecorate %block_uints 0 Offset 0\n"
                 "OpMemberDecorate %block_vectors 0 Offset 0\n"
                 "OpMemberDecorate %block_out 0 Offset 0\n"
                 "OpMemberDecorate %block_push 0 Offset 0\n"
                 "OpMemberDecorate %block_push 1 Offset 64\n");
    pm_buffer_printf(text, "OpMemberDecorate %%block_out 1 Offset %u\n", RANDOM_SHADER_PLACES * 4);
}

/* The scalar, its vectors, and pointers into the function to each. */
static void numbers(struct pm_buffer *text, char kind, unsigned width, const char *scalar)
{
    pm_buffer_printf(text, "%%%c%u_1 = %s\n", kind, width, scalar);
    for (unsigned n = 2; n <= 4; n++)
        pm_buffer_printf(text, "%%%c%u_%u = OpTypeVector %%%c%u_1 %u\n", kind, width, n, kind,
                         width, n);
    for (unsigned n = 1; n <= 4; n++)
        pm_buffer_printf(text, "%%fn_%c%u_%u = OpTypePointer Function %%%c%u_%u\n", kind, width, n,
                         kind, width, n);
}

static void types(struct pm_buffer *text, const struct random_generator *g)
{
    append(text, "%void = OpTypeVoid\n"
                 "%main_type = OpTypeFunction %void\n");
    numbers(text, 'b', 1, "OpTypeBool");
    numbers(text, 'f', 32, "OpTypeFloat 32");
    numbers(text, 'i', 32, "OpTypeInt 32 1");
    numbers(text, 'u', 32, "OpTypeInt 32 0");
    if (g->options.float64)
        numbers(text, 'f', 64, "OpTypeFloat 64");
    if (g->options.int64) {
        numbers(text, 'i', 64, "OpTypeInt 64 1");
        numbers(text, 'u', 64, "OpTypeInt 64 0");
    }
    for (unsigned n = 2; n <= 4; n++)
        pm_buffer_printf(text, "%%mat%u = OpTypeMatrix %%f32_%u %u\n", n, n, n);
    for (unsigned i = 0; i < 32; i++)
        pm_buffer_printf(text, "%%u_%u = OpConstant %%u32_1 %u\n", i, i);
    pm_buffer_printf(text,
                     "%%u_slots = OpConstant %%u32_1 %u\n"
                     "%%u_width = OpConstant %%u32_1 %u\n"
                     "%%u_places = OpConstant %%u32_1 %u\n",
                     RANDOM_SHADER_SLOTS, RANDOM_SHADER_WIDTH, RANDOM_SHADER_PLACES);
}

static void variables(struct pm_buffer *text, const struct random_generator *g)
{
    append(text, "%u_63 = OpConstant %u32_1 63\n"
                 "%u_64 = OpConstant %u32_1 64\n"
                 "%u_127 = OpConstant %u32_1 127\n"
                 "%u_128 = OpConstant %u32_1 128\n"
                 "%u_264 = OpConstant %u32_1 264\n"
                 "%u2_63 = OpConstantComposite %u32_2 %u_63 %u_63\n"
                 "%f_half = OpConstant %f32_1 0.5\n"
                 "%f4_zero = OpConstantNull %f32_4\n"
                 "%array_floats = OpTypeRuntimeArray %f32_1\n"
                 "%array_uints = OpTypeRuntimeArray %u32_1\n"
                 "%array_vectors = OpTypeRuntimeArray %f32_4\n"
                 "%array_out = OpTypeArray %u32_1 %u_places\n"
                 "%array_push = OpTypeArray %f32_1 %u_16\n"
                 "%array_push_u = OpTypeArray %u32_1 %u_16\n"
                 "%array_shared = OpTypeArray %u32_1 %u_64\n"
                 "%array_f = OpTypeArray %f32_1 %u_4\n"
                 "%array_u = OpTypeArray %u32_1 %u_4\n"
                 "%fna_f32_1 = OpTypePointer Function %array_f\n"
                 "%fna_u32_1 = OpTypePointer Function %array_u\n"
                 "%block_floats = OpTypeStruct %array_floats\n"
                 "%block_uints = OpTypeStruct %array_uints\n"
                 "%block_vectors = OpTypeStruct %array_vectors\n"
                 "%block_out = OpTypeStruct %array_out %array_floats\n"
                 "%block_push = OpTypeStruct %array_push %array_push_u\n"
                 "%sb_floats = OpTypePointer StorageBuffer %block_floats\n"
                 "%sb_uints = OpTypePointer StorageBuffer %block_uints\n"
                 "%sb_vectors = OpTypePointer StorageBuffer %block_vectors\n"
                 "%sb_out = OpTypePointer StorageBuffer %block_out\n"
                 "%sb_f32_1 = OpTypePointer StorageBuffer %f32_1\n"
                 "%sb_f32_4 = OpTypePointer StorageBuffer %f32_4\n"
                 "%sb_u32_1 = OpTypePointer StorageBuffer %u32_1\n"
                 "%image = OpTypeImage %f32_1 2D 0 0 0 1 Unknown\n"
                 "%sampled_image = OpTypeSampledImage %image\n"
                 "%uc_image = OpTypePointer UniformConstant %sampled_image\n"
                 "%in_floats = OpVariable %sb_floats StorageBuffer\n"
                 "%in_uints = OpVariable %sb_uints StorageBuffer\n"
                 "%in_vectors = OpVariable %sb_vectors StorageBuffer\n"
                 "%out = OpVariable %sb_out StorageBuffer\n"
                 "%texture = OpVariable %uc_image UniformConstant\n");
    const char *push = g->options.uniforms ? "Uniform" : "PushConstant";
    pm_buffer_printf(text,
                     "%%pc_block = OpTypePointer %s %%block_push\n"
                     "%%pc_f32_1 = OpTypePointer %s %%f32_1\n"
                     "%%pc_u32_1 = OpTypePointer %s %%u32_1\n"
                     "%%push = OpVariable %%pc_block %s\n",
                     push, push, push, push);
    if (g->options.raw_copies)
        append(text, "%in_raw = OpVariable %sb_floats StorageBuffer\n"
                     "%out_raw = OpVariable %sb_floats StorageBuffer\n");
    if (g->options.stage == PM_STAGE_FRAGMENT)
        append(text, "%i_f32_4 = OpTypePointer Input %f32_4\n"
                     "%o_f32_4 = OpTypePointer Output %f32_4\n"
                     "%in_color = OpVariable %i_f32_4 Input\n"
                     "%in_at = OpVariable %i_f32_4 Input\n"
                     "%out_color = OpVariable %o_f32_4 Output\n");
    else
        append(text, "%i_u32_3 = OpTypePointer Input %u32_3\n"
                     "%i_u32_1 = OpTypePointer Input %u32_1\n"
                     "%wg_shared = OpTypePointer Workgroup %array_shared\n"
                     "%wg_u32_1 = OpTypePointer Workgroup %u32_1\n"
                     "%in_group = OpVariable %i_u32_3 Input\n"
                     "%in_local = OpVariable %i_u32_1 Input\n"
                     "%shared = OpVariable %wg_shared Workgroup\n");
}

void random_frame(struct pm_buffer *text, struct random_generator *g)
{
    append(text, "OpCapability Shader\n");
    if (g->options.float64)
        append(text, "OpCapability Float64\n");
    if (g->options.int64)
        append(text, "OpCapability Int64\n");
    interface(text, g);
    decorations(text, g);
    types(text, g);
    variables(text, g);
}

/* ---- inputs ---- */

static float any_float(struct pm_random *random, double zeroes, bool specials)
{
    static const float special[] = {-0.0f, INFINITY, -INFINITY, NAN, -0.0f,
                                    1e30f, -3.4e38f, 1e-30f,    1,   -1};
    if (pm_random_unit(random) < zeroes)
        return specials && pm_random_below(random, 4) == 0 ? -0.0f : 0;
    if (specials && pm_random_below(random, 3) == 0)
        return special[pm_random_below(random, sizeof(special) / sizeof(special[0]))];
    float size = (float)(1 + pm_random_below(random, 64)) / 8;
    return pm_random_below(random, 2) ? size : -size;
}

/* Zeroes come in runs, since whole subgroups must meet them. */
static void fill_region(struct pm_random *random, bool specials, double zeroes, uint32_t first,
                        struct random_shader_inputs *inputs)
{
    uint32_t run = 0;
    bool zero[3] = {false}, negative = false; /* as a float -0 */
    for (uint32_t i = first; i < first + RANDOM_SHADER_REGION; i++) {
        if (run-- == 0) {
            run = pm_random_below(random, 24);
            for (int k = 0; k < 3; k++)
                zero[k] = pm_random_unit(random) < zeroes;
            negative = run % 4 == 1;
        }
        inputs->floats[i] = any_float(random, zero[0] ? 1 : zeroes / 4, specials);
        uint32_t bits = pm_random_below(random, 8) ? pm_random_below(random, 16)
                                                   : (uint32_t)pm_random_next(random);
        inputs->uints[i] = !zero[1] ? bits : negative ? 0x80000000 : 0;
        const double each = zero[2] ? 1 : zeroes / 4;
        for (int c = 0; c < 4; c++)
            inputs->vectors[i][c] = any_float(random, c == 3 ? zeroes : each, specials);
    }
}

void random_shader_fill(uint64_t seed, bool specials, struct random_shader_inputs *inputs)
{
    static const double zeroes[RANDOM_SHADER_GROUPS] = {0.5, 1, 0.95, 0.9, 0.8, 0.3, 0, 0.5};
    struct pm_random random;
    pm_random_init(&random, seed);
    for (uint32_t region = 0; region < RANDOM_SHADER_GROUPS; region++)
        fill_region(&random, specials, zeroes[region], region * RANDOM_SHADER_REGION, inputs);
    for (uint32_t i = 0; i < RANDOM_SHADER_PUSH; i++) {
        const float number = any_float(&random, 0.5, specials);
        memcpy(&inputs->push[i], &number, sizeof(number));
    }
    for (uint32_t i = RANDOM_SHADER_PUSH / 2; i < RANDOM_SHADER_PUSH; i++)
        inputs->push[i] = pm_random_below(&random, 5);
}
