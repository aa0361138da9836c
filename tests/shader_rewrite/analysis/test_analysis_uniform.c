/* Which values are the same in all lanes of a subgroup: of each that a shader stores, in order. */
#include "shader_rewrite/analysis/analysis_uniform.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* %u is a float of a uniform buffer, %d one that each lane reads for itself, %p of a push constant;
 * %u_yes and %d_yes are booleans of them.. */
static const char frame[] =
    "OpCapability Shader\n"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %%main \"main\" %%id %%group\n"
    "OpExecutionMode %%main LocalSize 64 1 1\n"
    "OpDecorate %%id BuiltIn LocalInvocationIndex\nOpDecorate %%group BuiltIn WorkgroupId\n"
    "OpDecorate %%array ArrayStride 16\nOpDecorate %%floats ArrayStride 4\n"
    "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
    "OpDecorate %%out_block Block\nOpMemberDecorate %%out_block 0 Offset 0\n"
    "OpDecorate %%push_block Block\nOpMemberDecorate %%push_block 0 Offset 0\n"
    "OpDecorate %%in DescriptorSet 0\nOpDecorate %%in Binding 0\n"
    "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 1\n"
    "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n%%float = OpTypeFloat 32\n"
    "%%uint3 = OpTypeVector %%uint 3\n%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n"
    "%%u16 = OpConstant %%uint 16\n%%f0 = OpConstant %%float 0\n%%f1 = OpConstant %%float 1\n"
    "%%array = OpTypeArray %%float %%u16\n%%floats = OpTypeRuntimeArray %%float\n"
    "%%block = OpTypeStruct %%array\n%%out_block = OpTypeStruct %%floats\n"
    "%%push_block = OpTypeStruct %%float\n"
    "%%p_block = OpTypePointer Uniform %%block\n%%p_out = OpTypePointer StorageBuffer %%out_block\n"
    "%%p_push = OpTypePointer PushConstant %%push_block\n"
    "%%p_u = OpTypePointer Uniform %%float\n%%p_s = OpTypePointer StorageBuffer %%float\n"
    "%%p_pf = OpTypePointer PushConstant %%float\n"
    "%%p_id = OpTypePointer Input %%uint\n%%p_id3 = OpTypePointer Input %%uint3\n"
    "%%in = OpVariable %%p_block Uniform\n%%out = OpVariable %%p_out StorageBuffer\n"
    "%%push = OpVariable %%p_push PushConstant\n"
    "%%id = OpVariable %%p_id Input\n%%group = OpVariable %%p_id3 Input\n"
    "%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%at = OpLoad %%uint %%id\n%%to = OpAccessChain %%p_s %%out %%u0 %%at\n"
    "%%up = OpAccessChain %%p_u %%in %%u0 %%u1\n%%u = OpLoad %%float %%up\n"
    "%%dp = OpAccessChain %%p_u %%in %%u0 %%at\n%%d = OpLoad %%float %%dp\n"
    "%%pp = OpAccessChain %%p_pf %%push %%u0\n%%p = OpLoad %%float %%pp\n"
    "%%u_yes = OpFOrdLessThan %%bool %%u %%f1\n%%d_yes = OpFOrdLessThan %%bool %%d %%f1\n"
    "%s"
    "OpReturn\nOpFunctionEnd\n";

/* expected: a letter for each OpStore, u or d: whether what it stores is uniform there. */
static void check(const char *body, const char *expected)
{
    char *text, found[64] = "";
    struct pm_error error = {0};
    assert_true(asprintf(&text, frame, body) > 0);
    struct pm_words words = pm_test_assemble(text, 3);
    free(text);
    if (!pm_validate(words.data, words.count, &(struct pm_target){.vulkan_minor = 3}, &error))
        fail_msg("%s", error.message);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_ir_function *function = module->first_function;
    struct pm_memory memory = pm_memory_of(module);
    struct pm_uniform uniform;
    assert_true(pm_analysis_require(
        function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, &error));
    assert_true(pm_uniform_compute(&uniform, module, &memory, function, arena));
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->opcode == SpvOpStore)
                strcat(found, pm_uniform_in(&uniform, i->operands[1].def, b) ? "u" : "d");
    assert_string_equal(found, expected);
    pm_arena_destroy(arena);
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
}

static void test_values(void **state)
{
    (void)state;
    check("%sum = OpFAdd %float %u %p\n%mixed = OpFMul %float %u %d\n"
          "%root = OpExtInst %float %glsl Sqrt %sum\n"
          "%g3 = OpLoad %uint3 %group\n%g = OpCompositeExtract %uint %g3 1\n"
          "%gp = OpAccessChain %p_u %in %u0 %g\n%of_group = OpLoad %float %gp\n"
          "%written = OpLoad %float %to\n%op = OpAccessChain %p_s %out %u0 %u0\n"
          "%shared = OpLoad %float %op\n"
          "OpStore %to %f1\nOpStore %to %u\nOpStore %to %p\nOpStore %to %d\nOpStore %to %sum\n"
          "OpStore %to %root\nOpStore %to %mixed\nOpStore %to %of_group\nOpStore %to %written\n"
          "OpStore %to %shared\n",
          "uuuduududd");
}

