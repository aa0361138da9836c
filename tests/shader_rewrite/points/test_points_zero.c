/* Which candidates are points: those that could be worth it. That nothing is lost by it is
 * points_lost's to show. */
#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/zero/specialize_subject.h"

#include "tests/cmocka_includes.h"

enum { GLSL_FABS = 4, GLSL_FMAX = 40 };

#define WORK                                                                                       \
    "%x1 = OpExtInst %float %glsl Sin %v1\n%x2 = OpExtInst %float %glsl Exp2 %x1\n"                \
    "%x3 = OpExtInst %float %glsl Cos %x2\n%x4 = OpExtInst %float %glsl Log2 %x3\n"                \
    "%x5 = OpExtInst %float %glsl Sin %x4\n%x6 = OpExtInst %float %glsl Exp2 %x5\n"                \
    "%x7 = OpExtInst %float %glsl Cos %x6\n%x8 = OpExtInst %float %glsl Sin %x7\n"

/* The points of a shader; all others are said to be left out. */
static struct pm_zero_points points_of(const struct subject *s)
{
    struct pm_zero_points points;
    struct pm_error error = {0};
    if (!pm_points_zero(s->words.data, s->words.count, &points, &error))
        fail_msg("%s", error.message);
    assert_int_equal(points.count + points.left_out, s->points.count);
    return points;
}

static bool has(const struct pm_zero_points *points, uint32_t value)
{
    for (uint32_t i = 0; i < points->count; i++)
        if (points->candidates[i].values[0] == value)
            return true;
    return false;
}

static void test_nothing_worth_it(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "",
                                        "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
                                        "%result = OpFMul %float %w %v1\n");
    struct pm_zero_points points = points_of(&s);
    assert_int_equal(points.count, 0);
    pm_zero_points_finish(&points);
    subject_finish(&s);
}

/* What makes work needless is a point; what does not is none. */
static void test_worth_it(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "",
                                        "%w = OpExtInst %float %glsl FMax %v0 %f0\n" WORK
                                        "%r = OpFMul %float %x8 %w\n"
                                        "%result = OpFAdd %float %r %f7\n");
    uint32_t w = s.points.candidates[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)].values[0];
    uint32_t sum = s.points.candidates[subject_candidate(&s, SpvOpFAdd, 0)].values[0];
    struct pm_zero_points points = points_of(&s);
    assert_true(has(&points, w));
    assert_false(has(&points, sum));
    pm_zero_points_finish(&points);
    subject_finish(&s);
}

/* Of v / |v| two components are 0 where two of v are, but NaN where v is 0: then a value saves more
 * with fewer zeroes. */
static void test_quotients(void **state)
{
    (void)state;
    struct subject s = subject_assemble(
        "", "", "",
        "%v = OpCompositeConstruct %v4 %v0 %v1 %v0 %v1\n%w = OpExtInst %v4 %glsl FAbs %v\n"
        "%a = OpCompositeExtract %float %w 0\n%b = OpCompositeExtract %float %w 1\n"
        "%l = OpExtInst %float %glsl Length %w\n%p = OpFDiv %float %a %l\n"
        "%q = OpFDiv %float %b %l\n" WORK "%pq = OpFAdd %float %p %q\n"
        "%r = OpFMul %float %x8 %pq\n%result = OpFAdd %float %r %l\n");
    const uint32_t w =
        s.points.candidates[subject_candidate(&s, SpvOpExtInst, GLSL_FABS)].values[0];
    struct pm_zero_points points = points_of(&s);
    bool two = false;
    for (uint32_t i = 0; i < points.count; i++)
        two = two || (points.candidates[i].values[0] == w && points.candidates[i].components == 2);
    assert_true(two);
    pm_zero_points_finish(&points);
    subject_finish(&s);
}

/* Of what is told, all are given back; else they are found once more. */
static void test_given(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "",
                                        "%w = OpExtInst %float %glsl FMax %v0 %f0\n" WORK
                                        "%r = OpFMul %float %x8 %w\n"
                                        "%result = OpFAdd %float %r %f7\n");
    struct pm_zero_points found = points_of(&s), given;
    struct pm_error error = {0};
    assert_true(pm_points_zero_given(s.words.data, s.words.count, &found, false, &given, &error));
    assert_int_equal(given.count, found.count);
    assert_int_equal(given.left_out, found.left_out);
    assert_ptr_not_equal(given.candidates, found.candidates);
    pm_zero_points_finish(&given);
    assert_true(pm_points_zero_given(s.words.data, s.words.count, NULL, false, &given, &error));
    assert_int_equal(given.count, found.count);
    pm_zero_points_finish(&given);
    assert_true(pm_points_zero_given(s.words.data, s.words.count, NULL, true, &given, &error));
    assert_int_equal(given.count, s.points.count);
    pm_zero_points_finish(&given);
    pm_zero_points_finish(&found);
    subject_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_worth_it),
        cmocka_unit_test(test_worth_it),
        cmocka_unit_test(test_quotients),
        cmocka_unit_test(test_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
