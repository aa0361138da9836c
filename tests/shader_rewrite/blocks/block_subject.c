#include "tests/shader_rewrite/blocks/block_subject.h"

#include "shader_rewrite/quirks/quirks.h"
#include "tests/shader_rewrite/spirv_text.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vulkan_core.h>

#include "tests/cmocka_includes.h"

static const char frame[] =
    "OpCapability Shader\nOpCapability GroupNonUniformVote\nOpCapability GroupNonUniformQuad\n"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\n"
    "OpEntryPoint %s %%main \"main\" %%id%s\n"
    "OpExecutionMode %%main %s\n"
    "OpDecorate %%id %s\n%s"
    "OpDecorate %%array ArrayStride 16\nOpDecorate %%floats ArrayStride 4\n"
    "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
    "OpDecorate %%out_block Block\nOpMemberDecorate %%out_block 0 Offset 0\n"
    "OpDecorate %%in DescriptorSet 0\nOpDecorate %%in Binding 0\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 1\n"
    "OpDecorate %%count_block Block\nOpMemberDecorate %%count_block 0 Offset 0\n"
    "OpDecorate %%count DescriptorSet 0\nOpDecorate %%count Binding 3\n"
    "OpDecorate %%texture DescriptorSet 0\nOpDecorate %%texture Binding 2\n"
    "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n%%float = OpTypeFloat 32\n"
    "%%float2 = OpTypeVector %%float 2\n%%float4 = OpTypeVector %%float 4\n"
    "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u2 = OpConstant %%uint 2\n"
    "%%u3 = OpConstant %%uint 3\n%%u4 = OpConstant %%uint 4\n%%u5 = OpConstant %%uint 5\n"
    "%%u16 = OpConstant %%uint 16\n%%u72 = OpConstant %%uint 72\n%%f0 = OpConstant %%float 0\n%%f1 "
    "= OpConstant %%float 1\n"
    "%%f2 = OpConstant %%float 2\n"
    "%%array = OpTypeArray %%float %%u16\n%%floats = OpTypeRuntimeArray %%float\n"
    "%%block = OpTypeStruct %%array\n%%out_block = OpTypeStruct %%floats\n"
    "%%image = OpTypeImage %%float 2D 0 0 0 1 Unknown\n%%sampled = OpTypeSampledImage %%image\n"
    "%%p_sampled = OpTypePointer UniformConstant %%sampled\n"
    "%%texture = OpVariable %%p_sampled UniformConstant\n"
    "%%p_block = OpTypePointer Uniform %%block\n%%p_out = OpTypePointer StorageBuffer %%out_block\n"
    "%%p_u = OpTypePointer Uniform %%float\n%%p_s = OpTypePointer StorageBuffer %%float\n"
    "%%p_id = OpTypePointer Input %%uint\n"
    "%%in = OpVariable %%p_block Uniform\n%%out = OpVariable %%p_out StorageBuffer\n"
    "%%id = OpVariable %%p_id Input\n"
    "%%count_block = OpTypeStruct %%uint\n%%p_count = OpTypePointer StorageBuffer %%count_block\n"
    "%%p_su = OpTypePointer StorageBuffer %%uint\n%%count = OpVariable %%p_count StorageBuffer\n"
    "%s"
    "%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%at = OpLoad %%uint %%id\n%%to = OpAccessChain %%p_s %%out %%u0 %%at\n"
    "%%counter = OpAccessChain %%p_su %%count %%u0\n"
    "%%up = OpAccessChain %%p_u %%in %%u0 %%u1\n%%u = OpLoad %%float %%up\n"
    "%%dp = OpAccessChain %%p_u %%in %%u0 %%at\n%%d = OpLoad %%float %%dp\n"
    "%%u_yes = OpFOrdLessThan %%bool %%u %%f1\n%%d_yes = OpFOrdLessThan %%bool %%d %%f1\n"
    "%s"
    "OpReturn\nOpFunctionEnd\n";

static const struct pm_target target = {.vulkan_minor = 3};

static struct block_subject subject_of(struct pm_words words)
{
    struct pm_error error = {0};
    struct pm_block_points points;
    if (!pm_validate(words.data, words.count, &target, &error) ||
        !pm_points_blocks(words.data, words.count, &points, &error))
        fail_msg("%s", error.message);
    const struct block_subject subject = {words, points.count};
    pm_block_points_finish(&points);
    return subject;
}

static struct block_subject assembled(char *text, int spirv_minor)
{
    struct pm_words words = pm_test_assemble(text, spirv_minor);
    free(text);
    return subject_of(words);
}

