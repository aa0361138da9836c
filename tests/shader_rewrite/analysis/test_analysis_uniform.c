/* Which values are the same in all lanes of a workgroup, or of a subgroup only: of each that a
 * shader stores, in order; and which of the stores whole workgroups come to. */
#include "shader_rewrite/analysis/analysis_uniform.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* %u is a float of a uniform buffer, %d one that each lane reads for itself, %p of a push constant;
 * %u_yes and %d_yes are booleans of them.. */
static const char frame[] =
    "OpCapability Shader\nOpCapability GroupNonUniformVote\n"
    "OpCapability GroupNonUniformBallot\nOpCapability GroupNonUniformArithmetic\n"
    "%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
    "OpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %%main \"main\" %%id %%group %%sub\n"
    "OpExecutionMode %%main LocalSize 64 1 1\n"
    "OpDecorate %%id BuiltIn LocalInvocationIndex\nOpDecorate %%group BuiltIn WorkgroupId\n"
    "OpDecorate %%sub BuiltIn SubgroupId\n"
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
    "%%u3 = OpConstant %%uint 3\n%%uint4 = OpTypeVector %%uint 4\n"
    "%%p_id = OpTypePointer Input %%uint\n%%p_id3 = OpTypePointer Input %%uint3\n"
    "%%in = OpVariable %%p_block Uniform\n%%out = OpVariable %%p_out StorageBuffer\n"
    "%%push = OpVariable %%p_push PushConstant\n"
    "%%id = OpVariable %%p_id Input\n%%group = OpVariable %%p_id3 Input\n"
    "%%sub = OpVariable %%p_id Input\n"
    "%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%at = OpLoad %%uint %%id\n%%to = OpAccessChain %%p_s %%out %%u0 %%at\n"
    "%%up = OpAccessChain %%p_u %%in %%u0 %%u1\n%%u = OpLoad %%float %%up\n"
    "%%dp = OpAccessChain %%p_u %%in %%u0 %%at\n%%d = OpLoad %%float %%dp\n"
    "%%pp = OpAccessChain %%p_pf %%push %%u0\n%%p = OpLoad %%float %%pp\n"
    "%%u_yes = OpFOrdLessThan %%bool %%u %%f1\n%%d_yes = OpFOrdLessThan %%bool %%d %%f1\n"
    "%s"
    "OpReturn\nOpFunctionEnd\n";

/* A letter for each OpStore, u or d: whether what it stores is uniform there, or w or p: whether
 * all come to it or none, or some without the others. */
struct expected {
    const char *values, *blocks; /* NULL: not looked at */
};

static void look(const struct pm_ir_module *module, const struct pm_ir_function *function,
                 enum pm_uniform_scope scope, const struct expected *expected)
{
    char values[64] = "", blocks[64] = "";
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_memory memory = pm_memory_of(module);
    struct pm_uniform uniform;
    assert_true(pm_uniform_compute(&uniform, scope, module, &memory, function, arena));
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            if (i->opcode == SpvOpStore) {
                strcat(values, pm_uniform_in(&uniform, i->operands[1].def, b) ? "u" : "d");
                strcat(blocks, pm_uniform_is_whole(&uniform, b) ? "w" : "p");
            }
    if (expected->values)
        assert_string_equal(values, expected->values);
    if (expected->blocks)
        assert_string_equal(blocks, expected->blocks);
    pm_arena_destroy(arena);
}

static void check_scopes(const char *body, struct expected workgroup, struct expected subgroup)
{
    char *text;
    struct pm_error error = {0};
    assert_true(asprintf(&text, frame, body) > 0);
    struct pm_words words = pm_test_assemble(text, 3);
    free(text);
    if (!pm_validate(words.data, words.count, &(struct pm_target){.vulkan_minor = 3}, &error))
        fail_msg("%s", error.message);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    struct pm_ir_function *function = module->first_function;
    assert_true(pm_analysis_require(
        function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, &error));
    look(module, function, PM_UNIFORM_WORKGROUP, &workgroup);
    look(module, function, PM_UNIFORM_SUBGROUP, &subgroup);
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
}

/* What is of no subgroup operation is the same of both. */
static void check(const char *body, const char *values)
{
    check_scopes(body, (struct expected){.values = values}, (struct expected){.values = values});
}

