/* Which values of loops decide values that come behind them without an OpPhi. */
#include "shader_rewrite/quirks/leaving_values.h"
#include "tests/shader_rewrite/corpus_files.h"
#include "tests/shader_rewrite/shaders_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* A loop (header 101, continue 111, merge 112) around a selection (102, merge 104) with one in it
 * (103, merge 117), another (104, merge 106) and a loop (header 107, continue 108, merge 109) that
 * is left from 113 and 118; behind it all a selection (112, merge 115). */
static const char nested[] = SHADER_HEAD "%100 = OpLabel\n"
                                         "OpBranch %101\n"
                                         "%101 = OpLabel\n"
                                         "%20 = OpPhi %6 %7 %100 %26 %111\n"
                                         "OpLoopMerge %112 %111 None\n"
                                         "OpBranch %102\n"
                                         "%102 = OpLabel\n"
                                         "%21 = OpIAdd %6 %20 %7\n"
                                         "%22 = OpIEqual %4 %20 %7\n"
                                         "OpSelectionMerge %104 None\n"
                                         "OpBranchConditional %22 %103 %104\n"
                                         "%103 = OpLabel\n"
                                         "%50 = OpIEqual %4 %20 %7\n"
                                         "OpSelectionMerge %117 None\n"
                                         "OpBranchConditional %50 %116 %117\n"
                                         "%116 = OpLabel\n"
                                         "OpBranch %117\n"
                                         "%117 = OpLabel\n"
                                         "%24 = OpIMul %6 %20 %7\n"
                                         "OpBranch %104\n"
                                         "%104 = OpLabel\n"
                                         "%23 = OpPhi %6 %7 %102 %24 %117\n"
                                         "%25 = OpIAdd %6 %7 %7\n"
                                         "%27 = OpIEqual %4 %25 %7\n"
                                         "OpSelectionMerge %106 None\n"
                                         "OpBranchConditional %27 %105 %106\n"
                                         "%105 = OpLabel\n"
                                         "OpBranch %106\n"
                                         "%106 = OpLabel\n"
                                         "%28 = OpPhi %6 %7 %104 %25 %105\n"
                                         "%29 = OpIAdd %6 %7 %7\n"
                                         "%47 = OpIAdd %6 %7 %7\n"
                                         "OpBranch %107\n"
                                         "%107 = OpLabel\n"
                                         "%30 = OpPhi %6 %7 %106 %31 %108\n"
                                         "OpLoopMerge %109 %108 None\n"
                                         "OpBranch %113\n"
                                         "%113 = OpLabel\n"
                                         "%31 = OpIAdd %6 %30 %7\n"
                                         "%32 = OpIEqual %4 %31 %7\n"
                                         "%48 = OpIAdd %6 %7 %7\n"
                                         "OpBranchConditional %32 %109 %118\n"
                                         "%118 = OpLabel\n"
                                         "OpBranchConditional %5 %109 %108\n"
                                         "%108 = OpLabel\n"
                                         "OpBranch %107\n"
                                         "%109 = OpLabel\n"
                                         "%33 = OpPhi %6 %31 %113 %7 %118\n"
                                         "%49 = OpIAdd %6 %48 %7\n"
                                         "%34 = OpIAdd %6 %7 %7\n"
                                         "%35 = OpIEqual %4 %34 %7\n"
                                         "OpBranchConditional %35 %112 %119\n"
                                         "%119 = OpLabel\n"
                                         "OpBranchConditional %5 %112 %111\n"
                                         "%111 = OpLabel\n"
                                         "%26 = OpIAdd %6 %28 %7\n"
                                         "OpBranch %101\n"
                                         "%112 = OpLabel\n"
                                         "%40 = OpPhi %6 %34 %109 %28 %119\n"
                                         "%41 = OpPhi %6 %29 %109 %29 %119\n"
                                         "%42 = OpIAdd %6 %21 %23\n"
                                         "%43 = OpIAdd %6 %33 %7\n"
                                         "OpSelectionMerge %115 None\n"
                                         "OpBranchConditional %5 %114 %115\n"
                                         "%114 = OpLabel\n"
                                         "OpBranch %115\n"
                                         "%115 = OpLabel\n"
                                         "%44 = OpPhi %6 %47 %112 %7 %114\n"
                                         "OpReturn\n"
                                         "OpFunctionEnd\n";

enum { OUTER = 1, INNER = 2 };

