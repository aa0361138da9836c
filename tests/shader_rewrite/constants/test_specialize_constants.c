/* What becomes of a shader where words are known: assembly in, what must come out. That it computes
 * the same bits is specialize_constants_values'. */
#include "tests/shader_rewrite/constants/constant_subject.h"

#include <stdio.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const struct pm_target target = {.vulkan_minor = 1};

static struct pm_constant_known push(uint32_t offset, uint32_t value)
{
    return (struct pm_constant_known){{.source = PM_CONSTANT_PUSH, .offset = offset}, value};
}

static struct pm_constant_known uniform(uint32_t offset, uint32_t value)
{
    return (struct pm_constant_known){
        {.source = PM_CONSTANT_UNIFORM, .binding = 9, .offset = offset}, value};
}

static struct pm_specialized_constants
specialize(const char *body, const struct pm_constant_known *known, uint32_t count)
{
    struct pm_specialized_constants out;
    struct pm_error error = {0};
    struct pm_words words = constant_subject(body);
    const struct pm_specialize_constants_info info = {
        .known = known, .known_count = count, .target = target, .take_all = true};
    if (!pm_specialize_constants(words.data, words.count, &info, &out, &error))
        fail_msg("%s", error.message);
    pm_words_finish(&words);
    return out;
}

#define BRANCH                                                                                     \
    LOAD_PUSH_UINT("mode", "%u0")                                                                  \
    "%on = OpIEqual %bool %mode %u3\n"                                                             \
    "OpSelectionMerge %m None\nOpBranchConditional %on %t %f\n"                                    \
    "%t = OpLabel\n" WORK "OpBranch %m\n"                                                          \
    "%f = OpLabel\n" WORK2 "OpBranch %m\n"                                                         \
    "%m = OpLabel\n%result = OpPhi %float %x8 %t %y8 %f\n"

/* A branch goes its one way, and the other is gone. */
static void test_branch(void **state)
{
    (void)state;
    const struct pm_constant_known is = push(0, 3), is_not = push(0, 4);
    struct pm_specialized_constants out = specialize(BRANCH, &is, 1);
    assert_int_equal(pm_test_count(&out.words, "OpBranchConditional"), 0);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 4);
    assert_int_equal(pm_test_count(&out.words, " Cos "), 2);
    assert_int_equal(out.guarded, 0);
    assert_true(out.cycles_after < out.cycles_before);
    pm_specialized_constants_finish(&out);
    out = specialize(BRANCH, &is_not, 1);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 3);
    assert_int_equal(pm_test_count(&out.words, " Cos "), 3);
    pm_specialized_constants_finish(&out);
}

/* The bars of specialize_zero. */
static void test_worth(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_specialized_constants out;
    const struct pm_constant_known known = push(4, 3);
    struct pm_specialize_constants_info info = {
        .known = &known, .known_count = 1, .target = target};
    struct pm_words little =
        constant_subject(LOAD_PUSH_UINT("other", "%u1") "%o = OpIAdd %uint %other %at\n" WORK
                                                        "%of = OpConvertUToF %float %o\n"
                                                        "%w = OpFAdd %float %x8 %v0\n"
                                                        "%result = OpFAdd %float %w %of\n");
    assert_true(pm_specialize_constants(little.data, little.count, &info, &out, &error));
    assert_int_equal(out.words.count, 0);
    assert_true(out.cycles_before > out.cycles_after && out.cycles_after > 0);
    pm_specialized_constants_finish(&out);
    pm_words_finish(&little);
    struct pm_words much = constant_subject(BRANCH);
    const struct pm_constant_known mode = push(0, 0);
    info.known = &mode;
    assert_true(pm_specialize_constants(much.data, much.count, &info, &out, &error));
    assert_true(out.words.count > 0 || out.cycles_before - out.cycles_after <= 25);
    pm_specialized_constants_finish(&out);
    pm_words_finish(&much);
}

