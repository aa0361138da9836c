#include "tests/shader_rewrite/zero/weighed_items.h"

#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const struct pm_target target = {.vulkan_minor = 3};

/* %s: capability and extension, execution mode, decorations, body. */
static const char frame[] =
    "OpCapability Shader\n"
    "%s"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %%main \"main\" %%in_group %%in_local\n"
    "OpExecutionMode %%main LocalSize 64 1 1\n"
    "%s"
    "OpDecorate %%in_group BuiltIn WorkgroupId\n"
    "OpDecorate %%in_local BuiltIn LocalInvocationIndex\n"
    "OpDecorate %%weights DescriptorSet 0\nOpDecorate %%weights Binding 0\n"
    "OpDecorate %%vectors DescriptorSet 0\nOpDecorate %%vectors Binding 2\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 3\n"
    "OpDecorate %%floats ArrayStride 4\nOpDecorate %%float4s ArrayStride 16\n"
    "OpDecorate %%ints ArrayStride 4\n"
    "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
    "OpDecorate %%block4 Block\nOpMemberDecorate %%block4 0 Offset 0\n"
    "OpDecorate %%block_out Block\nOpMemberDecorate %%block_out 0 Offset 0\n"
    "OpMemberDecorate %%block_out 1 Offset %u\n"
    "%s"
    "%%void = OpTypeVoid\n%%main_type = OpTypeFunction %%void\n"
    "%%uint = OpTypeInt 32 0\n%%uint3 = OpTypeVector %%uint 3\n"
    "%%float = OpTypeFloat 32\n%%float4 = OpTypeVector %%float 4\n"
    "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u2 = OpConstant %%uint 2\n"
    "%%u3 = OpConstant %%uint 3\n%%u64 = OpConstant %%uint 64\n"
    "%%places = OpConstant %%uint %u\n%%f1_5 = OpConstant %%float 1.5\n"
    "%%f0 = OpConstant %%float 0\n%%minus = OpConstant %%float -1\n"
    "%%minus2 = OpConstant %%float -2\n%%float2 = OpTypeVector %%float 2\n"
    "%%less0 = OpConstant %%float -0.0\n%%u4 = OpConstant %%uint 4\n%%u7 = OpConstant %%uint 7\n"
    "%%contract = OpConstant %%uint 0x70008\n%%contract4 = OpConstant %%uint 0x7000c\n"
    "%%floats = OpTypeRuntimeArray %%float\n%%float4s = OpTypeRuntimeArray %%float4\n"
    "%%bool = OpTypeBool\n%%ints = OpTypeArray %%uint %%places\n"
    "%%block = OpTypeStruct %%floats\n%%block4 = OpTypeStruct %%float4s\n"
    "%%block_out = OpTypeStruct %%ints %%floats\n"
    "%%p_block = OpTypePointer StorageBuffer %%block\n"
    "%%p_block4 = OpTypePointer StorageBuffer %%block4\n"
    "%%p_out = OpTypePointer StorageBuffer %%block_out\n"
    "%%p_float = OpTypePointer StorageBuffer %%float\n"
    "%%p_float4 = OpTypePointer StorageBuffer %%float4\n"
    "%%p_uint3 = OpTypePointer Input %%uint3\n%%p_uint = OpTypePointer Input %%uint\n"
    "%%weights = OpVariable %%p_block StorageBuffer\n"
    "%%vectors = OpVariable %%p_block4 StorageBuffer\n"
    "%%out = OpVariable %%p_out StorageBuffer\n"
    "%%in_group = OpVariable %%p_uint3 Input\n%%in_local = OpVariable %%p_uint Input\n"
    "%%main = OpFunction %%void None %%main_type\n%%entry = OpLabel\n"
    "%%group3 = OpLoad %%uint3 %%in_group\n"
    "%%group = OpCompositeExtract %%uint %%group3 0\n"
    "%%local = OpLoad %%uint %%in_local\n"
    "%%first = OpIMul %%uint %%group %%u64\n%%i = OpIAdd %%uint %%first %%local\n"
    "%%w_at = OpAccessChain %%p_float %%weights %%u0 %%i\n%%w = OpLoad %%float %%w_at\n"
    "%%v_at = OpAccessChain %%p_float4 %%vectors %%u0 %%i\n%%v = OpLoad %%float4 %%v_at\n"
    "%%x = OpCompositeExtract %%float %%v 0\n%%c = OpCompositeExtract %%float %%v 3\n"
    "%%at0 = OpIMul %%uint %%i %%u3\n%%at1 = OpIAdd %%uint %%at0 %%u1\n"
    "%%at2 = OpIAdd %%uint %%at0 %%u2\n"
    "%%to0 = OpAccessChain %%p_float %%out %%u1 %%at0\n"
    "%%to1 = OpAccessChain %%p_float %%out %%u1 %%at1\n"
    "%%to2 = OpAccessChain %%p_float %%out %%u1 %%at2\n"
    "%s"
    "OpReturn\nOpFunctionEnd\n";

struct pm_words weighed_assemble(const char *capabilities, const char *modes,
                                 const char *decorations, const char *body)
{
    char text[8192];
    int size = snprintf(text, sizeof(text), frame, capabilities, modes, RANDOM_SHADER_PLACES * 4,
                        decorations, RANDOM_SHADER_PLACES, body);
    assert_true(size > 0 && (size_t)size < sizeof(text));
    return pm_test_assemble(text, 3);
}

void weighed_fill(struct differential *d, const float weights[RANDOM_SHADER_GROUPS],
                  void (*fill)(uint32_t item, float vector[4]))
{
    d->specials = true;
    for (uint32_t i = 0; i < WEIGHED_ITEMS; i++) {
        d->inputs.floats[i] = weights[i / RANDOM_SHADER_LANES];
        fill(i, d->inputs.vectors[i]);
    }
    memcpy(d->floats.data, d->inputs.floats, sizeof(d->inputs.floats));
    memcpy(d->vectors.data, d->inputs.vectors, sizeof(d->inputs.vectors));
}

struct pm_words weighed_canonical(const struct pm_words *original)
{
    struct pm_error error = {0};
    struct pm_words canonical;
    const struct pm_canonicalize_info info = {.words = original->data,
                                              .word_count = original->count,
                                              .stage = PM_STAGE_COMPUTE,
                                              .entry_point = "main",
                                              .target = target};
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s", error.message);
    return canonical;
}

struct pm_specialized weighed_specialize(const struct differential *d,
                                         const struct pm_words *canonical,
                                         enum pm_float_zero float_zero, bool integers)
{
    struct pm_error error = {0};
    struct pm_zero_points points;
    struct pm_specialized out;
    assert_true(pm_zero_candidates(canonical->data, canonical->count, &points, &error));
    double *zero = calloc(points.count, sizeof(*zero));
    assert_non_null(zero);
    for (uint32_t i = 0; i < points.count; i++)
        zero[i] = integers || points.candidates[i].is_float;
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = points.count};
    const struct pm_specialize_zero_info info = {.profile = &profile,
                                                 .all_candidates = true,
                                                 .float_zero = float_zero,
                                                 .subgroup_quad = d->gpu.quad,
                                                 .target = target,
                                                 .most_transforms = 16,
                                                 .take_all = true};
    if (!pm_specialize_zero(canonical->data, canonical->count, &info, &out, &error))
        fail_msg("%s", error.message);
    free(zero);
    pm_zero_points_finish(&points);
    return out;
}
