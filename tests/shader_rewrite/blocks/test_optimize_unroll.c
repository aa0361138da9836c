/* Which loops are asked to be unrolled, and which not. */
#include "tests/shader_rewrite/blocks/block_subject.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

/* Blocks: 0, 1 header, 2 body, 3 latch, 4 behind. */
#define LOOP(control) "%n = OpConvertFToU %uint %u\n" LOOP_TO("%n", control)
#define LOOP_TO(to, control) LOOP_OF(to, control, "")
#define LOOP_OF(to, control, more)                                                                 \
    "OpBranch %loop\n"                                                                             \
    "%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"                                     \
    "%more = OpULessThan %bool %i " to "\nOpLoopMerge %end %latch " control "\n"                   \
    "OpBranchConditional %more %body %end\n"                                                       \
    "%body = OpLabel\n%f = OpConvertUToF %float %i\nOpStore %to %f\n" more "OpBranch %latch\n"     \
    "%latch = OpLabel\n%j = OpIAdd %uint %i %u1\nOpBranch %loop\n%end = OpLabel\n"

struct row {
    const char *control;
    struct block_known known;
    const char *expected, *reason;
    bool done;
};

static void check(const struct row *row)
{
    struct block_subject subject = block_subject(row->control);
    char *report, merge[64];
    struct block_subject out = block_optimized(&subject, "optimize_unroll", &row->known, &report);
    snprintf(merge, sizeof(merge), " %s\n", row->expected);
    block_decided(report, 1, row->done, row->reason);
    assert_int_equal(pm_test_count(&out.words, "OpLoopMerge"), 1);
    if (!pm_test_count(&out.words, merge))
        fail_msg("not %s: %s", row->expected, report);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

static void test_loops(void **state)
{
    (void)state;
    const struct block_known rare = {
        {1, 1, 0.004, 0.004, 1}, {1, 1, 1, 1, 1}, {1, 1.004, 0.004, 0.004, 1}};
    /* Strictly under 1 %. */
    const struct block_known below = {
        {1, 1, 0.0099, 0.0099, 1}, {1, 1, 1, 1, 1}, {1, 1.0099, 0.0099, 0.0099, 1}};
    const struct block_known at = {
        {1, 1, 0.01, 0.01, 1}, {1, 1, 1, 1, 1}, {1, 1.01, 0.01, 0.01, 1}};
    const struct block_known five = {{1, 6, 5, 5, 1}, {1, 1, 1, 1, 1}, {1, 6, 5, 5, 1}};
    const struct block_known between = {{1, 6, 5, 5, 1}, {1, 1, 1, 1, 1}, {1, 5.4, 4.4, 4.4, 1}};
    const struct block_known alone = {{1, 6, 5, 5, 1}, {1, 1, 0.5, 0.5, 1}, {1, 6, 5, 5, 1}};
    const struct block_known often = {{1, 41, 40, 40, 1}, {1, 1, 1, 1, 1}, {1, 41, 40, 40, 1}};
    const struct block_known unknown = {{1, 6, 5, 5, 1}, {1, 1, 1, 1, 1}, {1, NAN, NAN, NAN, 1}};
    static const char otherwise[] = "a compiler may compute what follows from its turns otherwise";
#define SINE "%s = OpExtInst %float %glsl Sin %f\nOpStore %to %s\n"
    const struct row rows[] = {
        {LOOP("None"), rare, "DontUnroll", "hardly any subgroup turns", true},
        {LOOP("Unroll"), rare, "DontUnroll", "hardly any subgroup turns", true},
        {LOOP("None"), below, "DontUnroll", "hardly any subgroup turns", true},
        {LOOP("None"), at, "None", "it turns too seldom, or too often", false},
        {LOOP("None"), five, "Unroll", "it turns equally often", true},
        {LOOP("DontUnroll"), five, "Unroll", "it turns equally often", true},
        {LOOP("Unroll"), five, "Unroll", "the shader says so, or more, itself", false},
        {LOOP("DependencyLength 4"), five, "DependencyLength 4",
         "the shader says so, or more, itself", false},
        {LOOP("None"), between, "None", "it does not turn equally often", false},
        {LOOP("None"), alone, "None", "lanes of a subgroup do not turn together", false},
        {LOOP("None"), often, "None", "it turns too seldom, or too often", false},
        {LOOP("None"), unknown, "None", "how often it turns is not known", false},
        /* The code says how often. */
        {LOOP_TO("%u5", "None"), unknown, "Unroll", "it turns equally often", true},
        {LOOP_TO("%u5", "None"), often, "Unroll", "it turns equally often", true},
        {LOOP_TO("%u1", "None"), five, "None", "it turns once", false},
        {LOOP_TO("%u5", "None"), alone, "None", "lanes of a subgroup do not turn together", false},
        /* A compiler that unrolls it computes otherwise, and it may do so by itself. */
        {LOOP_OF("%u5", "None", SINE), five, "None", otherwise, false},
        {LOOP_OF("%u5", "None", SINE), rare, "None", otherwise, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check(&rows[i]);
}

/* A mean of five is not always five. */
static void test_histogram(void **state)
{
    (void)state;
    static const double three_or_seven[PM_TURN_POINTS] = {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5},
                        all[PM_TURN_POINTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const struct row row = {LOOP("None"),
                            {{1, 6, 5, 5, 1},
                             {1, 1, 1, 1, 1},
                             {1, 6, 5, 5, 1},
                             .reached = three_or_seven,
                             .reached_uniform = all},
                            "None",
                            "it often turns oftener than is nearly always made",
                            false};
    check(&row);
}

/* SPIR-V 1.4 has a count. */
static void test_partial_count(void **state)
{
    (void)state;
    struct block_subject subject = block_subject_newer(LOOP("None"));
    const struct block_known five = {{1, 6, 5, 5, 1}, {1, 1, 1, 1, 1}, {1, 6, 5, 5, 1}};
    struct block_subject out = block_optimized(&subject, "optimize_unroll", &five, NULL);
    assert_int_equal(pm_test_count(&out.words, "Unroll|PartialCount 5"), 1);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* What is written before the test is written once more than the loop turns. */
static void test_last_test(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(
        "%n = OpConvertFToU %uint %u\nOpBranch %loop\n"
        "%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"
        "%f = OpConvertUToF %float %i\nOpStore %to %f\n"
        "%more = OpULessThan %bool %i %n\nOpLoopMerge %end %latch None\n"
        "OpBranchConditional %more %body %end\n%body = OpLabel\nOpBranch %latch\n"
        "%latch = OpLabel\n%j = OpIAdd %uint %i %u1\nOpBranch %loop\n%end = OpLabel\n");
    const struct block_known five = {{1, 6, 5, 5, 1}, {1, 1, 1, 1, 1}, {1, 6, 5, 5, 1}};
    block_guarded(&subject, "optimize_unroll", &five, 1,
                  "the driver would leave out its last test, which is needed",
                  "it turns equally often", " Unroll\n");
    block_subject_finish(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops), cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_partial_count), cmocka_unit_test(test_last_test)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