/* A loop that turns not once is gone. */
static void test_no_turns(void **state)
{
    (void)state;
    static const char body[] = LOAD_PUSH_UINT(
        "n", "%u0") "OpBranch %h\n%h = OpLabel\n"
                    "%i = OpPhi %uint %u0 %begin %i1 %c\n%sum = OpPhi %float %v0 %begin %sum1 %c\n"
                    "%go = OpULessThan %bool %i %n\n"
                    "OpLoopMerge %m %c None\nOpBranchConditional %go %b %m\n"
                    "%b = OpLabel\n" WORK "%sum1 = OpFAdd %float %sum %x8\nOpBranch %c\n"
                    "%c = OpLabel\n%i1 = OpIAdd %uint %i %u1\nOpBranch %h\n"
                    "%m = OpLabel\n%result = OpFAdd %float %sum %f1\n";
    const struct pm_constant_known none = push(0, 0), two = push(0, 2);
    struct pm_specialized_constants out = specialize(body, &none, 1);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 0);
    assert_int_equal(pm_test_count(&out.words, "OpLoopMerge"), 0);
    assert_true(out.cycles_after < out.cycles_before - 8);
    pm_specialized_constants_finish(&out);
    /* The compiler sees the number of turns: nothing in the loop is inexact arithmetic of it. */
    out = specialize(body, &two, 1);
    assert_int_equal(pm_test_count(&out.words, "PushConstant"), 0);
    assert_int_equal(pm_test_count(&out.words, "OpLoopMerge"), 1);
    pm_specialized_constants_finish(&out);
}

/* A compiler that unrolls a loop would fold what is computed of its counter otherwise than the
 * device: the number of turns stays hidden. */
static void test_hidden_turns(void **state)
{
    (void)state;
    static const char body[] = LOAD_PUSH_UINT("n", "%u0") LOAD_PUSH_UINT(
        "mode",
        "%u1") "OpBranch %h\n%h = OpLabel\n"
               "%i = OpPhi %uint %u0 %begin %i1 %c\n%sum = OpPhi %float %v0 %begin %sum1 %c\n"
               "%go = OpULessThan %bool %i %n\n"
               "OpLoopMerge %m %c None\nOpBranchConditional %go %b %m\n"
               "%b = OpLabel\n%f = OpConvertUToF %float %i\n%e = OpExtInst %float %glsl Exp2 %f\n"
               "%sum1 = OpFAdd %float %sum %e\nOpBranch %c\n"
               "%c = OpLabel\n%i1 = OpIAdd %uint %i %u1\nOpBranch %h\n"
               "%m = OpLabel\n%on = OpIEqual %bool %mode %u3\n"
               "%result = OpSelect %float %on %sum %f1\n";
    const struct pm_constant_known known[] = {push(0, 5), push(4, 3)};
    struct pm_specialized_constants out = specialize(body, known, 2);
    assert_int_equal(pm_test_count(&out.words, "OpSelect "), 0);
    assert_int_equal(pm_test_count(&out.words, "OpULessThan"), 1);
    assert_int_equal(pm_test_count(&out.words, "OpBitwiseOr %uint %uint_5 "), 1);
    assert_int_equal(pm_test_count(&out.words, "%uint_5"), 2);
    pm_specialized_constants_finish(&out);
}

/* How many constants are hidden of a loop of two turns, in which a branch is gone for the known
 * word. way: what the branch does; made: what comes of the float that begins with 7. */
static int hidden_of_loop(const char *way, const char *made)
{
    static const char before[] =
        LOAD_PUSH_UINT("mode", "%u0") "%on = OpIEqual %bool %mode %u3\nOpBranch %h\n"
                                      "%h = OpLabel\n"
                                      "%i = OpPhi %uint %u0 %begin %i1 %c\n"
                                      "%x = OpPhi %float %f7 %begin %x1 %c\n"
                                      "OpLoopMerge %m %c None\nOpBranch %b\n"
                                      "%b = OpLabel\n"
                                      "OpSelectionMerge %n None\nOpBranchConditional %on %t %n\n"
                                      "%t = OpLabel\n";
    static const char behind[] = "OpBranch %c\n"
                                 "%c = OpLabel\n%i1 = OpIAdd %uint %i %u1\n"
                                 "%go = OpULessThan %bool %i1 %u2\n"
                                 "OpBranchConditional %go %h %m\n"
                                 "%m = OpLabel\n%result = OpFAdd %float %x1 %v0\n";
    const struct pm_constant_known other = push(0, 4);
    char body[2048];
    snprintf(body, sizeof(body), "%s%s%%n = OpLabel\n%s%s", before, way, made, behind);
    struct pm_specialized_constants out = specialize(body, &other, 1);
    assert_int_equal(pm_test_count(&out.words, "OpBranchConditional"), 1);
    const int hidden = pm_test_count(&out.words, "OpBitwiseOr %uint");
    pm_specialized_constants_finish(&out);
    return hidden;
}

/* Without the return a compiler may unroll the loop, and fold what the float that begins with a
 * literal is an operand of: its turns are hidden, though what counts them is as it was. */