static void check_blocks(const char *body, const char *blocks)
{
    check_scopes(body, (struct expected){.blocks = blocks}, (struct expected){.blocks = blocks});
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

/* What a subgroup finds out together is another value in the next one. */
static void test_subgroups(void **state)
{
    (void)state;
    check_scopes("%any = OpGroupNonUniformAny %bool %u3 %d_yes\n"
                 "%v = OpSelect %float %any %f0 %f1\n"
                 "%ballot = OpGroupNonUniformBallot %uint4 %u3 %d_yes\n"
                 "%bits = OpGroupNonUniformBallotBitCount %uint %u3 Reduce %ballot\n"
                 "%b = OpConvertUToF %float %bits\n"
                 "%rank = OpGroupNonUniformBallotBitCount %uint %u3 ExclusiveScan %ballot\n"
                 "%r = OpConvertUToF %float %rank\n"
                 "%first = OpGroupNonUniformBroadcastFirst %float %u3 %d\n"
                 "%sum = OpGroupNonUniformFAdd %float %u3 Reduce %d\n"
                 "%scan = OpGroupNonUniformFAdd %float %u3 InclusiveScan %d\n"
                 "%elect = OpGroupNonUniformElect %bool %u3\n"
                 "%e = OpSelect %float %elect %f0 %f1\n"
                 "%number = OpLoad %uint %sub\n%n = OpConvertUToF %float %number\n"
                 "OpStore %to %v\nOpStore %to %b\nOpStore %to %r\nOpStore %to %first\n"
                 "OpStore %to %sum\nOpStore %to %scan\nOpStore %to %e\nOpStore %to %n\n"
                 "OpStore %to %u\n",
                 (struct expected){"ddddddddu", "wwwwwwwww"},
                 (struct expected){"uuduudduu", "wwwwwwwww"});
    /* And so is what it decides. */
    check_scopes("%any = OpGroupNonUniformAny %bool %u3 %d_yes\n"
                 "OpSelectionMerge %m None\nOpBranchConditional %any %a %m\n"
                 "%a = OpLabel\nOpStore %to %f1\nOpBranch %m\n"
                 "%m = OpLabel\n%y = OpPhi %float %f0 %entry %f1 %a\nOpStore %to %y\n",
                 (struct expected){"ud", "pw"}, (struct expected){"uu", "ww"});
}

/* Whole are those that no divergent branch decides, or behind which all ways have met. */
static void test_blocks(void **state)
{
    (void)state;
    static const char selection[] =
        "OpSelectionMerge %%m None\nOpBranchConditional %%%c_yes %%a %%b\n"
        "%%a = OpLabel\nOpStore %%to %%f1\n%s\n"
        "%%b = OpLabel\nOpStore %%to %%f1\nOpBranch %%m\n"
        "%%m = OpLabel\nOpStore %%to %%f0\n";
    char text[2048];
    snprintf(text, sizeof(text), selection, 'u', "OpBranch %m");
    check_blocks(text, "www");
    snprintf(text, sizeof(text), selection, 'd', "OpBranch %m");
    check_blocks(text, "ppw");
    /* Some end there: behind it they are missing. */
    snprintf(text, sizeof(text), selection, 'u', "OpReturn");
    check_blocks(text, "www");
    snprintf(text, sizeof(text), selection, 'd', "OpReturn");
    check_blocks(text, "ppp");
    /* Some leave a loop early, or go on to its next turn. */
    static const char loop[] =
        "OpStore %%to %%u\nOpBranch %%h\n"
        "%%h = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%next %%c\nOpStore %%to %%u\n"
        "OpLoopMerge %%m %%c None\nOpBranch %%t\n"
        "%%t = OpLabel\nOpStore %%to %%u\nOpBranchConditional %%%c_yes %%m %%s\n"
        "%%s = OpLabel\nOpStore %%to %%u\nOpSelectionMerge %%sm None\n"
        "OpBranchConditional %%%c_yes %%c %%sm\n"
        "%%sm = OpLabel\nOpStore %%to %%u\nOpBranch %%c\n"
        "%%c = OpLabel\nOpStore %%to %%u\n%%next = OpIAdd %%uint %%i %%u1\n"
        "%%on = OpULessThan %%bool %%next %%u16\nOpBranchConditional %%on %%h %%m\n"
        "%%m = OpLabel\nOpStore %%to %%u\n";
    snprintf(text, sizeof(text), loop, 'u', 'u');
    check_blocks(text, "wwwwwww");
    snprintf(text, sizeof(text), loop, 'd', 'u');
    check_blocks(text, "wpppppw");
    snprintf(text, sizeof(text), loop, 'u', 'd');
    check_blocks(text, "wwwwpww");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_merges),
        cmocka_unit_test(test_loops),      cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_only_break), cmocka_unit_test(test_subgroups),
        cmocka_unit_test(test_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
