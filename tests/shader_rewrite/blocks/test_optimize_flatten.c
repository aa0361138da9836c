/* Which selections are asked to be flattened, and which not. */
#include "tests/shader_rewrite/blocks/block_subject.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <math.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

/* Blocks: 0 header, 1 a side of arithmetic, 2 the other, 3 the end. */
#define BOTH(control, more)                                                                        \
    "OpSelectionMerge %end " control "\nOpBranchConditional %d_yes %yes %no\n"                     \
    "%yes = OpLabel\n%a = OpFAdd %float %d %f1\n" more "OpBranch %end\n"                           \
    "%no = OpLabel\n%b = OpFMul %float %d %f2\nOpBranch %end\n"                                    \
    "%end = OpLabel\n%c = OpPhi %float %a %yes %b %no\nOpStore %to %c\n"

static void check(const char *body, const struct block_known *known, const char *control,
                  const char *reason)
{
    struct block_subject subject = block_subject(body);
    char *report;
    const uint32_t before = (uint32_t)pm_test_count(&subject.words, control);
    struct block_subject out = block_optimized(&subject, "optimize_flatten", known, &report);
    assert_int_equal(pm_test_count(&out.words, "OpSelectionMerge"), 1);
    assert_int_equal(pm_test_count(&out.words, control), 1);
    block_decided(report, 0, before == 0, reason);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* Nothing is said to the driver. */
static void check_left(const char *body, const struct block_known *known, const char *reason)
{
    struct block_subject subject = block_subject(body);
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_flatten", known, &report);
    assert_int_equal(pm_test_count(&out.words, "latten"), 0);
    block_decided(report, 0, false, reason);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

static void test_rare(void **state)
{
    (void)state;
    /* By subgroups: half of the lanes of one subgroup in 200. */
    const struct block_known rare = {{1, 0.005, 1, 1}, {1, 0.5, 0.9, 1}, {1, 0.0025, 0.9975, 1}};
    check(BOTH("None", ""), &rare, "DontFlatten", "hardly any subgroup enters a side");
    check(BOTH("Flatten", ""), &rare, "DontFlatten", "hardly any subgroup enters a side");
    check(BOTH("DontFlatten", ""), &rare, "DontFlatten", "the shader says so itself");
    const struct block_known never = {{1, 1, 0, 1}, {1, 1, 1, 1}, {1, 1, 0, 1}};
    check(BOTH("None", ""), &never, "DontFlatten", "hardly any subgroup enters a side");
    /* One lane in 200, but in one of 10 subgroups. */
    const struct block_known spread = {{1, 0.1, 1, 1}, {1, 0.01, 0.9, 1}, {1, 0.005, 0.995, 1}};
    check_left(BOTH("None", ""), &spread, "its sides are not balanced");
}

/* Of a switch, too. */
#define SWITCH(ways)                                                                               \
    "%n = OpConvertFToU %uint %d\nOpSelectionMerge %end None\nOpSwitch %n " ways "\n"              \
    "%yes = OpLabel\nOpStore %to %f1\nOpBranch %end\n"                                             \
    "%no = OpLabel\nOpStore %to %f2\nOpBranch %end\n%end = OpLabel\n"

/* Strictly under 1 % of those that come to the branch. */
static void test_below_one_percent(void **state)
{
    (void)state;
    static const struct block_known below = {{1, 0.0099, 1, 1}, {1, 1, 1, 1}, {1, 0.5, 0.5, 1}};
    static const struct block_known at = {{1, 0.01, 1, 1}, {1, 1, 1, 1}, {1, 0.1, 0.9, 1}};
    static const struct block_known below_of_half = {
        {0.5, 0.00495, 0.5, 0.5}, {1, 1, 1, 1}, {0.5, 0.25, 0.25, 0.5}};
    static const struct block_known at_of_half = {
        {0.5, 0.005, 0.5, 0.5}, {1, 1, 1, 1}, {0.5, 0.05, 0.45, 0.5}};
    static const struct {
        const char *body, *otherwise;
    } rows[] = {
        {BOTH("None", ""), "its sides are not balanced"},
        {SWITCH("%no 1 %yes"), "a switch"},
        {SWITCH("%yes 1 %no 2 %end"), "a switch"},
        {SWITCH("%end 1 %no 5 %yes"), "a switch"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check(rows[i].body, &below, "DontFlatten", "hardly any subgroup enters a side");
        check(rows[i].body, &below_of_half, "DontFlatten", "hardly any subgroup enters a side");
        check_left(rows[i].body, &at, rows[i].otherwise);
        check_left(rows[i].body, &at_of_half, rows[i].otherwise);
    }
}

static void test_balanced(void **state)
{
    (void)state;
    const struct block_known both = {{1, 0.9, 0.9, 1}, {1, 0, 0, 1}, {1, 0.5, 0.5, 1}};
    check(BOTH("None", ""), &both, " Flatten", "short, and most subgroups take both sides");
    struct {
        const char *body;
        struct block_known known;
        const char *reason;
    } rows[] = {
        {BOTH("None", "OpStore %to %a\n"), both, "more than arithmetic"},
        {BOTH("None", ""),
         {{1, 0.5, 0.4, 1}, {1, 1, 1, 1}, {1, 0.5, 0.5, 1}},
         "most subgroups take one side alone"},
        {BOTH("None", "%a1 = OpExtInst %float %glsl Sin %a\n%a2 = OpExtInst %float %glsl Sin %a1\n"
                      "%a3 = OpExtInst %float %glsl Sin %a2\n"
                      "%a4 = OpExtInst %float %glsl Sin %a3\n"
                      "%a5 = OpFDiv %float %a4 %a\n%a6 = OpFDiv %float %a5 %a\n"),
         both, "its sides are long"},
        {BOTH("None", ""),
         {{NAN, NAN, NAN, NAN}, {0}, {NAN, NAN, NAN, NAN}},
         "its sides are not balanced"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_left(rows[i].body, &rows[i].known, rows[i].reason);
}

/* In a loop, of what is used behind it: left alone, but for a driver that takes it as it was.
 * Blocks: 0, 1 header, 2 selects, 3 a side, 4 met, 5 latch, 6 behind. */
static void test_chosen_in_a_loop(void **state)
{
    (void)state;
    const struct block_known known = {
        {1, 5, 5, 0, 5, 5, 1}, {1, 1, 1, 1, 1, 1, 1}, {1, 5, 5, 0, 5, 5, 1}};
    struct block_subject subject =
        block_subject("OpBranch %loop\n%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"
                      "OpLoopMerge %end %latch None\nOpBranch %body\n"
                      "%body = OpLabel\n%f = OpLoad %float %to\n%e = OpFOrdLessThan %bool %f %d\n"
                      "OpSelectionMerge %met None\nOpBranchConditional %e %side %met\n"
                      "%side = OpLabel\nOpStore %to %f1\nOpBranch %met\n"
                      "%met = OpLabel\n%g = OpPhi %float %f %body %d %side\nOpBranch %latch\n"
                      "%latch = OpLabel\n%j = OpIAdd %uint %i %u1\n"
                      "%more = OpULessThan %bool %j %u5\nOpBranchConditional %more %loop %end\n"
                      "%end = OpLabel\nOpStore %to %g\n");
    block_guarded(&subject, "optimize_flatten", &known, 2,
                  "it chooses what is used behind a loop, which the driver does again",
                  "hardly any subgroup enters a side", "DontFlatten");
    block_subject_finish(&subject);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen_in_a_loop), cmocka_unit_test(test_rare),
        cmocka_unit_test(test_below_one_percent), cmocka_unit_test(test_balanced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