static void test_turns_without_return(void **state)
{
    (void)state;
    static const char log[] = "%l = OpExtInst %float %glsl Log %x\n"
                              "%x1 = OpFAdd %float %l %v0\n";
    static const char sum[] = "%x1 = OpFAdd %float %x %v0\n";
    static const char store[] = "%p2 = OpAccessChain %element %out %u0 %at\n"
                                "OpStore %p2 %v0\nOpBranch %n\n";
    assert_int_equal(hidden_of_loop("OpReturn\n", log), 2);
    assert_int_equal(hidden_of_loop("OpReturn\n", sum), 0);
    assert_int_equal(hidden_of_loop(store, log), 0);
}

/* Floats stay for the device to compute; a comparison of one is known, x * 1 is x, 0 * x is 0. */
static void test_floats(void **state)
{
    (void)state;
    static const char body[] = LOAD_PUSH_FLOAT("a", "%u2")
        LOAD_PUSH_FLOAT("b", "%u3") "%on = OpFOrdGreaterThan %bool %a %f1\n"
                                    "%s = OpExtInst %float %glsl Sin %a\n"
                                    "%chosen = OpSelect %float %on %s %v1\n" WORK
                                    "%p = OpFMul %float %x8 %b\n%q = OpFAdd %float %p %v0\n"
                                    "%result = OpFAdd %float %q %chosen\n";
    const struct pm_constant_known zero[] = {push(8, 0x40000000), push(12, 0)};
    struct pm_specialized_constants out = specialize(body, zero, 2);
    /* 2 is above 1; its sine is not folded, nor is 2 in the module; the product is gone. */
    assert_int_equal(pm_test_count(&out.words, "OpSelect "), 0);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 1);
    assert_int_equal(pm_test_count(&out.words, "OpFMul"), 0);
    assert_int_equal(pm_test_count(&out.words, "OpConstant %float 2"), 0);

    /* -0 + 0 is +0: the sum stays, with a zero that no compiler sees. */
    assert_int_equal(pm_test_count(&out.words, "OpFAdd"), 2);
    assert_int_equal(pm_test_count(&out.words, "OpBitwiseOr"), 1);
    pm_specialized_constants_finish(&out);
    const struct pm_constant_known one[] = {push(12, 0x3f800000)};
    out = specialize(body, one, 1);
    assert_int_equal(pm_test_count(&out.words, "OpFMul"), 0);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 5);
    pm_specialized_constants_finish(&out);
}

/* What a device might see otherwise than its bits say tells nothing. */
static void test_unusual_floats(void **state)
{
    (void)state;
    static const char body[] = LOAD_PUSH_FLOAT(
        "a", "%u2") "%on = OpFOrdGreaterThan %bool %a %f0\n%result = OpSelect %float %on %v0 %v1\n";
    static const uint32_t unusual[] = {1, 0x807fffff, 0x7f800000, 0x7fc00000};
    for (int i = 0; i < 4; i++) {
        const struct pm_constant_known known = push(8, unusual[i]);
        struct pm_specialized_constants out = specialize(body, &known, 1);
        assert_int_equal(out.words.count, 0);
        pm_specialized_constants_finish(&out);
    }
}

/* An integer that a float is made of is a constant that no compiler sees, and one elsewhere. */
static void test_made_floats(void **state)
{
    (void)state;
    const struct pm_constant_known known = push(0, 5);
    struct pm_specialized_constants out =
        specialize(LOAD_PUSH_UINT("k", "%u0") "%t = OpIMul %uint %k %u3\n"
                                              "%f = OpConvertUToF %float %t\n"
                                              "%r = OpUMod %uint %at %k\n"
                                              "%g = OpConvertUToF %float %r\n"
                                              "%result = OpFAdd %float %f %g\n",
                   &known, 1);
    assert_int_equal(pm_test_count(&out.words, "OpUMod %uint %"), 1);
    assert_int_equal(pm_test_count(&out.words, "OpIMul"), 0);
    assert_int_equal(pm_test_count(&out.words, "OpBitwiseOr %uint %uint_15 "), 1);
    assert_int_equal(pm_test_count(&out.words, "OpConvertUToF %float %uint_15"), 0);
    pm_specialized_constants_finish(&out);
}

