/* Which words of push constants and uniform buffers are points, and where they are said to be. */
#include "tests/shader_rewrite/constants/constant_subject.h"

#include "tests/cmocka_includes.h"

static struct pm_constant_points points_with(const char *body, bool all)
{
    struct pm_constant_points points;
    struct pm_error error = {0};
    struct pm_words words = constant_subject(body);
    if (!pm_points_constant(words.data, words.count, all, &points, &error))
        fail_msg("%s", error.message);
    pm_words_finish(&words);
    return points;
}

static struct pm_constant_points points_of(const char *body)
{
    return points_with(body, false);
}

static const struct pm_constant_point *find(const struct pm_constant_points *points,
                                            enum pm_constant_source source, uint32_t offset)
{
    for (uint32_t i = 0; i < points->count; i++)
        if (points->points[i].source == source && points->points[i].offset == offset)
            return &points->points[i];
    return NULL;
}

/* A branch that much hangs on, one that little does, and a factor of much. */
static const char two_of_three[] = LOAD_PUSH_UINT("mode", "%u0") LOAD_PUSH_UINT("other", "%u1")
    LOAD_PUSH_FLOAT("scale",
                    "%u2") "%on = OpIEqual %bool %mode %u3\n"
                           "OpSelectionMerge %m None\nOpBranchConditional %on %t %m\n"
                           "%t = OpLabel\n" WORK "OpBranch %m\n"
                           "%m = OpLabel\n%r = OpPhi %float %f1 %begin %x8 %t\n"
                           "%o = OpConvertUToF %float %other\n%s = OpFMul %float %r %scale\n"
                           "%w = OpFAdd %float %v0 %o\n%result = OpFAdd %float %s %w\n";

static void test_worth_it(void **state)
{
    (void)state;
    struct pm_constant_points points = points_of(two_of_three);
    assert_int_equal(points.candidates, 3);
    assert_int_equal(points.count, 2);
    const struct pm_constant_point *mode = find(&points, PM_CONSTANT_PUSH, 0);
    const struct pm_constant_point *scale = find(&points, PM_CONSTANT_PUSH, 8);
    assert_non_null(mode);
    assert_false(mode->is_float);
    assert_true(mode->every_path);
    assert_non_null(scale);
    assert_true(scale->is_float);
    pm_constant_points_finish(&points);
}

/* In a structure, an array, a matrix and a vector; and not on every path. */
static void test_offsets(void **state)
{
    (void)state;
    struct pm_constant_points points = points_of(
        /* member 1: array of 3 with stride 32 at 64; element 2, a structure: member 1, a vec4 at 16
         */
        "%p = OpAccessChain %uniform_v4 %uniform %u1 %u2 %u1\n"
        "%v = OpLoad %v4 %p\n%y = OpCompositeExtract %float %v 1\n" WORK
        "%a = OpFMul %float %x8 %y\n"
        "%on = OpFOrdGreaterThan %bool %a %f1\n"
        "OpSelectionMerge %m None\nOpBranchConditional %on %t %m\n"
        "%t = OpLabel\n"
        /* member 2: a row major matrix at 160, stride 16; column 3, row 1 */
        "%q = OpAccessChain %uniform_float %uniform %u2 %u3 %u1\n%w = OpLoad %float %q\n"
        "%on2 = OpFOrdGreaterThan %bool %w %f1\n"
        "OpSelectionMerge %m2 None\nOpBranchConditional %on2 %t2 %m2\n"
        "%t2 = OpLabel\n" WORK2 "OpBranch %m2\n"
        "%m2 = OpLabel\n%r2 = OpPhi %float %f1 %t %y8 %t2\n"
        "OpBranch %m\n"
        "%m = OpLabel\n%result = OpPhi %float %a %begin %r2 %m2\n");
    const struct pm_constant_point *y = find(&points, PM_CONSTANT_UNIFORM, 64 + 2 * 32 + 16 + 4);
    const struct pm_constant_point *w = find(&points, PM_CONSTANT_UNIFORM, 160 + 16 + 12);
    assert_non_null(y);
    assert_int_equal(y->set, 0);
    assert_int_equal(y->binding, 9);
    assert_true(y->every_path);
    assert_true(y->within);
    assert_non_null(w);
    assert_false(w->every_path);
    assert_false(w->within);
    pm_constant_points_finish(&points);
}

/* A vector of which no component alone is worth it, but zero all together. */
static void test_together(void **state)
{
    (void)state;
    struct pm_constant_points points =
        points_of("%p = OpAccessChain %uniform_v4 %uniform %u0\n%v = OpLoad %v4 %p\n" WORK
                  "%c = OpCompositeConstruct %v4 %x8 %x7 %x6 %x8\n"
                  "%result = OpDot %float %v %c\n");
    assert_int_equal(points.count, 4);
    pm_constant_points_finish(&points);
}

/* The same loaded in parts: what lies in one slot belongs together. */
static void test_in_parts(void **state)
{
    (void)state;
    struct pm_constant_points points = points_of(
        "%q0 = OpAccessChain %uniform_float %uniform %u0 %u0\n%a0 = OpLoad %float %q0\n"
        "%q1 = OpAccessChain %uniform_float %uniform %u0 %u1\n%a1 = OpLoad %float %q1\n"
        "%q2 = OpAccessChain %uniform_float %uniform %u0 %u2\n%a2 = OpLoad %float %q2\n"
        "%q3 = OpAccessChain %uniform_float %uniform %u0 %u3\n%a3 = OpLoad %float %q3\n" WORK
        "%whole = OpCompositeConstruct %v4 %a0 %a1 %a2 %a3\n"
        "%c = OpCompositeConstruct %v4 %x8 %x7 %x6 %x8\n"
        "%result = OpDot %float %whole %c\n");
    assert_int_equal(points.candidates, 4);
    assert_int_equal(points.count, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(points.points[i].offset, 4 * i);
    pm_constant_points_finish(&points);
}

/* Indices that are not known, other storage, and what is volatile are no words. */
static void test_not_words(void **state)
{
    (void)state;
    struct pm_constant_points points =
        points_of("%i = OpBitwiseAnd %uint %at %u1\n"
                  "%p = OpAccessChain %uniform_v4 %uniform %u1 %i %u1\n%v = OpLoad %v4 %p\n"
                  "%y = OpCompositeExtract %float %v 1\n"
                  "%q = OpAccessChain %push_float %push %u2\n%s = OpLoad %float %q Volatile\n" WORK
                  "%a = OpFMul %float %x8 %y\n%result = OpFMul %float %a %s\n");
    assert_int_equal(points.candidates, 0);
    assert_int_equal(points.count, 0);
    pm_constant_points_finish(&points);
}

static void test_all(void **state)
{
    (void)state;
    struct pm_constant_points points = points_with(two_of_three, true);
    assert_int_equal(points.candidates, 3);
    assert_int_equal(points.count, 3);
    assert_non_null(find(&points, PM_CONSTANT_PUSH, 4));
    pm_constant_points_finish(&points);
}

static void test_bad_input(void **state)
{
    (void)state;
    struct pm_constant_points points;
    struct pm_error error = {0};
    const uint32_t words[] = {1, 2, 3, 4, 5};
    assert_false(pm_points_constant(words, 5, false, &points, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    pm_constant_points_finish(&points);
    pm_constant_points_finish(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worth_it),  cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_together),  cmocka_unit_test(test_in_parts),
        cmocka_unit_test(test_not_words), cmocka_unit_test(test_all),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
