/* The later rounds of specialize_zero: values that a transform leaves in S, in R and behind both
 * are candidates there, with what the check says of how often they are zero. */
#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/zero/specialize_subject.h"

#include <math.h>

#include "tests/cmocka_includes.h"

enum { GLSL_FMIN = 37, GLSL_FMAX = 40 };

/* %a kills two special functions, and so do other values. */
#define A                                                                                          \
    "%a = OpExtInst %float %glsl FMax %v0 %f0\n"                                                   \
    "%s1 = OpExtInst %float %glsl Sin %v1\n%s2 = OpExtInst %float %glsl Sin %s1\n"                 \
    "%pa = OpFMul %float %s2 %a\n"
#define WORK                                                                                       \
    "%work1 = OpExtInst %float %glsl Cos %v1\n%work2 = OpExtInst %float %glsl Exp2 %work1\n"

static struct pm_specialized specialize(struct subject *s, bool take_all)
{
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(s, &profile);
    struct pm_costs costs = *pm_costs_of(0);
    costs.cycles[PM_COST_TRANSCENDENTAL] = 80;
    info.costs = &costs;
    info.take_all = take_all;
    return subject_specialize(s, &info);
}

/* The report's first copy of a candidate after number `from`; NULL: none. */
static const cJSON *copy_of(const cJSON *root, uint32_t of, int from)
{
    const cJSON *c;
    cJSON_ArrayForEach(c, cJSON_GetObjectItem(root, "candidates"))
    {
        const cJSON *origin = cJSON_GetObjectItem(c, "copy_of");
        if (origin && origin->valuedouble == of && from-- == 0)
            return c;
    }
    return NULL;
}

/* %b is written in %a's region, and S still computes it. */
static void test_copy(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "",
                                        A "%x = OpFAdd %float %pa %v1\n"
                                          "%b = OpExtInst %float %glsl FMin %x %f7\n" WORK
                                          "%r = OpFMul %float %work2 %b\n"
                                          "%result = OpFAdd %float %r %pa\n");
    uint32_t a = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    uint32_t b = subject_candidate(&s, SpvOpExtInst, GLSL_FMIN);
    s.zero[a] = 0.95;
    s.zero[b] = 0.9;
    struct pm_specialized out = specialize(&s, false);
    assert_int_equal(out.transforms, 2);
    /* S has no %a and in it one way no %b, R has both. */
    assert_int_equal(pm_test_count(&out.words, " Sin "), 2);
    assert_int_equal(pm_test_count(&out.words, " Exp2 "), 2);
    cJSON *root;
    assert_int_equal(subject_number(subject_report(&out, a, &root), "taken"), 1);
    const cJSON *copy = copy_of(root, b, 0);
    assert_non_null(copy);
    assert_int_equal(subject_number(copy, "taken"), 2);
    /* What it saves is only saved where S is. */
    assert_true(subject_number(copy, "saved") < 0.95 * 0.9 * 160);
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* A copy of a copy: of three values each is tested where the others were zero. */
static void test_copy_of_copy(void **state)
{
    (void)state;
    struct subject s = subject_assemble(
        "", "", "",
        A "%x = OpFAdd %float %pa %v1\n%b = OpExtInst %float %glsl FMin %x %f7\n" WORK
          "%r = OpFMul %float %work2 %b\n%y = OpFAdd %float %r %x\n"
          "%c = OpExtInst %float %glsl FAbs %y\n"
          "%more1 = OpExtInst %float %glsl Tan %v1\n%more2 = OpExtInst %float %glsl Tan %more1\n"
          "%t = OpFMul %float %more2 %c\n%sum = OpFAdd %float %t %pa\n"
          "%result = OpFAdd %float %r %sum\n");
    enum { GLSL_FABS = 4 };
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 0.95;
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMIN)] = 0.95;
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FABS)] = 0.9;
    struct pm_specialized out = specialize(&s, false);
    assert_int_equal(out.transforms, 3);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* %b is written in the region, but what it kills is behind it. */
static void test_behind(void **state)
{
    (void)state;
    struct subject s = subject_assemble(
        "", "", "",
        "%o1 = OpAccessChain %element %out %u0 %u1\n" A "%x = OpFAdd %float %pa %v1\n"
        "%b = OpExtInst %float %glsl FMin %x %f7\n"
        "%p3 = OpExtInst %float %glsl Sin %b\n"
        "%s = OpFMul %float %p3 %a\nOpStore %o1 %s\n" WORK "%result = OpFMul %float %work2 %b\n");
    uint32_t b = subject_candidate(&s, SpvOpExtInst, GLSL_FMIN);
    s.zero[subject_candidate(&s, SpvOpExtInst, GLSL_FMAX)] = 0.95;
    s.zero[b] = 0.9;
    struct pm_specialized out = specialize(&s, false);
    assert_int_equal(out.transforms, 2);
    cJSON *root;
    subject_report(&out, b, &root);
    bool taken = false;
    const cJSON *copy;
    for (int i = 0; (copy = copy_of(root, b, i)); i++)
        taken = taken || subject_number(copy, "taken") == 2;
    assert_true(taken);
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* What follows from the check is zero in R only where it was zero beside it. */
static void test_follows(void **state)
{
    (void)state;
    struct subject s = subject_assemble("", "", "",
                                        A "%s = OpExtInst %float %glsl Sin %pa\n" WORK
                                          "%r = OpFMul %float %work2 %pa\n"
                                          "%result = OpFAdd %float %r %s\n");
    uint32_t a = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    uint32_t pa = subject_candidate(&s, SpvOpFMul, 0);
    s.zero[a] = 0.6;
    s.zero[pa] = 0.8;
    struct pm_specialized out = specialize(&s, false);
    cJSON *root;
    const cJSON *c = subject_report(&out, pa, &root);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "candidates"), (int)a);
    assert_true(out.transforms >= 1);
    assert_int_equal(subject_number(first, "taken"), 1);
    assert_true(fabs(subject_number(c, "P(zero) now") - 0.5) < 1e-9);
    assert_null(copy_of(root, pa, 0));
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

/* What the check follows from is never zero in R, and so much oftener in S. */
static void test_leads(void **state)
{
    (void)state;
    struct subject s = subject_assemble(
        "", "", "",
        A "%x = OpFAdd %float %pa %v1\n%w = OpCompositeConstruct %v2 %a %x\n" WORK
          "%works = OpCompositeConstruct %v2 %work2 %work1\n%r = OpFMul %v2 %works %w\n"
          "%r1 = OpCompositeExtract %float %r 0\n%r2 = OpCompositeExtract %float %r 1\n"
          "%result = OpFAdd %float %r1 %r2\n");
    uint32_t a = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    uint32_t w = subject_candidate(&s, SpvOpCompositeConstruct, 0);
    s.zero[a] = 0.8;
    s.zero[w] = 0.6;
    struct pm_specialized out = specialize(&s, true);
    cJSON *root;
    const cJSON *c = subject_report(&out, w, &root);
    assert_true(subject_number(c, "P(zero) now") == 0);
    assert_non_null(cJSON_GetObjectItem(c, "reason"));
    const cJSON *copy = copy_of(root, w, 0);
    assert_non_null(copy);
    assert_true(fabs(subject_number(copy, "P(zero)") - 0.75) < 1e-9);
    cJSON_Delete(root);
    pm_specialized_finish(&out);
    subject_finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),   cmocka_unit_test(test_copy_of_copy),
        cmocka_unit_test(test_behind), cmocka_unit_test(test_follows),
        cmocka_unit_test(test_leads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