/* Nor is a float that a branch chooses. */
static void test_chosen_floats(void **state)
{
    (void)state;
    const struct pm_constant_known known = push(0, 5);
    struct pm_specialized_constants out = specialize(
        LOAD_PUSH_UINT("k", "%u0") "%on = OpIEqual %bool %k %u5\n"
                                   "OpSelectionMerge %m None\n"
                                   "OpBranchConditional %on %t %f\n"
                                   "%t = OpLabel\nOpBranch %m\n%f = OpLabel\nOpBranch %m\n"
                                   "%m = OpLabel\n%c = OpPhi %float %f7 %t %f1 %f\n"
                                   "%d = OpSelect %float %on %f1 %f7\n"
                                   "%s = OpExtInst %float %glsl Sin %c\n"
                                   "%e = OpExtInst %float %glsl Exp2 %d\n"
                                   "%a = OpFAdd %float %s %e\n"
                                   "%result = OpFAdd %float %v0 %a\n",
        &known, 1);
    assert_int_equal(pm_test_count(&out.words, "OpPhi"), 0);
    assert_int_equal(pm_test_count(&out.words, "OpSelect "), 0);
    assert_int_equal(pm_test_count(&out.words, " Sin %float_7"), 0);
    assert_int_equal(pm_test_count(&out.words, " Exp2 %float_1"), 0);
    assert_int_equal(pm_test_count(&out.words, "OpBitwiseOr"), 2);
    pm_specialized_constants_finish(&out);
}

/* Words of uniform buffers are compared first; what else runs is the original. */
static void test_guard(void **state)
{
    (void)state;
    static const char body[] = LOAD_UNIFORM_UINT(
        "mode", "%u3") "%p = OpAccessChain %uniform_v4 %uniform %u1 %u2 %u1\n%v = OpLoad %v4 %p\n"
                       "%y = OpCompositeExtract %float %v 1\n"
                       "%on = OpIEqual %bool %mode %u3\n"
                       "OpSelectionMerge %m None\nOpBranchConditional %on %t %m\n"
                       "%t = OpLabel\n" WORK "OpBranch %m\n"
                       "%m = OpLabel\n%r = OpPhi %float %v0 %begin %x8 %t\n"
                       "%result = OpFMul %float %r %y\n";
    const struct pm_constant_known known[] = {uniform(224, 0),
                                              uniform(64 + 64 + 16 + 4, 0x3f800000)};
    struct pm_specialized_constants out = specialize(body, known, 2);
    assert_int_equal(out.guarded, 2);
    /* The body's, and one comparison for both words. */
    assert_int_equal(pm_test_count(&out.words, "OpIEqual"), 2);
    assert_int_equal(pm_test_count(&out.words, "OpBitwiseOr"), 1);
    assert_int_equal(pm_test_count(&out.words, "OpBranchConditional"), 2);
    assert_int_equal(pm_test_count(&out.words, "OpFMul"), 1);
    assert_int_equal(pm_test_count(&out.words, "OpStore"), 2);
    assert_int_equal(pm_test_count(&out.words, "OpReturn\n"), 1);
    pm_specialized_constants_finish(&out);
}

/* Beside a guard there are two versions of one function. */
static void test_guard_and_functions(void **state)
{
    (void)state;
    struct pm_error error = {0};
    struct pm_specialized_constants out;
    const struct pm_constant_known known = uniform(224, 0);
    const struct pm_specialize_constants_info info = {
        .known = &known, .known_count = 1, .target = target, .take_all = true};
    struct pm_words words = constant_subject_with(
        LOAD_UNIFORM_UINT("mode", "%u3") "%called = OpFunctionCall %void %other\n"
                                         "%f = OpConvertUToF %float %mode\n"
                                         "%result = OpFMul %float %f %v0\n",
        "%other = OpFunction %void DontInline %function\n%first = OpLabel\n"
        "%o1 = OpAccessChain %element %out %u0 %u0\nOpStore %o1 %f0\nOpReturn\nOpFunctionEnd\n");
    assert_false(pm_specialize_constants(words.data, words.count, &info, &out, &error));
    assert_int_equal(error.code, PM_ERROR_UNSUPPORTED);
    pm_words_finish(&words);
}

