/* Turns of steady loops in front of them. That what comes out computes the same is the differential
 * test's. */
#include "tests/shader_rewrite/blocks/block_subject.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <math.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

/* Blocks: 0, 1 header, 2 body, 3 latch, 4 behind. The sum and the number of turns are used behind.
 */
#define LOOP(inside) LOOP_SAYS("None", inside)
#define LOOP_SAYS(control, inside) LOOP_OF("u", control, inside)
#define LOOP_TO(turns, inside) LOOP_OF(turns, "None", inside)
#define LOOP_OF(turns, control, inside)                                                            \
    "%n = OpConvertFToU %uint %" turns "\nOpBranch %loop\n"                                        \
    "%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"                                     \
    "%sum = OpPhi %float %f0 %entry %sum2 %latch\n"                                                \
    "%more = OpULessThan %bool %i %n\nOpLoopMerge %end %latch " control "\n"                       \
    "OpBranchConditional %more %body %end\n"                                                       \
    "%body = OpLabel\n%f = OpConvertUToF %float %i\n" inside "OpBranch %latch\n"                   \
    "%latch = OpLabel\n%sum2 = OpFAdd %float %sum %f\n%j = OpIAdd %uint %i %u1\nOpBranch %loop\n"  \
    "%end = OpLabel\n%g = OpConvertUToF %float %i\n%h = OpFAdd %float %g %sum\nOpStore %to %h\n"

static const struct block_known five = {{1, 6, 5, 5, 1}, {1, 1, 1, 1, 1}, {1, 6, 5, 5, 1}};

