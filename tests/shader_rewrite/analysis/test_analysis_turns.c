/* How often loops turn that count. */
#include "shader_rewrite/analysis/analysis_turns.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>

#include "tests/cmocka_includes.h"

/* The turns of a loop that begins with a number of a type, goes on while a comparison with another
 * is so, and adds or subtracts a third each turn. */
struct loop {
    const char *type, *from, *comparison, *to_type, *to, *operation, *step_type, *step;
};

static uint32_t turns_of(const struct loop *loop)
{
    char text[2048];
    struct pm_error error;
    snprintf(text, sizeof text,
             "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
             "OpEntryPoint GLCompute %%main \"main\"\nOpExecutionMode %%main LocalSize 1 1 1\n"
             "%%void = OpTypeVoid\n%%fn = OpTypeFunction %%void\n%%bool = OpTypeBool\n"
             "%%uint = OpTypeInt 32 0\n%%int = OpTypeInt 32 1\n"
             "%%from = OpConstant %%%s %s\n%%to = OpConstant %%%s %s\n%%step = OpConstant %%%s %s\n"
             "%%main = OpFunction %%void None %%fn\n%%entry = OpLabel\nOpBranch %%loop\n"
             "%%loop = OpLabel\n%%i = OpPhi %%%s %%from %%entry %%j %%latch\n"
             "%%more = %s %%bool %%i %%to\nOpLoopMerge %%end %%latch None\n"
             "OpBranchConditional %%more %%latch %%end\n%%latch = OpLabel\n"
             "%%j = %s %%%s %%i %%step\nOpBranch %%loop\n%%end = OpLabel\nOpReturn\n"
             "OpFunctionEnd\n",
             loop->type, loop->from, loop->to_type, loop->to, loop->step_type, loop->step,
             loop->type, loop->comparison, loop->operation, loop->type);
    struct pm_words words = pm_test_assemble(text, 3);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    assert_non_null(module);
    struct pm_ir_function *function = module->first_function;
    assert_true(pm_analysis_require(function, PM_ANALYSIS_LOOPS, &error));
    const uint32_t turns = pm_loop_turns(function, 0);
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
    return turns;
}

#define TURNS(...) turns_of(&(const struct loop){__VA_ARGS__})

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(TURNS("int", "0", "OpSLessThan", "int", "4", "OpIAdd", "int", "1"), 4);
    assert_int_equal(TURNS("int", "-4", "OpSLessThan", "int", "4", "OpIAdd", "int", "1"), 8);
    assert_int_equal(TURNS("int", "4", "OpSGreaterThan", "int", "0", "OpISub", "int", "1"), 4);
    assert_int_equal(TURNS("uint", "0", "OpULessThanEqual", "uint", "4", "OpIAdd", "uint", "2"), 3);
    assert_int_equal(TURNS("uint", "0", "OpINotEqual", "uint", "4", "OpIAdd", "uint", "1"), 4);
    /* As glslang writes i++. */
    assert_int_equal(TURNS("uint", "0", "OpULessThan", "uint", "4", "OpIAdd", "int", "1"), 4);
    assert_int_equal(
        TURNS("uint", "4294967290", "OpULessThan", "uint", "4294967295", "OpIAdd", "uint", "1"), 5);
    assert_int_equal(TURNS("int", "0", "OpSLessThan", "int", "256", "OpIAdd", "int", "1"), 256);
    assert_int_equal(TURNS("int", "0", "OpSLessThan", "int", "257", "OpIAdd", "int", "1"), 0);
}

/* A comparison that takes a number for another than its type does. */
static void test_other_signs(void **state)
{
    (void)state;
    assert_int_equal(TURNS("int", "-4", "OpULessThan", "int", "4", "OpIAdd", "int", "1"), 0);
    assert_int_equal(TURNS("uint", "0", "OpSLessThan", "uint", "4", "OpIAdd", "uint", "1"), 0);
    assert_int_equal(TURNS("int", "0", "OpULessThan", "uint", "4", "OpIAdd", "int", "1"), 0);
    assert_int_equal(TURNS("int", "-4", "OpINotEqual", "uint", "4294967295", "OpIAdd", "int", "1"),
                     0);
}

