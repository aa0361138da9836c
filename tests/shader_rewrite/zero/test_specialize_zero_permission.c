/* HAZARDS 7, on every driver: where 0 * x is NaN, or a zero's sign is at stake, the specialized
 * shader writes what permission says, and in every other place the original's bits. */
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/differential/differential.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { LANES = RANDOM_SHADER_LANES, RESULTS = 3, ITEMS = RANDOM_SHADER_GROUPS * LANES };

static struct differential differential;
static const struct pm_target target = {.vulkan_minor = 3};

/* Each invocation reads a weight and x.xyzw, and writes weight * x.x, fma(weight, x.x, 1.5) and
 * weight * x.x + x.w. %s: capability and extension, execution mode, decorations. */
static const char shader[] =
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
    "%%floats = OpTypeRuntimeArray %%float\n%%float4s = OpTypeRuntimeArray %%float4\n"
    "%%ints = OpTypeArray %%uint %%places\n"
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
    "%%product = OpFMul %%float %%w %%x\n"
    "%%fused = OpExtInst %%float %%glsl Fma %%w %%x %%f1_5\n"
    "%%sum = OpFAdd %%float %%product %%c\n"
    "%%at0 = OpIMul %%uint %%i %%u3\n%%at1 = OpIAdd %%uint %%at0 %%u1\n"
    "%%at2 = OpIAdd %%uint %%at0 %%u2\n"
    "%%to0 = OpAccessChain %%p_float %%out %%u1 %%at0\n"
    "%%to1 = OpAccessChain %%p_float %%out %%u1 %%at1\n"
    "%%to2 = OpAccessChain %%p_float %%out %%u1 %%at2\n"
    "OpStore %%to0 %%product\nOpStore %%to1 %%fused\nOpStore %%to2 %%sum\n"
    "OpReturn\nOpFunctionEnd\n";

/* How a shader is declared, what the configuration says, and whether 0 * x = 0 follows. */
struct declaration {
    const char *name;
    bool preserves, no_contraction;
    enum pm_float_zero float_zero;
    bool permitted;
};
static const struct declaration declarations[] = {
    {"shader", false, false, PM_FLOAT_ZERO_SHADER, true},
    {"never", false, false, PM_FLOAT_ZERO_NEVER, false},
    {"allow", false, false, PM_FLOAT_ZERO_ALLOW, true},
    {"shader, preserves", true, false, PM_FLOAT_ZERO_SHADER, false},
    {"never, preserves", true, false, PM_FLOAT_ZERO_NEVER, false},
    {"allow, preserves", true, false, PM_FLOAT_ZERO_ALLOW, true},
    {"shader, NoContraction", false, true, PM_FLOAT_ZERO_SHADER, false},
    {"allow, NoContraction", false, true, PM_FLOAT_ZERO_ALLOW, false},
    {"allow, preserves, NoContraction", true, true, PM_FLOAT_ZERO_ALLOW, false},
};

static struct pm_words original_of(const struct declaration *d)
{
    char text[8192];
    int size = snprintf(text, sizeof(text), shader,
                        d->preserves ? "OpCapability SignedZeroInfNanPreserve\n"
                                       "OpExtension \"SPV_KHR_float_controls\"\n"
                                     : "",
                        d->preserves ? "OpExecutionMode %main SignedZeroInfNanPreserve 32\n" : "",
                        RANDOM_SHADER_PLACES * 4,
                        d->no_contraction ? "OpDecorate %product NoContraction\n"
                                            "OpDecorate %fused NoContraction\n"
                                            "OpDecorate %sum NoContraction\n"
                                          : "",
                        RANDOM_SHADER_PLACES);
    assert_true(size > 0 && (size_t)size < sizeof(text));
    return pm_test_assemble(text, 3);
}

/* Weights are zero in whole groups, of either sign; every few lanes x is one for which that
 * matters. */
