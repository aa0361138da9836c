#include "tests/shader_rewrite/constants/constant_subject.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/constants/constant_words.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

static const char frame[] =
    "OpCapability Shader\n"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %%main \"main\" %%id\n"
    "OpExecutionMode %%main LocalSize 64 1 1\n"
    "OpDecorate %%id BuiltIn GlobalInvocationId\n"
    "OpDecorate %%array ArrayStride 4\nOpDecorate %%block Block\n"
    "OpMemberDecorate %%block 0 Offset 0\n"
    "OpDecorate %%in DescriptorSet 0\nOpDecorate %%in Binding 0\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 1\n"
    "OpDecorate %%uniform DescriptorSet 0\nOpDecorate %%uniform Binding 9\n"
    "OpDecorate %%pushed Block\n"
    "OpMemberDecorate %%pushed 0 Offset 0\nOpMemberDecorate %%pushed 1 Offset 4\n"
    "OpMemberDecorate %%pushed 2 Offset 8\nOpMemberDecorate %%pushed 3 Offset 12\n"
    "OpMemberDecorate %%pushed 4 Offset 16\n"
    "OpDecorate %%ublock Block\nOpDecorate %%pairs ArrayStride 32\n"
    "OpMemberDecorate %%pair 0 Offset 0\nOpMemberDecorate %%pair 1 Offset 16\n"
    "OpMemberDecorate %%ublock 0 Offset 0\nOpMemberDecorate %%ublock 1 Offset 64\n"
    "OpMemberDecorate %%ublock 2 Offset 160\nOpMemberDecorate %%ublock 2 RowMajor\n"
    "OpMemberDecorate %%ublock 2 MatrixStride 16\n"
    "OpMemberDecorate %%ublock 3 Offset 224\nOpMemberDecorate %%ublock 4 Offset 228\n"
    "OpMemberDecorate %%ublock 5 Offset 232\n"
    "OpMemberDecorate %%ublock 6 Offset 240\nOpMemberDecorate %%ublock 6 ColMajor\n"
    "OpMemberDecorate %%ublock 6 MatrixStride 16\n"
    "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n"
    "%%float = OpTypeFloat 32\n%%v4 = OpTypeVector %%float 4\n%%m4 = OpTypeMatrix %%v4 4\n"
    "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u2 = OpConstant %%uint 2\n"
    "%%u3 = OpConstant %%uint 3\n%%u4 = OpConstant %%uint 4\n%%u5 = OpConstant %%uint 5\n"
    "%%u6 = OpConstant %%uint 6\n"
    "%%f0 = OpConstant %%float 0\n%%f1 = OpConstant %%float 1\n%%f7 = OpConstant %%float 7\n"
    "%%tiny = OpConstant %%float 0x1p-140\n"
    "%%array = OpTypeRuntimeArray %%float\n%%block = OpTypeStruct %%array\n"
    "%%buffer = OpTypePointer StorageBuffer %%block\n"
    "%%element = OpTypePointer StorageBuffer %%float\n"
    "%%uint3 = OpTypeVector %%uint 3\n%%id_p = OpTypePointer Input %%uint3\n"
    "%%id = OpVariable %%id_p Input\n"
    "%%in = OpVariable %%buffer StorageBuffer\n%%out = OpVariable %%buffer StorageBuffer\n"
    "%%pushed = OpTypeStruct %%uint %%uint %%float %%float %%uint\n"
    "%%push_block = OpTypePointer PushConstant %%pushed\n"
    "%%push_uint = OpTypePointer PushConstant %%uint\n"
    "%%push_float = OpTypePointer PushConstant %%float\n"
    "%%push = OpVariable %%push_block PushConstant\n"
    "%%pair = OpTypeStruct %%v4 %%v4\n%%pairs = OpTypeArray %%pair %%u3\n"
    "%%ublock = OpTypeStruct %%v4 %%pairs %%m4 %%uint %%uint %%uint %%m4\n"
    "%%uniform_block = OpTypePointer Uniform %%ublock\n"
    "%%uniform_uint = OpTypePointer Uniform %%uint\n"
    "%%uniform_float = OpTypePointer Uniform %%float\n"
    "%%uniform_v4 = OpTypePointer Uniform %%v4\n%%uniform_m4 = OpTypePointer Uniform %%m4\n"
    "%%uniform = OpVariable %%uniform_block Uniform\n"
    "%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%begin = OpLabel\n"
    "%%ids = OpLoad %%uint3 %%id\n%%at = OpCompositeExtract %%uint %%ids 0\n"
    "%%p0 = OpAccessChain %%element %%in %%u0 %%at\n%%v0 = OpLoad %%float %%p0\n"
    "%%p1 = OpAccessChain %%element %%in %%u0 %%u1\n%%v1 = OpLoad %%float %%p1\n"
    "%s"
    "%%o0 = OpAccessChain %%element %%out %%u0 %%at\nOpStore %%o0 %%result\n"
    "OpReturn\nOpFunctionEnd\n%s";

struct pm_words constant_subject(const char *body)
{
    return constant_subject_with(body, "");
}

struct pm_words constant_subject_with(const char *body, const char *functions)
{
    const struct pm_target target = {.vulkan_minor = 1};
    struct pm_error error = {0};
    char *text;
    assert_true(asprintf(&text, frame, body, functions) > 0);
    struct pm_words words = pm_test_assemble(text, 3);
    free(text);
    if (!pm_validate(words.data, words.count, &target, &error))
        fail_msg("%s", error.message);
    return words;
}

struct pm_constant_points constant_subject_words(const struct pm_words *words)
{
    enum pm_stage stage;
    struct pm_error error = {0};
    struct pm_constant_words found;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, &error);
    struct pm_ir_function *function = module ? pm_entry_function(module, &stage, &error) : NULL;
    if (!function ||
        !pm_analysis_require(function, PM_ANALYSIS_CFG | PM_ANALYSIS_POSTDOMINATORS, &error) ||
        !pm_constant_words_find(module, function, arena, &found, &error))
        fail_msg("%s", error.message);
    struct pm_constant_points points = {calloc(found.count + 1u, sizeof(*points.points)),
                                        found.count, found.count};
    assert_non_null(points.points);
    for (uint32_t i = 0; i < found.count; i++)
        points.points[i] = found.words[i].point;
    pm_ir_module_destroy(module);
    pm_arena_destroy(arena);
    return points;
}
