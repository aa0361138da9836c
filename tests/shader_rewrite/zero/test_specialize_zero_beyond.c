/* What specialize_zero does beyond AZP when told to. That its modules compute the same is tested on
 * drivers (test_differential, half of the seeds with each). */
#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/ir/ir_module.h"
#include "tests/shader_rewrite/spirv_text.h"
#include "tests/shader_rewrite/zero/specialize_subject.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

enum { GLSL_FMIN = 37, GLSL_FMAX = 40 };

/* A selection that has nothing to do with %w and cannot be left out. */
#define SELECTION(n)                                                                               \
    "OpSelectionMerge %m" #n " None\nOpBranchConditional %c %t" #n " %m" #n "\n%t" #n              \
    " = OpLabel\n%s" #n " = OpExtInst %float %glsl Sin %v1\nOpStore %o1 %s" #n "\nOpBranch %m" #n  \
    "\n%m" #n " = OpLabel\n"
#define SELECTIONS                                                                                 \
    SELECTION(0)                                                                                   \
    SELECTION(1)                                                                                   \
    SELECTION(2)                                                                                   \
    SELECTION(3) SELECTION(4) SELECTION(5) SELECTION(6) SELECTION(7) SELECTION(8) SELECTION(9)
#define BEGIN                                                                                      \
    "%c = OpFOrdLessThan %bool %v1 %f1\n%o1 = OpAccessChain %element %out %u0 %u1\n"               \
    "%o2 = OpAccessChain %element %out %u0 %u2\n"
#define CANDIDATE "%w = OpExtInst %float %glsl FMax %v0 %f0\n"
#define WORK                                                                                       \
    "%work1 = OpExtInst %float %glsl Cos %v1\n%work2 = OpExtInst %float %glsl Exp2 %work1\n"

/* Specializes for %w, which is zero nine times of ten. */
static struct pm_specialized specialize(const char *body, struct pm_zero_beyond beyond,
                                        double *blocks)
{
    struct subject s = subject_assemble("", "", "", body);
    uint32_t w = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    struct pm_costs costs = *pm_costs_of(0);
    costs.cycles[PM_COST_TRANSCENDENTAL] = 40;
    info.costs = &costs;
    info.beyond = beyond;
    s.zero[w] = 0.9;
    struct pm_specialized out = subject_specialize(&s, &info);
    cJSON *root;
    *blocks = subject_number(subject_report(&out, w, &root), "blocks_S");
    cJSON_Delete(root);
    subject_finish(&s);
    return out;
}

/* One that only the option makes worthwhile, with a single block. */
static struct pm_specialized only_with(const char *body, struct pm_zero_beyond beyond)
{
    double blocks;
    struct pm_specialized out = specialize(body, (struct pm_zero_beyond){0}, &blocks);
    assert_int_equal(out.transforms, 0);
    pm_specialized_finish(&out);
    out = specialize(body, beyond, &blocks);
    assert_int_equal(out.transforms, 1);
    assert_true(blocks == 1);
    return out;
}

/* The value's last use is far behind the one that pays: the region need not go there. */
static void test_end(void **state)
{
    (void)state;
    struct pm_specialized out =
        only_with(BEGIN CANDIDATE WORK "%r = OpFMul %float %work2 %w\nOpStore %o2 %r\n" SELECTIONS
                                       "%result = OpFAdd %float %w %f7\n",
                  (struct pm_zero_beyond){.fit_regions = true});
    assert_int_equal(pm_test_count(&out.words, " Cos "), 1);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 10);
    pm_specialized_finish(&out);
}

/* Its first use is far behind itself: the check need not come before. */
static void test_start(void **state)
{
    (void)state;
    struct pm_specialized out =
        only_with(BEGIN CANDIDATE SELECTIONS WORK "%result = OpFMul %float %work2 %w\n",
                  (struct pm_zero_beyond){.fit_regions = true});
    assert_int_equal(pm_test_count(&out.words, " Cos "), 1);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 10);
    pm_specialized_finish(&out);
}

/* What is only used times the value is computed in a selection before it, but what the value
 * depends on was there before that. */
#define BEHIND(candidate)                                                                          \
    BEGIN "OpSelectionMerge %m None\nOpBranchConditional %c %t %m\n%t = OpLabel\n" WORK            \
          "OpBranch %m\n%m = OpLabel\n%p = OpPhi %float %f1 %entry %work2 %t\n" candidate          \
          "%result = OpFMul %float %p %w\n"

static void test_hoist(void **state)
{
    (void)state;
    struct pm_specialized out =
        only_with(BEHIND(CANDIDATE), (struct pm_zero_beyond){.hoist_across = true});
    /* The candidate is there once, before all branches. */
    char *text = pm_test_disassemble(&out.words);
    assert_int_equal(pm_test_count(&out.words, " FMax "), 1);
    assert_true(strstr(text, " FMax ") < strstr(text, "OpSelectionMerge"));
    assert_int_equal(pm_test_count(&out.words, " Cos "), 1);
    free(text);
    pm_specialized_finish(&out);
}

