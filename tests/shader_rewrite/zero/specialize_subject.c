#include "tests/shader_rewrite/zero/specialize_subject.h"

#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

/* %group has the workgroup's id. */
static const char frame[] =
    "OpCapability Shader\n%s"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %%main \"main\" %%id %%group\n"
    "OpExecutionMode %%main LocalSize 64 1 1\n%s"
    "OpDecorate %%id BuiltIn LocalInvocationIndex\nOpDecorate %%group BuiltIn WorkgroupId\n"
    "OpDecorate %%array ArrayStride 4\nOpDecorate %%block Block\n"
    "OpMemberDecorate %%block 0 Offset 0\n"
    "OpDecorate %%in DescriptorSet 0\nOpDecorate %%in Binding 0\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 1\n%s"
    "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n"
    "%%float = OpTypeFloat 32\n%%v2 = OpTypeVector %%float 2\n%%v4 = OpTypeVector %%float 4\n"
    "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u2 = OpConstant %%uint 2\n"
    "%%u3 = OpConstant %%uint 3\n%%u264 = OpConstant %%uint 264\n"
    "%%f0 = OpConstant %%float 0\n%%f1 = OpConstant %%float 1\n%%f7 = OpConstant %%float 7\n"
    "%%array = OpTypeRuntimeArray %%float\n%%block = OpTypeStruct %%array\n"
    "%%buffer = OpTypePointer StorageBuffer %%block\n"
    "%%element = OpTypePointer StorageBuffer %%float\n"
    "%%id_p = OpTypePointer Input %%uint\n%%id = OpVariable %%id_p Input\n"
    "%%uint3 = OpTypeVector %%uint 3\n%%group_p = OpTypePointer Input %%uint3\n"
    "%%group = OpVariable %%group_p Input\n"
    "%%in = OpVariable %%buffer StorageBuffer\n%%out = OpVariable %%buffer StorageBuffer\n"
    "%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%at = OpLoad %%uint %%id\n"
    "%%p0 = OpAccessChain %%element %%in %%u0 %%at\n%%v0 = OpLoad %%float %%p0\n"
    "%%p1 = OpAccessChain %%element %%in %%u0 %%u1\n%%v1 = OpLoad %%float %%p1\n"
    "%s"
    "%%o0 = OpAccessChain %%element %%out %%u0 %%at\nOpStore %%o0 %%result\n"
    "OpReturn\nOpFunctionEnd\n";

void subject_init(struct subject *s, const struct pm_words *words)
{
    struct pm_error error = {0};
    s->words = *words;
    if (!pm_zero_candidates(words->data, words->count, &s->points, &error))
        fail_msg("%s", error.message);
    s->zero = calloc(s->points.count + 1u, sizeof(double));
    assert_non_null(s->zero);
}

void subject_finish(struct subject *s)
{
    free(s->zero);
    pm_zero_points_finish(&s->points);
    pm_words_finish(&s->words);
}

struct subject subject_assemble(const char *capabilities, const char *modes,
                                const char *decorations, const char *body)
{
    char *text;
    assert_true(asprintf(&text, frame, capabilities, modes, decorations, body) > 0);
    struct pm_words words = pm_test_assemble(text, 3);
    free(text);
    struct subject s;
    subject_init(&s, &words);
    return s;
}

struct pm_specialize_zero_info subject_info(const struct subject *s,
                                            struct pm_zero_profile *profile)
{
    *profile = (struct pm_zero_profile){.zero = s->zero, .candidate_count = s->points.count};
    return (struct pm_specialize_zero_info){.profile = profile,
                                            .all_candidates = true,
                                            .subgroup_quad = true,
                                            .target = {.vulkan_minor = 1}};
}

struct pm_specialized subject_specialize(const struct subject *s,
                                         const struct pm_specialize_zero_info *info)
{
    struct pm_specialized out;
    struct pm_error error = {0};
    if (!pm_specialize_zero(s->words.data, s->words.count, info, &out, &error))
        fail_msg("%s", error.message);
    assert_non_null(out.report);
    assert_int_equal(out.transforms > 0, out.words.count > 0);
    return out;
}

uint32_t subject_candidate(const struct subject *s, uint16_t opcode, uint32_t glsl)
{
    struct pm_error error = {0};
    struct pm_ir_module *module = pm_ir_parse(s->words.data, s->words.count, &error);
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < s->points.count; i++) {
        const struct pm_zero_candidate *c = &s->points.candidates[i];
        const struct pm_ir_instr *instr = pm_ir_find(module, c->values[0]);
        if (found == UINT32_MAX && c->value_count == 1 && instr->opcode == opcode &&
            (!glsl || pm_ir_operand_word(&instr->operands[1]) == glsl))
            found = i;
    }
    pm_ir_module_destroy(module);
    assert_int_not_equal(found, UINT32_MAX);
    return found;
}

const cJSON *subject_report(const struct pm_specialized *out, uint32_t candidate, cJSON **root)
{
    *root = cJSON_Parse(out->report);
    assert_non_null(*root);
    const cJSON *c = cJSON_GetArrayItem(cJSON_GetObjectItem(*root, "candidates"), (int)candidate);
    assert_non_null(c);
    assert_int_equal(cJSON_GetObjectItem(c, "id")->valuedouble, candidate);
    return c;
}

double subject_number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItem(object, name);
    if (!cJSON_IsNumber(item))
        fail_msg("the report has no number \"%s\"", name);
    return item->valuedouble;
}
