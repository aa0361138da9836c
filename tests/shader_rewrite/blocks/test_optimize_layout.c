/* The order of blocks, and weights of branches. */
#include "tests/shader_rewrite/blocks/block_subject.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* Blocks: 0, 1 rare, 2 in the rare one, 3 its end, 4 the other side, 5 the end. */
static const char body[] =
    "OpSelectionMerge %end None\nOpBranchConditional %d_yes %rare %no\n"
    "%rare = OpLabel\nOpStore %to %f1\nOpSelectionMerge %met None\n"
    "OpBranchConditional %u_yes %inner %met\n%inner = OpLabel\nOpStore %to %f2\nOpBranch %met\n"
    "%met = OpLabel\nOpBranch %end\n"
    "%no = OpLabel\nOpStore %to %u\nOpBranch %end\n%end = OpLabel\n%w = OpFAdd %float %u %f1\n";

static void test_layout(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(body);
    const struct block_known known = {
        {1, 0.001, 0.0005, 0.001, 0.999, 1}, {1, 1, 1, 1, 1, 1}, {1, 0.2, 0.1, 0.2, 0.8, 1}};
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_layout", &known, &report);
    block_decided(report, 0, true, "there are some");
    block_decided(report, 0, true, "the counts of blocks say them");
    char *text = pm_test_disassemble(&out.words);
    /* What is not rare, first. */
    const char *end = strstr(text, "OpFAdd");
    const char *last = text;
    for (const char *at = text; (at = strstr(at, "OpSelectionMerge")) != NULL; at++)
        last = at;
    assert_true(end < last);
    assert_non_null(strstr(text, " 1 16\n"));
    free(text);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* Strictly under 1 %: of subgroups for the order, of lanes for weights. */
static void test_below_one_percent(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(body);
    for (int below = 0; below < 2; below++) {
        const double rare = below ? 0.0099 : 0.01;
        const struct block_known known = {{1, rare, rare, rare, 1 - rare, 1},
                                          {1, 1, 1, 1, 1, 1},
                                          {1, rare, rare, rare, 1 - rare, 1}};
        char *report;
        struct block_subject out = block_optimized(&subject, "optimize_layout", &known, &report);
        block_decided(report, 0, below, below ? "there are some" : "they are, or there are none");
        assert_int_equal(pm_test_count(&out.words, " 1 256\n"), below);
        assert_int_equal(pm_test_count(&out.words, " 1 16\n"), !below);
        free(report);
        block_subject_finish(&out);
    }
    block_subject_finish(&subject);
}

/* ---- one key for what is the same in effect ---- */

/* By how many lanes, and subgroups, enter the one side and the block in it. */
static struct pm_shader_key key_of(const struct block_subject *subject, const char *pass,
                                   double rare, double inner)
{
    const struct block_known known = {{1, rare, inner, rare, 1 - rare, 1},
                                      {1, 1, 1, 1, 1, 1},
                                      {1, rare, inner, rare, 1 - rare, 1}};
    struct block_subject out = block_optimized(subject, pass, &known, NULL);
    const struct pm_shader_key key =
        pm_shader_key_compute(pm_canonicalize_recipe(), out.words.data, out.words.count);
    block_subject_finish(&out);
    return key;
}

/* Two publications of one truth, as far apart as their intervals are wide at most; and others. */
static void test_noise_is_no_other_shader(void **state)
{
    (void)state;
    static const char *const passes[] = {"optimize_layout", "optimize_blocks"};
    struct block_subject subject = block_subject(body);
    for (size_t p = 0; p < sizeof passes / sizeof *passes; p++) {
        const struct pm_shader_key first = key_of(&subject, passes[p], 0.1, 0.0002);
        static const double noise[][2] = {
            {0.102, 0.0002}, {0.098, 0.0003}, {0.1004, 0.00021}, {0.0951, 0}};
        for (size_t n = 0; n < sizeof noise / sizeof *noise; n++) {
            const struct pm_shader_key again =
                key_of(&subject, passes[p], noise[n][0], noise[n][1]);
            assert_true(pm_shader_key_equal(&first, &again));
        }
        /* The other side is rarer; the one is rare; both are as likely; so is the block in it. */
        static const double others[][2] = {
            {0.9, 0.0002}, {0.001, 0.000002}, {0.5, 0.0002}, {0.1, 0.05}};
        for (size_t n = 0; n < sizeof others / sizeof *others; n++) {
            const struct pm_shader_key other =
                key_of(&subject, passes[p], others[n][0], others[n][1]);
            assert_false(pm_shader_key_equal(&first, &other));
        }
    }
    block_subject_finish(&subject);
}

static void test_says_so_itself(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(body);
    const struct block_known known = {
        {1, 0.1, 0.05, 0.1, 0.9, 1}, {1, 1, 1, 1, 1, 1}, {1, 0.1, 0.05, 0.1, 0.9, 1}};
    char *report;
    struct block_subject once = block_optimized(&subject, "optimize_layout", &known, NULL);
    struct block_subject twice = block_optimized(&once, "optimize_layout", &known, &report);
    block_decided(report, 0, false, "the shader says so itself");
    block_decided(report, 1, false, "both ways are as likely");
    assert_int_equal(once.words.count, twice.words.count);
    assert_memory_equal(once.words.data, twice.words.data, once.words.count * sizeof(uint32_t));
    free(report);
    block_subject_finish(&twice);
    block_subject_finish(&once);
    block_subject_finish(&subject);
}

static void test_nothing_known(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(body);
    struct block_known known;
    memset(&known, 0xff, sizeof(known)); /* NaN */
    known.driver = NULL;
    known.reached = known.reached_uniform = NULL;
    struct block_subject out = block_optimized(&subject, "optimize_layout", &known, NULL);
    assert_int_equal(out.words.count, subject.words.count);
    assert_memory_equal(out.words.data, subject.words.data, out.words.count * sizeof(uint32_t));
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout), cmocka_unit_test(test_below_one_percent),
        cmocka_unit_test(test_noise_is_no_other_shader), cmocka_unit_test(test_says_so_itself),
        cmocka_unit_test(test_nothing_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