/* The turns that whoever comes to a loop makes. */
static uint32_t turns_always(const char *loop)
{
    char text[2048];
    struct pm_error error;
    snprintf(text, sizeof text,
             "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
             "OpEntryPoint Fragment %%main \"main\"\nOpExecutionMode %%main OriginUpperLeft\n"
             "%%void = OpTypeVoid\n%%fn = OpTypeFunction %%void\n%%bool = OpTypeBool\n"
             "%%uint = OpTypeInt 32 0\n%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n"
             "%%u4 = OpConstant %%uint 4\n"
             "%%main = OpFunction %%void None %%fn\n%%entry = OpLabel\nOpBranch %%loop\n"
             "%s%%end = OpLabel\nOpReturn\nOpFunctionEnd\n",
             loop);
    struct pm_words words = pm_test_assemble(text, 3);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    assert_non_null(module);
    struct pm_ir_function *function = module->first_function;
    assert_true(pm_analysis_require(function, PM_ANALYSIS_LOOPS, &error));
    const uint32_t turns = pm_loop_turns_always(function, 0);
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
    return turns;
}

/* One that counts to four. */
#define FOR(body)                                                                                  \
    "%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"                                     \
    "%more = OpULessThan %bool %i %u4\nOpLoopMerge %end %latch None\n"                             \
    "OpBranchConditional %more %body %end\n%body = OpLabel\n%last = OpIEqual %bool %i %u1\n" body  \
    "%latch = OpLabel\n%j = OpIAdd %uint %i %u1\nOpBranch %loop\n"

static void test_other_ways_out(void **state)
{
    (void)state;
    assert_int_equal(turns_always(FOR("OpBranch %latch\n")), 4);
    assert_int_equal(turns_always(FOR("OpSelectionMerge %then None\n"
                                      "OpBranchConditional %last %inner %then\n"
                                      "%inner = OpLabel\nOpBranch %then\n"
                                      "%then = OpLabel\nOpBranch %latch\n")),
                     4);
#define LEFT_BY(end)                                                                               \
    FOR("OpSelectionMerge %then None\nOpBranchConditional %last %inner %then\n%inner = "           \
        "OpLabel\n" end "\n%then = OpLabel\nOpBranch %latch\n")
    assert_int_equal(turns_always(LEFT_BY("OpReturn")), 0);
    assert_int_equal(turns_always(LEFT_BY("OpKill")), 0);
    assert_int_equal(turns_always(LEFT_BY("OpBranch %end")), 0);
}

/* Lanes come to the block once more than they go back. */
static void test_tested_at_the_end(void **state)
{
    (void)state;
    assert_int_equal(turns_always("%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %loop\n"
                                  "%j = OpIAdd %uint %i %u1\n%more = OpULessThan %bool %i %u4\n"
                                  "OpLoopMerge %end %loop None\n"
                                  "OpBranchConditional %more %loop %end\n"),
                     5);
    assert_int_equal(turns_always("%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"
                                  "OpLoopMerge %end %latch None\nOpBranch %latch\n"
                                  "%latch = OpLabel\n%j = OpIAdd %uint %i %u1\n"
                                  "%more = OpULessThan %bool %i %u4\n"
                                  "OpBranchConditional %more %loop %end\n"),
                     5);
}

/* What counts begins anew at the other end. */
static void test_wraps(void **state)
{
    (void)state;
    assert_int_equal(
        TURNS("int", "2147483640", "OpSLessThanEqual", "int", "2147483647", "OpIAdd", "int", "1"),
        0);
    assert_int_equal(TURNS("int", "-2147483646", "OpSLessThan", "int", "0", "OpISub", "int", "1"),
                     0);
    assert_int_equal(TURNS("uint", "3", "OpUGreaterThanEqual", "uint", "0", "OpISub", "uint", "1"),
                     0);
    assert_int_equal(
        TURNS("uint", "4", "OpUGreaterThan", "uint", "0", "OpIAdd", "uint", "4294967295"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts), cmocka_unit_test(test_other_signs),
        cmocka_unit_test(test_other_ways_out), cmocka_unit_test(test_tested_at_the_end),
        cmocka_unit_test(test_wraps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
