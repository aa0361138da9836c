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
        {1, 0.001, 0.0005, 0.001, 0.999, 1}, {1, 1, 1, 1, 1, 1}, {1, 0.25, 0.125, 0.25, 0.75, 1}};
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
    assert_non_null(strstr(text, " 16384 49152\n"));
    assert_non_null(strstr(text, " 32768 32768\n"));
    free(text);
    free(report);
    block_subject_finish(&out);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_layout),
                                       cmocka_unit_test(test_nothing_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