/* What uniform branches choose of uniform values is uniform, and what divergent ones do is not. */
static void test_merges(void **state)
{
    (void)state;
    static const char selection[] =
        "OpSelectionMerge %%m None\nOpBranchConditional %%%c_yes %%a %%b\n"
        "%%a = OpLabel\n%%x = OpFAdd %%float %%u %%f1\nOpStore %%to %%x\nOpBranch %%m\n"
        "%%b = OpLabel\nOpBranch %%m\n"
        "%%m = OpLabel\n%%y = OpPhi %%float %%x %%a %%u %%b\nOpStore %%to %%y\nOpStore %%to %%u\n";
    char text[1024];
    snprintf(text, sizeof(text), selection, 'u');
    check(text, "uuu");
    snprintf(text, sizeof(text), selection, 'd');
    check(text, "udu");
}

/* A counter is uniform as long as lanes are in the loop together; behind a loop that they leave
 * one by one it is not. Where some go on early, so is what they choose there. */
static void test_loops(void **state)
{
    (void)state;
    static const char loop[] =
        "OpBranch %%h\n"
        "%%h = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%next %%c\n"
        "%%f = OpPhi %%float %%u %%entry %%g %%c\n"
        "OpLoopMerge %%m %%c None\nOpBranch %%t\n"
        "%%t = OpLabel\nOpStore %%to %%f\nOpBranchConditional %%%c_yes %%m %%s\n"
        "%%s = OpLabel\nOpSelectionMerge %%sm None\nOpBranchConditional %%%c_yes %%c %%sm\n"
        "%%sm = OpLabel\nOpBranch %%c\n"
        "%%c = OpLabel\n%%k = OpPhi %%float %%u %%s %%f1 %%sm\n%%g = OpFAdd %%float %%f %%k\n"
        "OpStore %%to %%g\n%%next = OpIAdd %%uint %%i %%u1\n%%on = OpULessThan %%bool %%next "
        "%%u16\n"
        "OpBranchConditional %%on %%h %%m\n"
        "%%m = OpLabel\nOpStore %%to %%f\nOpStore %%to %%u\n";
    char text[2048];
    snprintf(text, sizeof(text), loop, 'u', 'u');
    check(text, "uuuu");
    snprintf(text, sizeof(text), loop, 'd', 'u');
    check(text, "uudu");
    snprintf(text, sizeof(text), loop, 'u', 'd');
    check(text, "dddu");
}

/* A loop that all lanes leave by its end, but some by a break before: what they bring differs,
 * though each is a constant, and no turn sees both. */
static void test_breaks(void **state)
{
    (void)state;
    static const char loop[] =
        "OpBranch %%h\n"
        "%%h = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%next %%c\n"
        "%%f = OpPhi %%float %%d %%entry %%g %%c\n"
        "OpLoopMerge %%m %%c None\nOpBranch %%t\n"
        "%%t = OpLabel\n%%on = OpULessThan %%bool %%i %%u16\nOpBranchConditional %%on %%b %%m\n"
        "%%b = OpLabel\n%%less = OpFOrdLessThan %%bool %%%c %%f1\n"
        "OpSelectionMerge %%j None\nOpBranchConditional %%less %%k %%j\n"
        "%%k = OpLabel\nOpBranch %%m\n"
        "%%j = OpLabel\nOpBranch %%c\n"
        "%%c = OpLabel\n%%g = OpFAdd %%float %%f %%d\n%%next = OpIAdd %%uint %%i %%u1\n"
        "OpBranch %%h\n"
        "%%m = OpLabel\n%%v = OpPhi %%float %%f0 %%t %%f1 %%k\n%%w = OpPhi %%float %%u %%t %%u "
        "%%k\n"
        "OpStore %%to %%v\nOpStore %%to %%w\n";
    char text[2048];
    snprintf(text, sizeof(text), loop, 'u');
    check(text, "uu");
    snprintf(text, sizeof(text), loop, 'f');
    check(text, "du");
}

/* The only way out is a block for the break: lanes are together in it, but come there in different
 * turns. */
static void test_only_break(void **state)
{
    (void)state;
    static const char loop[] =
        "OpBranch %%h\n"
        "%%h = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%next %%c\n"
        "%%f = OpPhi %%float %%u %%entry %%g %%c\n"
        "OpLoopMerge %%m %%c None\nOpBranch %%t\n"
        "%%t = OpLabel\nOpSelectionMerge %%j None\nOpBranchConditional %%%c_yes %%k %%j\n"
        "%%k = OpLabel\n%sOpBranch %%m\n"
        "%%j = OpLabel\nOpBranch %%c\n"
        "%%c = OpLabel\n%%g = OpFAdd %%float %%f %%u\n%%next = OpIAdd %%uint %%i %%u1\n"
        "OpBranch %%h\n"
        "%%m = OpLabel\nOpStore %%to %%f\nOpStore %%to %%u\n";
    char text[2048];
    snprintf(text, sizeof(text), loop, 'u', "");
    check(text, "uu");
    snprintf(text, sizeof(text), loop, 'd', "");
    check(text, "du");
    snprintf(text, sizeof(text), loop, 'd', "OpStore %to %p\n");
    check(text, "udu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_merges),
        cmocka_unit_test(test_loops),      cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_only_break),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
