/* How often loops turn that count, and which may not be told to a compiler. */
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

/* Of a loop with a float %a that begins with one and goes on with another: constants are %f1 and
 * %u0 to %u4, %k is the number of the turn, %x is not known. */
struct floating {
    const char *first, *next, *body, *behind;
};

static bool is_risky(const struct floating *loop)
{
    char text[8192];
    struct pm_error error;
    snprintf(text, sizeof text,
             "OpCapability Shader\n%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
             "OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %%main \"main\" %%in\n"
             "OpExecutionMode %%main OriginUpperLeft\n"
             "%%void = OpTypeVoid\n%%fn = OpTypeFunction %%void\n%%bool = OpTypeBool\n"
             "%%uint = OpTypeInt 32 0\n%%float = OpTypeFloat 32\n"
             "%%float2 = OpTypeVector %%float 2\n%%u0 = OpConstant %%uint 0\n"
             "%%u1 = OpConstant %%uint 1\n%%u4 = OpConstant %%uint 4\n"
             "%%f1 = OpConstant %%float 1\n%%floats = OpTypeArray %%float %%u4\n"
             "%%table = OpConstantComposite %%floats %%f1 %%f1 %%f1 %%f1\n"
             "%%p_floats = OpTypePointer Function %%floats\n"
             "%%p_float = OpTypePointer Function %%float\n%%p_in = OpTypePointer Input %%float\n"
             "%%in = OpVariable %%p_in Input\n%%main = OpFunction %%void None %%fn\n"
             "%%entry = OpLabel\n%%known = OpVariable %%p_floats Function %%table\n"
             "%%stored = OpVariable %%p_floats Function\n%%x = OpLoad %%float %%in\n%%xx = "
             "OpCompositeConstruct %%float2 "
             "%%x %%x\n%%less = OpFOrdLessThan %%bool %%x %%f1\nOpBranch %%loop\n"
             "%%loop = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%j %%latch\n"
             "%%a = OpPhi %%float %s %%entry %s %%latch\n%%more = OpULessThan %%bool %%i %%u4\n"
             "OpLoopMerge %%end %%latch None\nOpBranchConditional %%more %%body %%end\n"
             "%%body = OpLabel\n%%k = OpConvertUToF %%float %%i\n"
             "%%begins = OpIEqual %%bool %%i %%u0\n%sOpBranch %%latch\n"
             "%%latch = OpLabel\n%%j = OpIAdd %%uint %%i %%u1\nOpBranch %%loop\n"
             "%%end = OpLabel\n%sOpReturn\nOpFunctionEnd\n",
             loop->first, loop->next, loop->body, loop->behind ? loop->behind : "");
    struct pm_words words = pm_test_assemble(text, 3);
    struct pm_ir_module *module = pm_ir_parse(words.data, words.count, &error);
    assert_non_null(module);
    struct pm_ir_function *function = module->first_function;
    assert_true(pm_analysis_require(function, PM_ANALYSIS_LOOPS, &error));
    const bool risky = pm_loop_is_risky(function, 0);
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
    return risky;
}

#define RISKY(...) is_risky(&(const struct floating){__VA_ARGS__})
#define ROOT(of) "%y = OpExtInst %float %glsl Sqrt " of "\n"

/* What is known in one turn is enough. */
static void test_risky_turns(void **state)
{
    (void)state;
    assert_true(RISKY("%x", "%x", ROOT("%k")));
    assert_true(RISKY("%f1", "%x", ROOT("%a")));
    assert_true(RISKY("%x", "%f1", ROOT("%a")));
    assert_true(RISKY("%x", "%k", ROOT("%a")));
    assert_false(RISKY("%x", "%x", ROOT("%a")));
    assert_false(RISKY("%x", "%b", "%b = OpFMul %float %a %f1\n" ROOT("%b")));
    /* In a loop inside, too. */
#define INNER(first)                                                                               \
    "OpBranch %inner\n%inner = OpLabel\n%b = OpPhi %float " first " %body %x %inner\n" ROOT(       \
        "%b") "OpLoopMerge %left %inner None\nOpBranchConditional %less %inner %left\n"            \
              "%left = OpLabel\n"
    assert_true(RISKY("%x", "%x", INNER("%k")));
    assert_false(RISKY("%x", "%x", INNER("%x")));
}