struct block_subject block_subject(const char *body)
{
    char *text;
    assert_true(asprintf(&text, frame, "GLCompute", "", "LocalSize 64 1 1",
                         "BuiltIn LocalInvocationIndex", "", "", body) > 0);
    return assembled(text, 3);
}

struct block_subject block_subject_newer(const char *body)
{
    char *text;
    assert_true(asprintf(&text, frame, "GLCompute", " %in %out %count %texture", "LocalSize 64 1 1",
                         "BuiltIn LocalInvocationIndex", "", "", body) > 0);
    return assembled(text, 4);
}

struct block_subject block_subject_fragment(const char *body)
{
    char *text;
    assert_true(asprintf(&text, frame, "Fragment", " %color", "OriginUpperLeft", "Location 0",
                         "OpDecorate %id Flat\nOpDecorate %color Location 0\n",
                         "%p_color = OpTypePointer Output %float4\n"
                         "%color = OpVariable %p_color Output\n",
                         body) > 0);
    return assembled(text, 3);
}

void block_subject_finish(struct block_subject *subject)
{
    pm_words_finish(&subject->words);
}

static struct pm_words copy_of(const struct pm_words *words)
{
    struct pm_words copy = {malloc(words->count * sizeof(uint32_t)), words->count};
    assert_non_null(copy.data);
    memcpy(copy.data, words->data, words->count * sizeof(uint32_t));
    return copy;
}

struct block_subject block_optimized(const struct block_subject *subject, const char *pass,
                                     const struct block_known *known, char **report)
{
    struct pm_error error = {0};
    struct pm_optimized_blocks out;
    const struct pm_block_profile profile = {.frequency = known->frequency,
                                             .uniform = known->uniform,
                                             .subgroups = known->subgroups,
                                             .block_count = subject->blocks,
                                             .reached = known->reached,
                                             .reached_uniform = known->reached_uniform,
                                             .reached_low = known->reached_low,
                                             .reached_high = known->reached_high,
                                             .turn_count = PM_TURN_POINTS};
    const struct pm_optimize_blocks_info info = {.profile = &profile,
                                                 .passes = pm_block_passes_named(pass),
                                                 .uniform_share = 0.9,
                                                 .subgroup_vote = true,
                                                 .target = target,
                                                 .driver = known->driver};
    assert_in_range(subject->blocks, 1, 24);
    assert_int_not_equal(info.passes, 0);
    if (!pm_optimize_blocks(subject->words.data, subject->words.count, &info, &out, &error))
        fail_msg("%s", error.message);
    assert_int_equal(out.changes == 0, out.words.count == 0);
    cJSON *json = cJSON_Parse(out.report);
    assert_non_null(json);
    assert_int_equal(cJSON_GetObjectItem(json, "changes")->valueint, (int)out.changes);
    cJSON_Delete(json);
    if (report) {
        *report = out.report;
        out.report = NULL;
    }
    struct pm_words words = copy_of(out.changes ? &out.words : &subject->words);
    pm_optimized_blocks_finish(&out);
    return subject_of(words);
}

void block_decided(const char *report, uint32_t block, bool done, const char *reason)
{
    cJSON *json = cJSON_Parse(report);
    const cJSON *decision;
    bool found = false;
    cJSON_ArrayForEach(decision, cJSON_GetObjectItem(json, "decisions"))
    {
        const cJSON *of = cJSON_GetObjectItem(decision, "block");
        found |= cJSON_IsNumber(of) && of->valueint == (int)block &&
                 cJSON_IsTrue(cJSON_GetObjectItem(decision, "done")) == done &&
                 !strcmp(cJSON_GetObjectItem(decision, "reason")->valuestring, reason);
    }
    cJSON_Delete(json);
    if (!found)
        fail_msg("not said of block %u: \"%s\" in %s", block, reason, report);
}

void block_guarded(const struct block_subject *subject, const char *pass,
                   const struct block_known *known, uint32_t block, const char *alone,
                   const char *done, const char *text)
{
    const struct pm_driver without_quirks = {.id = VK_DRIVER_ID_NVIDIA_PROPRIETARY, .version = 1};
    assert_int_equal(pm_quirks_of(&without_quirks), 0);
    for (int guarded = 0; guarded < 2; guarded++) {
        struct block_known of_driver = *known;
        char *report;
        of_driver.driver = guarded ? NULL : &without_quirks;
        struct block_subject out = block_optimized(subject, pass, &of_driver, &report);
        block_decided(report, block, !guarded, guarded ? alone : done);
        assert_int_equal(pm_test_count(&out.words, text),
                         pm_test_count(&subject->words, text) + !guarded);
        free(report);
        block_subject_finish(&out);
    }
}