static const struct {
    uint32_t id, loops;
    const char *what;
} expected[] = {
    {21, OUTER, "is used behind"},
    {20, OUTER, "is an operand of one that is"},
    {23, OUTER, "is used behind, an OpPhi"},
    {24, OUTER, "is an operand of that"},
    {22, OUTER, "chooses in it"},
    {50, 0, "chooses what meets again before it"},
    {26, 0, "goes into the header's OpPhi alone"},
    {28, 0, "goes into OpPhi alone"},
    {27, 0, "chooses in that"},
    {34, 0, "goes into an OpPhi behind the loop"},
    {35, 0, "ends the loop"},
    {29, OUTER, "is all that an OpPhi behind the loop has"},
    {47, OUTER, "goes into an OpPhi from behind the loop"},
    {48, INNER, "is used behind the inner loop"},
    {49, 0, "is used nowhere"},
    {33, OUTER, "is used behind, an OpPhi behind the inner loop"},
    {31, OUTER, "is an operand of that"},
    {30, OUTER, "is an operand of one"},
    {32, 0, "ends the inner loop"},
};

/* A loop (header 101, continue 111, merge 112) in which a branch without a merge (102) goes on with
 * the next turn. `used` is what comes behind it. */
#define CONTINUES(used)                                                                            \
    SHADER_HEAD "%100 = OpLabel\n"                                                                 \
                "OpBranch %101\n"                                                                  \
                "%101 = OpLabel\n"                                                                 \
                "%20 = OpPhi %6 %7 %100 %26 %111\n"                                                \
                "OpLoopMerge %112 %111 None\n"                                                     \
                "OpBranch %102\n"                                                                  \
                "%102 = OpLabel\n"                                                                 \
                "%22 = OpIEqual %4 %20 %7\n"                                                       \
                "OpBranchConditional %22 %111 %103\n"                                              \
                "%103 = OpLabel\n"                                                                 \
                "%24 = OpIMul %6 %20 %7\n"                                                         \
                "OpBranch %111\n"                                                                  \
                "%111 = OpLabel\n"                                                                 \
                "%23 = OpPhi %6 %7 %102 %24 %103\n"                                                \
                "%26 = OpIAdd %6 %20 %7\n"                                                         \
                "%27 = OpIEqual %4 %26 %7\n"                                                       \
                "OpBranchConditional %27 %112 %101\n"                                              \
                "%112 = OpLabel\n"                                                                 \
                "%42 = OpIAdd %6 " used " %7\n"                                                    \
                "OpReturn\n"                                                                       \
                "OpFunctionEnd\n"

/* A module with what leaves the loops of its first function. */
struct found {
    struct pm_ir_module *module;
    struct pm_arena *arena;
    struct pm_leaving_values leaving;
};

static void find(const char *text, struct found *found)
{
    struct pm_error error = {0};
    uint32_t *words;
    size_t count;
    corpus_assemble(text, SPV_ENV_UNIVERSAL_1_3, &words, &count);
    corpus_assert_valid("the text", words, count, SPV_ENV_VULKAN_1_1);
    found->module = pm_ir_parse(words, count, &error);
    free(words);
    assert_non_null(found->module);
    assert_true(pm_analysis_require(found->module->first_function, PM_ANALYSIS_ALL, &error));
    found->arena = pm_arena_create(0);
    assert_non_null(found->arena);
    assert_true(pm_leaving_values_compute(&found->leaving, found->module,
                                          found->module->first_function, found->arena));
}

static void lose(struct found *found)
{
    pm_arena_destroy(found->arena);
    pm_ir_module_destroy(found->module);
}

static bool is_chosen(const char *text)
{
    struct found found;
    find(text, &found);
    const bool chosen = pm_leaving_values_chosen(&found.leaving, found.module->first_function);
    lose(&found);
    return chosen;
}

/* No selection chooses what is used behind the loop, but the branch does. */
static void test_goes_on_early(void **state)
{
    (void)state;
    assert_true(is_chosen(CONTINUES("%23")));
    assert_false(is_chosen(CONTINUES("%26")));
    assert_false(is_chosen(CONTINUES("%7")));
}

static void test_nested(void **state)
{
    (void)state;
    struct found found;
    find(nested, &found);
    const struct pm_loops *loops = pm_loops(found.module->first_function);
    assert_int_equal(loops->count, 2);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct pm_ir_def *def = found.module->defs[expected[i].id];
        uint32_t got = 0;
        for (uint32_t loop = 0; loop < 2; loop++)
            got |= (uint32_t)pm_leaving_values_has(&found.leaving, loops, def, loop) << loop;
        if (got != expected[i].loops)
            fail_msg("%%%u %s: %u, not %u", def->id, expected[i].what, got, expected[i].loops);
    }
    lose(&found);
}

static void test_no_loops(void **state)
{
    (void)state;
    struct found found;
    find(SHADER_SELECTION, &found);
    assert_null(found.leaving.loops);
    lose(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_goes_on_early),
        cmocka_unit_test(test_no_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