/* Zeroes by a profile of the original, on what is left. */
static void test_zeroes(void **state)
{
    (void)state;
    static const char body[] = LOAD_UNIFORM_UINT(
        "mode", "%u3") "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                       "%on = OpIEqual %bool %mode %u3\n"
                       "OpSelectionMerge %m None\nOpBranchConditional %on %t %m\n"
                       "%t = OpLabel\n" WORK2 "OpBranch %m\n"
                       "%m = OpLabel\n%r = OpPhi %float %v0 %begin %y8 %t\n" WORK
                       "%z = OpFMul %float %x8 %w\n%result = OpFAdd %float %z %r\n";
    struct pm_words words = constant_subject(body);
    struct pm_zero_points points;
    struct pm_error error = {0};
    assert_true(pm_zero_candidates(words.data, words.count, &points, &error));
    double zero[64];
    assert_in_range(points.count, 1, 64);
    for (uint32_t i = 0; i < points.count; i++)
        zero[i] = points.candidates[i].is_float ? 0.9 : 0;
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = points.count};
    const struct pm_specialize_zero_info zeroes = {
        .profile = &profile, .zeros = &points, .most_transforms = 1};
    const struct pm_constant_known known = uniform(224, 0);
    const struct pm_specialize_constants_info info = {
        .known = &known, .known_count = 1, .target = target, .take_all = true, .zero = &zeroes};
    struct pm_specialized_constants out;
    if (!pm_specialize_constants(words.data, words.count, &info, &out, &error))
        fail_msg("%s", error.message);
    if (out.transforms != 1)
        fail_msg("%s", out.zero_report);
    assert_non_null(out.zero_report);
    assert_int_equal(out.guarded, 1);
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniformAll"), 1);
    pm_specialized_constants_finish(&out);
    const struct pm_zero_profile wrong = {.zero = zero, .candidate_count = points.count + 1};
    struct pm_specialize_zero_info bad = zeroes;
    bad.profile = &wrong;
    struct pm_specialize_constants_info bad_info = info;
    bad_info.zero = &bad;
    assert_false(pm_specialize_constants(words.data, words.count, &bad_info, &out, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    pm_zero_points_finish(&points);
    pm_words_finish(&words);
}

static void test_bad_input(void **state)
{
    (void)state;
    struct pm_words words = constant_subject(BRANCH);
    const struct pm_constant_known none = push(12, 0), other = uniform(224, 0);
    const struct pm_constant_known twice[] = {push(0, 1), push(0, 2)};
    const struct {
        const struct pm_constant_known *known;
        uint32_t count;
        const char *message;
    } bad[] = {{&none, 1, "byte 12 of the push constants is none that the shader loads"},
               {&other, 1, "byte 224 of uniform buffer 0.9 is none that the shader loads"},
               {twice, 2, "byte 0 of the push constants is there twice"}};
    for (int i = 0; i < 3; i++) {
        struct pm_specialized_constants out;
        struct pm_error error = {0};
        const struct pm_specialize_constants_info info = {
            .known = bad[i].known, .known_count = bad[i].count, .target = target};
        assert_false(pm_specialize_constants(words.data, words.count, &info, &out, &error));
        assert_int_equal(error.code, PM_ERROR_INPUT);
        if (!strstr(error.message, bad[i].message))
            fail_msg("%s", error.message);
    }
    pm_words_finish(&words);
    words = constant_subject(
        "%on = OpFOrdGreaterThan %bool %v0 %f1\n"
        "OpSelectionMerge %m None\nOpBranchConditional %on %t %m\n"
        "%t = OpLabel\n" LOAD_UNIFORM_UINT(
            "mode", "%u3") "%f = OpConvertUToF %float %mode\n"
                           "OpBranch %m\n"
                           "%m = OpLabel\n%result = OpPhi %float %v0 %begin %f %t\n");
    struct pm_specialized_constants out;
    struct pm_error error = {0};
    const struct pm_specialize_constants_info info = {
        .known = &other, .known_count = 1, .target = target};
    assert_false(pm_specialize_constants(words.data, words.count, &info, &out, &error));
    assert_non_null(strstr(error.message, "is not loaded on every path"));
    /* Unless whoever asks knows that it may be read all the same. */
    const struct pm_constant_known anywhere = {other.point, other.value, true};
    const struct pm_specialize_constants_info allowed = {
        .known = &anywhere, .known_count = 1, .target = target, .take_all = true};
    if (!pm_specialize_constants(words.data, words.count, &allowed, &out, &error))
        fail_msg("%s", error.message);
    assert_int_equal(out.guarded, 1);
    pm_specialized_constants_finish(&out);
    pm_words_finish(&words);
    pm_specialized_constants_finish(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branch),
        cmocka_unit_test(test_worth),
        cmocka_unit_test(test_no_turns),
        cmocka_unit_test(test_hidden_turns),
        cmocka_unit_test(test_turns_without_return),
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_unusual_floats),
        cmocka_unit_test(test_made_floats),
        cmocka_unit_test(test_chosen_floats),
        cmocka_unit_test(test_guard),
        cmocka_unit_test(test_guard_and_functions),
        cmocka_unit_test(test_zeroes),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