static void assert_stays(const char *body)
{
    double blocks;
    struct pm_specialized out =
        specialize(body, (struct pm_zero_beyond){.hoist_across = true}, &blocks);
    assert_int_equal(out.transforms, 0);
    pm_specialized_finish(&out);
}

/* What the candidate needs is in a block between, and goes along. */
static void test_hoist_far(void **state)
{
    (void)state;
    double blocks;
    struct pm_specialized out = specialize(
        BEGIN "OpSelectionMerge %m None\nOpBranchConditional %c %t %m\n%t = OpLabel\n" WORK
              "OpBranch %m\n%m = OpLabel\n%p = OpPhi %float %f1 %entry %work2 %t\n"
              "%q = OpFAdd %float %v0 %v0\n" SELECTION(0)
                  SELECTION(1) "%w = OpExtInst %float %glsl FMax %q %f0\n"
                               "%result = OpFMul %float %p %w\n",
        (struct pm_zero_beyond){.hoist_across = true}, &blocks);
    assert_int_equal(out.transforms, 1);
    char *text = pm_test_disassemble(&out.words);
    assert_int_equal(pm_test_count(&out.words, " FMax "), 1);
    assert_true(strstr(text, " FMax ") < strstr(text, "OpSelectionMerge"));
    free(text);
    pm_specialized_finish(&out);
}

/* What needs something from in between, reads memory or may trap stays where it is. */
static void test_not_hoisted(void **state)
{
    (void)state;
    assert_stays(BEHIND("%w = OpExtInst %float %glsl FMax %p %f0\n"));
    assert_stays(BEHIND("%x = OpLoad %float %p0\n%w = OpExtInst %float %glsl FMax %x %f0\n"));
    assert_stays(BEHIND("%i = OpUDiv %uint %u3 %at\n%f = OpConvertUToF %float %i\n"
                        "%w = OpExtInst %float %glsl FMax %f %f0\n"));
}

/* Two candidates that save as much each, both zero this often; the other of the first's pair. */
static int pair_of(double zero, uint32_t *second, struct pm_specialized *out)
{
    struct subject s = subject_assemble(
        "", "", "",
        "%a = OpExtInst %float %glsl FMax %v0 %f0\n%b = OpExtInst %float %glsl FMin %v0 %f0\n"
        "%work1 = OpExtInst %float %glsl Cos %v1\n%work2 = OpExtInst %float %glsl Sin %v1\n"
        "%r1 = OpFMul %float %work1 %a\n%r2 = OpFMul %float %work2 %b\n"
        "%result = OpFAdd %float %r1 %r2\n");
    uint32_t a = subject_candidate(&s, SpvOpExtInst, GLSL_FMAX);
    *second = subject_candidate(&s, SpvOpExtInst, GLSL_FMIN);
    struct pm_zero_profile profile;
    struct pm_specialize_zero_info info = subject_info(&s, &profile);
    struct pm_costs costs = *pm_costs_of(0);
    costs.cycles[PM_COST_TRANSCENDENTAL] = 80;
    info.costs = &costs;
    info.beyond.pairs = true;
    info.most_transforms = 1;
    s.zero[a] = s.zero[*second] = zero;
    *out = subject_specialize(&s, &info);
    cJSON *root;
    const cJSON *with = cJSON_GetObjectItem(subject_report(out, a, &root), "with");
    int other = with ? (int)with->valuedouble : -1;
    cJSON_Delete(root);
    subject_finish(&s);
    return other;
}

static void test_pair(void **state)
{
    (void)state;
    struct pm_specialized out;
    uint32_t second;
    /* Both are zero at least 0.8 of the time: one check for both, and S has neither's work. */
    int other = pair_of(0.9, &second, &out);
    assert_int_equal(other, second);
    assert_int_equal(out.transforms, 1);
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniformAll "), 1);
    assert_int_equal(pm_test_count(&out.words, "OpLogicalAnd "), 1);
    assert_int_equal(pm_test_count(&out.words, " Cos "), 1);
    assert_int_equal(pm_test_count(&out.words, " Sin "), 1);
    pm_specialized_finish(&out);
    /* At least 0.2: nobody knows whether that is enough. */
    assert_int_equal(pair_of(0.6, &second, &out), -1);
    assert_int_equal(out.transforms, 1);
    assert_int_equal(pm_test_count(&out.words, "OpLogicalAnd "), 0);
    pm_specialized_finish(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end),         cmocka_unit_test(test_start),
        cmocka_unit_test(test_hoist),       cmocka_unit_test(test_hoist_far),
        cmocka_unit_test(test_not_hoisted), cmocka_unit_test(test_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