/* Which way is taken may be known, too. */
static void test_risky_choices(void **state)
{
    (void)state;
#define SELECT(when) "%c = OpSelect %float " when " %f1 %x\n" ROOT("%c")
#define MEET(when)                                                                                 \
    "OpSelectionMerge %met None\nOpBranchConditional " when " %then %met\n%then = OpLabel\n"       \
    "OpBranch %met\n%met = OpLabel\n%c = OpPhi %float %x %body %f1 %then\n" ROOT("%c")
    assert_true(RISKY("%x", "%x", SELECT("%begins")));
    assert_false(RISKY("%x", "%x", SELECT("%less")));
    assert_true(RISKY("%x", "%x", MEET("%begins")));
    assert_false(RISKY("%x", "%x", MEET("%less")));
}

/* One operand is enough, but where nothing is rounded in another way for that. */
static void test_risky_in_part(void **state)
{
    (void)state;
    assert_true(RISKY("%x", "%x", "%y = OpExtInst %float %glsl Pow %x %k\n"));
    assert_true(RISKY("%f1", "%x", "%y = OpFDiv %float %x %a\n"));
    assert_false(RISKY("%x", "%x", "%y = OpExtInst %float %glsl Pow %x %f1\n"));
    assert_false(RISKY("%f1", "%x", "%y = OpFMul %float %x %a\n"));
    assert_false(RISKY("%f1", "%x", "%y = OpFAdd %float %x %a\n"));
    assert_false(RISKY("%f1", "%x", "%y = OpVectorTimesScalar %float2 %xx %a\n"));
    assert_false(RISKY("%f1", "%x", "%y = OpExtInst %float %glsl FMax %x %a\n"));
}

/* In memory, where it is not a buffer's. */
static void test_risky_tables(void **state)
{
    (void)state;
#define READ(variable, index)                                                                      \
    "%p = OpAccessChain %p_float " variable " " index "\n%b = OpLoad %float %p\n" ROOT("%b")
#define STORE(value) "%q = OpAccessChain %p_float %stored %i\nOpStore %q " value "\n"
    assert_true(RISKY("%x", "%x", READ("%known", "%i")));
    assert_true(RISKY("%x", "%x", STORE("%k") READ("%stored", "%i")));
    assert_false(RISKY("%x", "%x", STORE("%x") READ("%stored", "%i")));
    assert_false(RISKY("%x", "%x", "%ix = OpConvertFToU %uint %x\n" READ("%known", "%ix")));
}

/* In a part of a vector. */
static void test_risky_vectors(void **state)
{
    (void)state;
#define PAIR(first, second)                                                                        \
    "%v = OpCompositeConstruct %float2 " first " " second "\n"                                     \
    "%y = OpExtInst %float2 %glsl Sqrt %v\n"
    assert_true(RISKY("%x", "%x", PAIR("%k", "%x")));
    assert_false(RISKY("%x", "%x", PAIR("%f1", "%x")));
    assert_false(RISKY("%x", "%x", PAIR("%x", "%x")));
}

/* Behind the loop what it comes to in all of its turns is known. */
static void test_risky_behind(void **state)
{
    (void)state;
#define SUM(of) "%b = OpFAdd %float %a " of "\n"
    assert_true(RISKY("%f1", "%b", SUM("%f1"), ROOT("%a")));
    assert_true(RISKY("%f1", "%b", SUM("%k"), "%y = OpFDiv %float %x %a\n"));
    assert_false(RISKY("%f1", "%b", SUM("%k"), "%y = OpFMul %float %x %a\n"));
    assert_false(RISKY("%f1", "%b", SUM("%x"), ROOT("%a")));
    assert_false(RISKY("%x", "%b", SUM("%f1"), ROOT("%a")));
    assert_false(RISKY("%f1", "%b", SUM("%f1"), ROOT("%x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),         cmocka_unit_test(test_other_signs),
        cmocka_unit_test(test_other_ways_out), cmocka_unit_test(test_tested_at_the_end),
        cmocka_unit_test(test_wraps),          cmocka_unit_test(test_risky_turns),
        cmocka_unit_test(test_risky_choices),  cmocka_unit_test(test_risky_in_part),
        cmocka_unit_test(test_risky_tables),   cmocka_unit_test(test_risky_vectors),
        cmocka_unit_test(test_risky_behind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