static void test_peels(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(LOOP(""));
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_peel", &five, &report);
    block_decided(report, 1, true, "it turns equally often");
    assert_int_equal(pm_test_count(&out.words, "OpLoopMerge"), 2);
    assert_int_equal(pm_test_count(&out.words, "OpULessThan"), 6);
    assert_int_equal(pm_test_count(&out.words, "OpFAdd"), 6 + 1);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* By the histogram: as many turns as nearly all make, in whole subgroups, whatever their mean is.
 * The rest loop is there for the others. */
static void test_peels_by_histogram(void **state)
{
    (void)state;
    static const double
        all_five[PM_TURN_POINTS] = {1, 1, 1, 1, 1, 1},
        three_or_seven[PM_TURN_POINTS] = {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5},
        one_or_nine[PM_TURN_POINTS] = {1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
        three_or_many[PM_TURN_POINTS] = {1,   1,   1,   1,   0.6, 0.6, 0.6, 0.6, 0.6,
                                         0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6},
        rarely_many[PM_TURN_POINTS] = {1,    1,    1,    1,    0.04, 0.04, 0.04, 0.04, 0.04,
                                       0.04, 0.04, 0.04, 0.04, 0.04, 0.04, 0.04, 0.04, 0.04},
        all_many[PM_TURN_POINTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        not_all_known[PM_TURN_POINTS] = {1, 1, 1, 1, (double)NAN},
        inside[PM_TURN_POINTS] = {0.5, 0.5, 0.49, 0.02},
        together[PM_TURN_POINTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
        apart[PM_TURN_POINTS] = {1, 1, 1, 1, 0.5, 0.5}, at_once[PM_TURN_POINTS] = {1, 1, 0.5};
    const struct {
        const double *reached, *uniform;
        double turns; /* mean */
        uint32_t copies;
        const char *reason;
    } rows[] = {
        {all_five, together, 5, 5, "it turns equally often"},
        {three_or_seven, together, 5, 3, "nearly all make so many turns"},
        {one_or_nine, together, 5, 0, "no two turns are nearly always made"},
        {three_or_many, together, 12, 0, "most turn far oftener than is nearly always made"},
        {rarely_many, together, 7, 3, "it turns equally often"},
        {all_many, together, 20, 0, "it turns too often"},
        {not_all_known, together, 3, 0, "how often it turns is not known"},
        {inside, together, 2, 2, "it turns equally often"},
        {all_five, apart, 5, 3, "nearly all make so many turns"},
        {all_five, at_once, 5, 0, "lanes of a subgroup do not turn together"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const double t = rows[i].turns;
        const struct block_known known = {{1, t + 1, t, t, 1},
                                          {1, 1, 1, 1, 1},
                                          {1, t + 1, t, t, 1},
                                          .reached = rows[i].reached,
                                          .reached_uniform = rows[i].uniform};
        struct block_subject subject = block_subject(LOOP(""));
        char *report;
        struct block_subject out = block_optimized(&subject, "optimize_peel", &known, &report);
        block_decided(report, 1, rows[i].copies > 0, rows[i].reason);
        assert_int_equal(pm_test_count(&out.words, "OpULessThan"), 1 + rows[i].copies);
        free(report);
        block_subject_finish(&out);
        block_subject_finish(&subject);
    }
}

/* Intervals are wide after one session. Of a loop that most come to the histogram is believed all
 * the same. */
static void test_few_sessions(void **state)
{
    (void)state;
    static const double often[PM_TURN_POINTS] = {0.9, 0.9, 0.9, 0.9, 0.9, 0.9},
                        seldom[PM_TURN_POINTS] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
                        low[PM_TURN_POINTS] = {0},
                        high[PM_TURN_POINTS] = {1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (int narrow = 0; narrow < 2; narrow++)
        for (int rare = 0; rare < 2; rare++) {
            const double t = rare ? 0.5 : 4.5;
            const struct block_known known = {{1, t + 1, t, t, 1},
                                              {1, 1, 1, 1, 1},
                                              {1, t + 1, t, t, 1},
                                              .reached = rare ? seldom : often,
                                              .reached_low = narrow ? seldom : low,
                                              .reached_high = narrow ? seldom : high};
            struct block_subject subject = block_subject(LOOP(""));
            char *report;
            struct block_subject out = block_optimized(&subject, "optimize_peel", &known, &report);
            block_decided(report, 1, narrow || !rare,
                          narrow || !rare ? "it turns equally often"
                                          : "how often it turns is not known well");
            free(report);
            block_subject_finish(&out);
            block_subject_finish(&subject);
        }
}

/* What the shader says of a loop's turns is not so of what is left of them. */
static void test_the_rest_makes_no_promise(void **state)
{
    (void)state;
    static const char *const bodies[] = {LOOP_SAYS("MinIterations|IterationMultiple 5 5", ""),
                                         LOOP_SAYS("DependencyInfinite|PartialCount 5", "")};
    for (size_t i = 0; i < 2; i++) {
        struct block_subject subject = block_subject_newer(bodies[i]);
        struct block_subject out = block_optimized(&subject, "optimize_peel", &five, NULL);
        assert_int_equal(pm_test_count(&out.words, "OpLoopMerge"), 2);
        assert_int_equal(pm_test_count(&out.words, "Iteration"), 0);
        assert_int_equal(pm_test_count(&out.words, "PartialCount"), 0);
        assert_int_equal(pm_test_count(&out.words, "DontUnroll"), 1);
        assert_int_equal(pm_test_count(&out.words, "DependencyInfinite"), i);
        block_subject_finish(&out);
        block_subject_finish(&subject);
    }
}

/* What is left of it hardly ever turns: no driver should unroll that, though it was asked to
 * before.
 */
static void test_the_rest_is_not_unrolled(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(LOOP(""));
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_blocks", &five, &report);
    assert_int_equal(pm_test_count(&out.words, "OpLoopMerge"), 2);
    assert_int_equal(pm_test_count(&out.words, "DontUnroll"), 1);
    assert_int_equal(pm_test_count(&out.words, " Unroll"), 0);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* Known by the lanes alone to be steady, it is left alone where its turns are not uniform. */
static void test_refused(void **state)
{
    (void)state;
    const struct {
        const char *body;
        const struct block_known *known;
        uint32_t header;
        const char *reason;
    } rows[] = {
        {LOOP_TO("d", "OpControlBarrier %u2 %u2 %u0\n"), &five, 1,
         "lanes do something together in it"},
        {LOOP("OpSelectionMerge %met None\nOpBranchConditional %d_yes %leave %met\n"
              "%leave = OpLabel\nOpBranch %latch\n%met = OpLabel\n"),
         &(const struct block_known){
             {1, 6, 5, 1, 4, 5, 1}, {1, 1, 1, 1, 1, 1, 1}, {1, 6, 5, 1, 4, 5, 1}},
         1, "several ways lead to its latch"},
        {LOOP(""),
         &(const struct block_known){{1, 6, 5, 5, 1}, {1, 1, 0.8, 0.8, 1}, {1, 6, 5, 5, 1}}, 1,
         "lanes of a subgroup do not turn together"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct block_subject subject = block_subject(rows[i].body);
        char *report;
        struct block_subject out =
            block_optimized(&subject, "optimize_peel", rows[i].known, &report);
        block_decided(report, rows[i].header, false, rows[i].reason);
        assert_int_equal(pm_test_count(&out.words, "OpLoopMerge"), 1);
        free(report);
        block_subject_finish(&out);
        block_subject_finish(&subject);
    }
}

/* By the code whole workgroups turn, so barriers are met in copies as in turns. */
static void test_barrier_of_whole_workgroups(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(LOOP("OpControlBarrier %u2 %u2 %u0\n"));
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_peel", &five, &report);
    block_decided(report, 1, true, "it turns equally often");
    assert_int_equal(pm_test_count(&out.words, "OpControlBarrier"), 6);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* What a loop reads is used behind it: left alone, but for a driver that takes it as it was. */
static void test_read_and_used_behind(void **state)
{
    (void)state;
    const struct block_known known = {{1, 5, 5, 5, 1}, {1, 1, 1, 1, 1}, {1, 5, 5, 5, 1}};
    struct block_subject subject =
        block_subject("%n = OpConvertFToU %uint %u\nOpBranch %loop\n"
                      "%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"
                      "OpLoopMerge %end %latch None\nOpBranch %body\n"
                      "%body = OpLabel\n%f = OpLoad %float %to\nOpBranch %latch\n"
                      "%latch = OpLabel\n%j = OpIAdd %uint %i %u1\n"
                      "%more = OpULessThan %bool %j %n\nOpBranchConditional %more %loop %end\n"
                      "%end = OpLabel\n%h = OpFAdd %float %f %f1\nOpStore %to %h\n");
    block_guarded(&subject, "optimize_peel", &known, 1,
                  "what it reads decides a value behind it, which the driver computes again",
                  "it turns equally often", "OpLoopMerge");
    block_subject_finish(&subject);
}

/* It is left from inside too, with a value of its own. Blocks: 0, 1 header, 2 body, 3 leaves, 4,
 * 5 latch, 6 behind. */
static void test_breaks(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(
        "OpBranch %loop\n%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"
        "%more = OpULessThan %bool %i %u5\nOpLoopMerge %end %latch None\n"
        "OpBranchConditional %more %body %end\n%body = OpLabel\n"
        "%f = OpConvertUToF %float %i\n%e = OpFOrdLessThan %bool %d %f\n"
        "OpSelectionMerge %met None\nOpBranchConditional %e %leaves %met\n"
        "%leaves = OpLabel\nOpStore %to %f\nOpBranch %end\n%met = OpLabel\nOpBranch %latch\n"
        "%latch = OpLabel\n%j = OpIAdd %uint %i %u1\nOpBranch %loop\n"
        "%end = OpLabel\n%g = OpPhi %float %f1 %loop %f %leaves\nOpStore %to %g\n");
    const struct block_known known = {
        {1, 6, 5, 0, 5, 5, 1}, {1, 1, 1, 1, 1, 1, 1}, {1, 6, 5, 0, 5, 5, 1}};
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_peel", &known, &report);
    block_decided(report, 1, true, "it turns equally often");
    assert_int_equal(pm_test_count(&out.words, "OpLoopMerge"), 2);
    assert_int_equal(pm_test_count(&out.words, "OpSelectionMerge"), 6);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* It is left from inside alone, by a block that comes late. Blocks: 0, 1 header, 2 body, 3 leaves,
 * 4, 5 latch, 6 behind. */
static void test_left_inside(void **state)
{
    (void)state;
    struct block_subject subject = block_subject(
        "OpBranch %loop\n%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"
        "OpLoopMerge %end %latch None\nOpBranch %body\n%body = OpLabel\n"
        "%f = OpConvertUToF %float %i\n%e = OpULessThan %bool %u4 %i\n"
        "OpSelectionMerge %met None\nOpBranchConditional %e %leaves %met\n"
        "%leaves = OpLabel\nOpStore %to %f\nOpBranch %end\n%met = OpLabel\nOpBranch %latch\n"
        "%latch = OpLabel\n%j = OpIAdd %uint %i %u1\nOpBranch %loop\n"
        "%end = OpLabel\n%g = OpFAdd %float %f %f1\nOpStore %to %g\n");
    const struct block_known known = {
        {1, 6, 6, 1, 5, 5, 1}, {1, 1, 1, 1, 1, 1, 1}, {1, 6, 6, 1, 5, 5, 1}};
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_peel", &known, &report);
    block_decided(report, 1, true, "it turns equally often");
    assert_int_equal(pm_test_count(&out.words, "OpULessThan"), 6);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_peels),
                                       cmocka_unit_test(test_peels_by_histogram),
                                       cmocka_unit_test(test_few_sessions),
                                       cmocka_unit_test(test_the_rest_makes_no_promise),
                                       cmocka_unit_test(test_the_rest_is_not_unrolled),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_barrier_of_whole_workgroups),
                                       cmocka_unit_test(test_read_and_used_behind),
                                       cmocka_unit_test(test_breaks),
                                       cmocka_unit_test(test_left_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
