/* Versions that take longer and compute the same, for tests of trials: of what can be done twice.
 */
#include "shader_rewrite/variants/variants.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/variants/recipe_made.h"
#include "tests/shader_rewrite/variants/sized.h"

#include "tests/cmocka_includes.h"

static bool makes_slow(const struct pm_words *words)
{
    struct pm_words slow;
    struct pm_error error;
    const bool made = pm_make_slow(words->data, words->count, &recipe_target, &slow, &error);
    if (made) {
        assert_int_equal(pm_test_count(&slow, "OpLoopMerge"),
                         pm_test_count(words, "OpLoopMerge") + 1);
        assert_int_equal(pm_test_count(&slow, "OpStore"), pm_test_count(words, "OpStore"));
    } else {
        assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    }
    pm_words_finish(&slow);
    return made;
}

/* What writes only can do so twice; what reads what it writes, or counts, cannot. */
static void test_slow(void **state)
{
    (void)state;
    struct pm_words words = pm_test_assemble(SIZED("", "32", "", ""), 3);
    assert_true(makes_slow(&words));
    pm_words_finish(&words);
    words = pm_test_assemble(
        SIZED("", "32", SHARED, "%a = OpAtomicIAdd %uint %shared %two %none %two\n"), 3);
    assert_false(makes_slow(&words));
    pm_words_finish(&words);
    words = pm_test_assemble(
        SIZED("", "32", SHARED, "%a = OpLoad %uint %shared\nOpStore %shared %two\n"), 3);
    assert_false(makes_slow(&words));
    pm_words_finish(&words);
    words = pm_test_assemble(SIZED("", "32", SHARED, "OpStore %shared %two\n"), 3);
    assert_true(makes_slow(&words));
    pm_words_finish(&words);
    words = pm_test_assemble(SIZED("", "32", SHARED "%p = OpTypePointer Function %uint\n",
                                   "%v = OpVariable %p Function\nOpCopyMemory %v %shared\n"
                                   "OpStore %shared %two\n"),
                             3);
    assert_false(makes_slow(&words));
    pm_words_finish(&words);
    /* Another one's value. */
    words = pm_test_assemble(SIZED("", "32", SHARED "%other = OpVariable %pointer Workgroup\n",
                                   "%a = OpLoad %uint %other\nOpStore %shared %a\n"),
                             3);
    assert_true(makes_slow(&words));
    pm_words_finish(&words);
}

/* A guard: a branch on what was not there before. In its copy there are others, which are none. */
static void test_slow_where_guards_fail(void **state)
{
    (void)state;
    struct pm_words slow,
        words = pm_test_assemble(
            SIZED("", "32",
                  "%bool = OpTypeBool\n" SHARED "%other = OpVariable %pointer Workgroup\n",
                  "%a = OpLoad %uint %other\n%zero = OpIEqual %bool %a %none\n"
                  "OpSelectionMerge %m None\nOpBranchConditional %zero %s %r\n"
                  "%s = OpLabel\n%copy = OpIEqual %bool %a %two\n"
                  "OpSelectionMerge %sm None\nOpBranchConditional %copy %sy %sm\n"
                  "%sy = OpLabel\nOpBranch %sm\n%sm = OpLabel\nOpBranch %m\n"
                  "%r = OpLabel\nOpStore %shared %two\nOpBranch %m\n%m = OpLabel\n"),
            3);
    struct pm_error error;
    assert_true(
        pm_make_slow_where_guards_fail(words.data, words.count, 1, &recipe_target, &slow, &error));
    assert_int_equal(pm_test_count(&slow, "OpLoopMerge"), 1);
    /* That none has failed, and in one place that one has. */
    assert_int_equal(pm_test_count(&slow, "OpStore"), pm_test_count(&words, "OpStore") + 2);
    pm_words_finish(&slow);
    assert_false(pm_make_slow_where_guards_fail(words.data, words.count, words.data[3],
                                                &recipe_target, &slow, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    pm_words_finish(&words);
}

#define CHOICE "%bool = OpTypeBool\n%true = OpConstantTrue %bool\n"

/* What returns early can do it twice, but from a loop. */
static void test_slow_returns(void **state)
{
    (void)state;
    struct pm_words words =
        pm_test_assemble(SIZED("", "32", SHARED CHOICE,
                               "OpSelectionMerge %m None\nOpBranchConditional %true %t %m\n"
                               "%t = OpLabel\nOpReturn\n%m = OpLabel\nOpStore %shared %two\n"),
                         3);
    assert_true(makes_slow(&words));
    pm_words_finish(&words);
    words =
        pm_test_assemble(SIZED("", "32", SHARED CHOICE,
                               "OpBranch %h\n%h = OpLabel\nOpLoopMerge %m %c None\n"
                               "OpBranchConditional %true %t %m\n%t = OpLabel\nOpReturn\n"
                               "%c = OpLabel\nOpBranch %h\n%m = OpLabel\nOpStore %shared %two\n"),
                         3);
    assert_false(makes_slow(&words));
    pm_words_finish(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_slow_where_guards_fail),
        cmocka_unit_test(test_slow_returns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