static void fill(void)
{
    static const float special[] = {INFINITY, 1, NAN, -1, -INFINITY, 2.5f, -0.0f, NAN};
    static const float weights[RANDOM_SHADER_GROUPS] = {0, 1, -0.0f, -2, 0, 0.5f, 3, 0};
    differential.specials = true;
    for (uint32_t i = 0; i < ITEMS; i++) {
        differential.inputs.floats[i] = weights[i / LANES];
        differential.inputs.vectors[i][0] = special[i % 8];
        differential.inputs.vectors[i][3] = i % 16 < 8 ? 0.25f : -0.0f;
    }
    memcpy(differential.floats.data, differential.inputs.floats,
           sizeof(differential.inputs.floats));
    memcpy(differential.vectors.data, differential.inputs.vectors,
           sizeof(differential.inputs.vectors));
}

static struct pm_words canonical_of(const struct pm_words *original)
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

/* Every candidate said to be always zero, and everything taken. */
static struct pm_specialized specialized_of(const struct pm_words *canonical,
                                            enum pm_float_zero float_zero)
{
    struct pm_error error = {0};
    struct pm_zero_points points;
    struct pm_specialized out;
    assert_true(pm_points_zero(canonical->data, canonical->count, &points, &error));
    double *zero = calloc(points.count, sizeof(*zero));
    assert_non_null(zero);
    for (uint32_t i = 0; i < points.count; i++)
        zero[i] = points.candidates[i].is_float;
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = points.count};
    const struct pm_specialize_zero_info info = {.profile = &profile,
                                                 .float_zero = float_zero,
                                                 .subgroup_quad = differential.gpu.quad,
                                                 .target = target,
                                                 .most_transforms = 16,
                                                 .take_all = true};
    if (!pm_specialize_zero(canonical->data, canonical->count, &info, &out, &error))
        fail_msg("%s", error.message);
    free(zero);
    pm_zero_points_finish(&points);
    return out;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return isnan(x) ? 0x7fc00000 : bits;
}

/* What a result is where 0 * x = 0 is used; the sum with a zero of any sign is then the other
 * operand, even -0. */
static uint32_t permitted_result(uint32_t item, uint32_t result)
{
    const float c = differential.inputs.vectors[item][3];
    const float results[RESULTS] = {0, 1.5f, c};
    return bits_of(results[result]);
}

static void check(const struct declaration *d)
{
    static struct differential_output before, after;
    struct pm_words original = original_of(d), canonical = canonical_of(&original);
    struct pm_specialized specialized = specialized_of(&canonical, d->float_zero);
    differential_run(&differential, &original, PM_STAGE_COMPUTE, NULL, &before);
    const struct pm_words *variant = specialized.transforms ? &specialized.words : &canonical;
    differential_run(&differential, variant, PM_STAGE_COMPUTE, NULL, &after);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < ITEMS * RESULTS; i++) {
        const uint32_t item = i / RESULTS, at = RANDOM_SHADER_PLACES + i;
        const bool zero = differential.inputs.floats[item] == 0;
        uint32_t expected =
            d->permitted && zero ? permitted_result(item, i % RESULTS) : before.words[at];
        changed += before.words[at] != after.words[at];
        if (after.words[at] != expected)
            fail_msg("%s: item %u, result %u: 0x%08x, not 0x%08x (the original: 0x%08x)", d->name,
                     item, i % RESULTS, after.words[at], expected, before.words[at]);
    }
    /* Of 8 x, 7 make a product that is no +0 for one sign of the weight or the other. */
    assert_true(d->permitted ? changed > ITEMS / 4 : changed == 0);
    if (d->permitted)
        assert_true(specialized.transforms > 0);
    pm_specialized_finish(&specialized);
    pm_words_finish(&canonical);
    pm_words_finish(&original);
}

static void test_permission(void **state)
{
    (void)state;
    fill();
    for (size_t i = 0; i < sizeof(declarations) / sizeof(declarations[0]); i++)
        check(&declarations[i]);
}

static int set_up(void **state)
{
    (void)state;
    differential_create(&differential);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    differential_destroy(&differential);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_permission)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
