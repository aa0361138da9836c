/* Which blocks are entered by the lanes of an earlier one: of each block of a function, in order,
 * that one's number, with ! where whoever enters it enters the block too, or a dot. */
#include "shader_rewrite/analysis/analysis_together.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* %d differs between lanes, %u does not. */
static const char frame[] =
    "OpCapability Shader\nOpMemoryModel Logical GLSL450\n"
    "OpEntryPoint GLCompute %%main \"main\" %%id %%group\n"
    "OpExecutionMode %%main LocalSize 64 1 1\n"
    "OpDecorate %%id BuiltIn LocalInvocationIndex\nOpDecorate %%group BuiltIn WorkgroupId\n"
    "%%void = OpTypeVoid\n%%bool = OpTypeBool\n%%uint = OpTypeInt 32 0\n"
    "%%uint3 = OpTypeVector %%uint 3\n%%u0 = OpConstant %%uint 0\n%%u1 = OpConstant %%uint 1\n"
    "%%u3 = OpConstant %%uint 3\n"
    "%%p_id = OpTypePointer Input %%uint\n%%p_id3 = OpTypePointer Input %%uint3\n"
    "%%id = OpVariable %%p_id Input\n%%group = OpVariable %%p_id3 Input\n"
    "%%function = OpTypeFunction %%void\n"
    "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
    "%%at = OpLoad %%uint %%id\n%%d = OpIEqual %%bool %%at %%u1\n"
    "%%groups = OpLoad %%uint3 %%group\n%%x = OpCompositeExtract %%uint %%groups 0\n"
    "%%u = OpIEqual %%bool %%x %%u1\n"
    "%s"
    "OpReturn\nOpFunctionEnd\n";

static void print(char *text, size_t size, const struct pm_together *together, uint32_t blocks)
{
    for (uint32_t b = 0; b < blocks; b++) {
        const size_t at = strlen(text);
        if (together->with[b] == PM_NO_BLOCK)
            snprintf(text + at, size - at, " .");
        else
            snprintf(text + at, size - at, " %u%s", together->with[b],
                     together->always[b] ? "!" : "");
    }
}

static void check(const char *body, const char *expected)
{
    char *text, found[128] = "";
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
    struct pm_arena *arena = pm_arena_create(0);
    const struct pm_memory memory = pm_memory_of(module);
    struct pm_uniform uniform;
    struct pm_together together;
    assert_true(
        pm_uniform_compute(&uniform, PM_UNIFORM_SUBGROUP, module, &memory, function, arena));
    assert_true(pm_together_compute(&together, &uniform, function, arena));
    print(found, sizeof found, &together, pm_cfg(function)->count);
    assert_string_equal(found, expected);
    pm_arena_destroy(arena);
    pm_ir_module_destroy(module);
    pm_words_finish(&words);
}

/* Both sides of a selection, and what comes behind it. */
static void test_selections(void **state)
{
    (void)state;
    static const char sides[] = "OpSelectionMerge %%m None\nOpBranchConditional %%%s %%a %%b\n"
                                "%%a = OpLabel\nOpBranch %%m\n%%b = OpLabel\nOpBranch %%m\n"
                                "%%m = OpLabel\n";
    char text[512];
    snprintf(text, sizeof text, sides, "d");
    check(text, " . . . 0!");
    snprintf(text, sizeof text, sides, "u");
    check(text, " . 0 0 0!");
}

/* Behind lanes that return, the others. */
static void test_returns(void **state)
{
    (void)state;
    static const char returns[] = "OpSelectionMerge %%m None\nOpBranchConditional %%%s %%a %%m\n"
                                  "%%a = OpLabel\nOpReturn\n%%m = OpLabel\n"
                                  "OpBranch %%n\n%%n = OpLabel\n";
    char text[512];
    snprintf(text, sizeof text, returns, "d");
    check(text, " . . . 2!");
    snprintf(text, sizeof text, returns, "u");
    check(text, " . 0 0 2!");
}

/* A loop of three turns, or of as many as a lane has: header, test, body, latch, and behind it. */
static void test_loops(void **state)
{
    (void)state;
    static const char loop[] =
        "OpBranch %%h\n"
        "%%h = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%j %%c\n"
        "OpLoopMerge %%m %%c None\nOpBranch %%t\n"
        "%%t = OpLabel\n%%more = OpULessThan %%bool %%i %%%s\n"
        "OpBranchConditional %%more %%b %%m\n"
        "%%b = OpLabel\nOpSelectionMerge %%e None\nOpBranchConditional %%d %%a %%e\n"
        "%%a = OpLabel\nOpBranch %%e\n"
        "%%e = OpLabel\nOpBranch %%c\n"
        "%%c = OpLabel\n%%j = OpIAdd %%uint %%i %%u1\nOpBranch %%h\n"
        "%%m = OpLabel\n";
    char text[1024];
    snprintf(text, sizeof text, loop, "u3");
    check(text, " . 0 1! 2 . 3! 5! 0!");
    snprintf(text, sizeof text, loop, "at");
    check(text, " . . 1! . . 3! 5! 0!");
}

/* The way out of a loop which all take, each in its own turn. */
static void test_ways_out(void **state)
{
    (void)state;
    static const char loop[] = "OpBranch %%h\n"
                               "%%h = OpLabel\n%%i = OpPhi %%uint %%u0 %%entry %%j %%c\n"
                               "OpLoopMerge %%m %%c None\nOpBranch %%t\n"
                               "%%t = OpLabel\n%%is = OpIEqual %%bool %%i %%%s\n"
                               "OpSelectionMerge %%e None\nOpBranchConditional %%is %%a %%e\n"
                               "%%a = OpLabel\nOpBranch %%m\n"
                               "%%e = OpLabel\nOpBranch %%c\n"
                               "%%c = OpLabel\n%%j = OpIAdd %%uint %%i %%u1\nOpBranch %%h\n"
                               "%%m = OpLabel\n";
    char text[1024];
    snprintf(text, sizeof text, loop, "at");
    check(text, " . . 1! . . 4! 0!");
    snprintf(text, sizeof text, loop, "u3");
    check(text, " . 0 1! 2 2 4! 0!");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_ways_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
