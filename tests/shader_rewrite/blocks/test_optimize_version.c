/* Rare bodies behind votes. */
#include "tests/shader_rewrite/blocks/block_subject.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdlib.h>

#include "tests/cmocka_includes.h"

/* Blocks: 0, 1 rare, 2 the end. */
#define RARE(condition, ways, behind)                                                              \
    "OpSelectionMerge %end None\nOpBranchConditional " condition " " ways "\n"                     \
    "%rare = OpLabel\n%a = OpExtInst %float %glsl Sin %d\nOpStore %to %a\nOpBranch %end\n"         \
    "%end = OpLabel\n%c = OpPhi %float %f0 %entry %a %rare\n" behind "OpStore %to %c\n"

static const struct block_known rare = {{1, 0.001, 1}, {1, 0.5, 1}, {1, 0.0001, 1}};

/* vote: NULL where it is refused. */
static void check(struct block_subject subject, const struct block_known *known, const char *vote,
                  const char *reason)
{
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_version", known, &report);
    block_decided(report, 0, vote != NULL, reason);
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniform"), vote != NULL);
    assert_int_equal(pm_test_count(&out.words, "OpSelectionMerge"), vote ? 2 : 1);
    if (vote) {
        assert_int_equal(pm_test_count(&out.words, vote), 1);
        assert_int_equal(pm_test_count(&out.words, "DontFlatten"), 1);
        assert_int_equal(pm_test_count(&out.words, "OpPhi"), 2);
        assert_int_equal(pm_test_count(&out.words, "Sin"), 1);
    }
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

static void test_votes(void **state)
{
    (void)state;
    static const char enters[] = "hardly any subgroup enters its body";
    check(block_subject(RARE("%d_yes", "%rare %end", "")), &rare, "OpGroupNonUniformAny", enters);
    check(block_subject(RARE("%d_yes", "%end %rare", "")), &rare, "OpGroupNonUniformAll", enters);
    check(block_subject_fragment(RARE("%d_yes", "%rare %end", "")), &rare, "OpGroupNonUniformAny",
          enters);
}

/* Strictly under 1 % of the subgroups. */
static void test_below_one_percent(void **state)
{
    (void)state;
    static const struct block_known below = {{1, 0.0099, 1}, {1, 0.5, 1}, {1, 0.005, 1}};
    static const struct block_known at = {{1, 0.01, 1}, {1, 0.5, 1}, {1, 0.005, 1}};
    check(block_subject(RARE("%d_yes", "%rare %end", "")), &below, "OpGroupNonUniformAny",
          "hardly any subgroup enters its body");
    check(block_subject(RARE("%d_yes", "%rare %end", "")), &at, NULL, "its body is not rare");
}

static void check_helpers(struct block_subject subject, const char *with, int count)
{
    struct block_subject out = block_optimized(&subject, "optimize_version", &rare, NULL);
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniform"), 1);
    assert_int_equal(pm_test_count(&out.words, with), count);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* A helper that would enter the body does, though nobody asked it. */
static void test_helpers_enter(void **state)
{
    (void)state;
    check_helpers(block_subject_fragment(RARE("%d_yes", "%rare %end", "")), "OpLogicalOr", 1);
    check_helpers(block_subject_fragment(RARE("%d_yes", "%end %rare", "")), "OpLogicalAnd", 1);
    check_helpers(block_subject(RARE("%d_yes", "%rare %end", "")), "OpLogical", 0);
}

/* The subgroup has voted already: it takes one way. */
static void test_voted_before(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(
        "%voted = OpGroupNonUniformAny %bool %u3 %d_yes\n" RARE("%voted", "%rare %end", ""));
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_version", &rare, &report);
    block_decided(report, 0, false, "its condition is uniform already");
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniform"), 1);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

static void test_refused(void **state)
{
    (void)state;
    const struct block_known common = {{1, 0.5, 1}, {1, 0.5, 1}, {1, 0.0001, 1}};
    check(block_subject(RARE("%d_yes", "%rare %end", "")), &common, NULL, "its body is not rare");
    check(block_subject(RARE("%u_yes", "%rare %end", "")), &rare, NULL,
          "its condition is uniform already");
    check(block_subject_fragment(RARE("%d_yes", "%rare %end", "%x = OpDPdx %float %c\n")), &rare,
          NULL, "other lanes are looked at behind it");
    check(block_subject("OpSelectionMerge %end None\nOpBranchConditional %d_yes %rare %no\n"
                        "%rare = OpLabel\nOpStore %to %f1\nOpBranch %end\n"
                        "%no = OpLabel\nOpStore %to %f2\nOpBranch %end\n%end = OpLabel\n"),
          &(struct block_known){{1, 0.001, 1, 1}, {1, 1, 1, 1}, {1, 0.001, 1, 1}}, NULL,
          "it has two sides");
}

/* One in another, and one behind another. */
static void test_several(void **state)
{
    (void)state;
    struct block_subject subject =
        block_subject("OpSelectionMerge %end None\nOpBranchConditional %d_yes %rare %end\n"
                      "%rare = OpLabel\n%e = OpFOrdLessThan %bool %d %f0\n"
                      "OpSelectionMerge %in_end None\nOpBranchConditional %e %in_rare %in_end\n"
                      "%in_rare = OpLabel\nOpStore %to %f1\nOpBranch %in_end\n"
                      "%in_end = OpLabel\n%a = OpPhi %float %f1 %rare %f2 %in_rare\nOpBranch %end\n"
                      "%end = OpLabel\n%c = OpPhi %float %f0 %entry %a %in_end\n"
                      "OpSelectionMerge %last None\nOpBranchConditional %d_yes %then %last\n"
                      "%then = OpLabel\nOpStore %to %c\nOpBranch %last\n"
                      "%last = OpLabel\n%g = OpPhi %float %c %end %f1 %then\nOpStore %to %g\n");
    const struct block_known known = {{1, 0.005, 0.00001, 0.005, 1, 0.001, 1},
                                      {1, 1, 1, 1, 1, 1, 1},
                                      {1, 0.005, 0.00001, 0.005, 1, 0.001, 1}};
    struct block_subject out = block_optimized(&subject, "optimize_version", &known, NULL);
    assert_int_equal(pm_test_count(&out.words, "OpGroupNonUniformAny"), 3);
    assert_int_equal(pm_test_count(&out.words, "OpSelectionMerge"), 6);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_votes),         cmocka_unit_test(test_below_one_percent),
        cmocka_unit_test(test_helpers_enter), cmocka_unit_test(test_voted_before),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_several)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
