/* Where a quad looks at what lanes made of a loop that they leave at different times. */
#include "shader_rewrite/quirks/helper_loops.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>

#include "tests/cmocka_includes.h"

/* A fragment shader that counts by %i to `to`, does `inside` each turn, and then `behind`. %x is
 * its input and %n a number made of it; %way is an OpPhi behind the loop, which is left at the
 * second turn, too. */
static bool has(const char *to, const char *inside, const char *behind)
{
    char text[4096];
    struct pm_error error;
    bool found;
    snprintf(text, sizeof text,
             "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
             "OpEntryPoint Fragment %%main \"main\" %%in %%out\n"
             "OpExecutionMode %%main OriginUpperLeft\n"
             "OpDecorate %%in Location 0\nOpDecorate %%out Location 0\n"
             "%%void = OpTypeVoid\n%%fn = OpTypeFunction %%void\n%%bool = OpTypeBool\n"
             "%%uint = OpTypeInt 32 0\n%%float = OpTypeFloat 32\n"
             "%%ins = OpTypePointer Input %%float\n%%outs = OpTypePointer Output %%float\n"
             "%%locals = OpTypePointer Function %%float\n"
             "%%in = OpVariable %%ins Input\n%%out = OpVariable %%outs Output\n"
             "%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n%%u4 = OpConstant %%uint 4\n"
             "%%f0 = OpConstant %%float 0\n%%f1 = OpConstant %%float 1\n"
             "%%main = OpFunction %%void None %%fn\n%%entry = OpLabel\n"
             "%%local = OpVariable %%locals Function\nOpStore %%local %%f0\n"
             "%%x = OpLoad %%float %%in\n%%n = OpConvertFToU %%uint %%x\nOpBranch %%loop\n"
             "%%loop = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%j %%latch\n"
             "%%more = OpULessThan %%bool %%i %s\nOpLoopMerge %%end %%latch None\n"
             "OpBranchConditional %%more %%body %%end\n%%body = OpLabel\n"
             "%%f = OpConvertUToF %%float %%i\n%s%%stop = OpIEqual %%bool %%i %%u1\n"
             "OpBranchConditional %%stop %%end %%latch\n%%latch = OpLabel\n"
             "%%j = OpIAdd %%uint %%i %%u1\nOpBranch %%loop\n"
             "%%end = OpLabel\n%%way = OpPhi %%float %%f0 %%loop %%f1 %%body\n"
             "%s\nOpReturn\nOpFunctionEnd\n",
             to, inside, behind);
    struct pm_words words = pm_test_assemble(text, 3);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    assert_non_null(module);
    assert_true(pm_has_helper_loops(module, &found, &error));
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
    return found;
}

static const char of_count[] =
    "%last = OpConvertUToF %float %i\n%d = OpDPdx %float %last\nOpStore %out %d\n";

static void test_what_comes_of_it(void **state)
{
    (void)state;
    assert_true(has("%n", "", of_count));
    assert_true(has("%n", "", "%d = OpDPdx %float %way\nOpStore %out %d\n"));
    assert_true(has("%n", "OpStore %local %f\n",
                    "%l = OpLoad %float %local\n%d = OpFwidth %float %l\nOpStore %out %d\n"));
}

/* What it leaves behind decides which value a quad looks at, or whether it does. */
static void test_what_it_decides(void **state)
{
    (void)state;
    static const char chosen[] =
        "%c = OpFOrdGreaterThan %bool %way %f0\nOpSelectionMerge %join None\n"
        "OpBranchConditional %c %yes %join\n%yes = OpLabel\nOpBranch %join\n"
        "%join = OpLabel\n%p = OpPhi %float %f0 %end %x %yes\n%d = OpDPdx %float %p\n"
        "OpStore %out %d\n";
    static const char stored[] =
        "%c = OpFOrdGreaterThan %bool %way %f0\nOpSelectionMerge %join None\n"
        "OpBranchConditional %c %yes %join\n%yes = OpLabel\nOpStore %local %x\nOpBranch %join\n"
        "%join = OpLabel\n%p = OpLoad %float %local\n%d = OpDPdx %float %p\nOpStore %out %d\n";
    static const char inside[] =
        "%c = OpFOrdGreaterThan %bool %way %f0\nOpSelectionMerge %join None\n"
        "OpBranchConditional %c %yes %join\n%yes = OpLabel\n%d = OpDPdx %float %x\n"
        "OpStore %out %d\nOpBranch %join\n%join = OpLabel\n";
    static const char nested[] =
        "%c = OpFOrdGreaterThan %bool %way %f0\nOpBranch %outer\n"
        "%outer = OpLabel\n%k = OpPhi %uint %u0 %end %m %next\n"
        "OpLoopMerge %done %next None\nOpBranch %test\n"
        "%test = OpLabel\n%go = OpULessThan %bool %k %u4\n%and = OpLogicalAnd %bool %go %c\n"
        "OpBranchConditional %and %turn %done\n%turn = OpLabel\n%e = OpDPdx %float %x\n"
        "OpStore %out %e\nOpBranch %next\n%next = OpLabel\n%m = OpIAdd %uint %k %u1\n"
        "OpBranch %outer\n%done = OpLabel\n";
    assert_true(has("%n", "", chosen));
    assert_true(has("%n", "", stored));
    assert_true(has("%n", "", inside));
    assert_true(has("%n", "", nested));
    assert_false(has("%n", "",
                     "%c = OpFOrdGreaterThan %bool %way %f0\nOpSelectionMerge %join None\n"
                     "OpBranchConditional %c %yes %join\n%yes = OpLabel\nOpBranch %join\n"
                     "%join = OpLabel\n%p = OpPhi %float %f0 %end %x %yes\nOpStore %out %p\n"
                     "%d = OpDPdx %float %x\nOpStore %out %d\n"));
}

static void test_what_does_not(void **state)
{
    (void)state;
    assert_false(has("%u4", "", of_count));
    assert_false(has("%n", "", "OpStore %out %way\n"));
    assert_false(has("%n", "OpStore %local %f\n", "%d = OpDPdx %float %x\nOpStore %out %d\n"));
    assert_false(has("%n", "%d = OpDPdx %float %f\nOpStore %local %d\n", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_comes_of_it),
                                       cmocka_unit_test(test_what_it_decides),
                                       cmocka_unit_test(test_what_does_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
