/* What is computed in rare blocks instead of before them, and what is not. */
#include "tests/shader_rewrite/blocks/block_subject.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

/* Blocks: 0 with `before`, 1 rare with `inside`, 2 the end with `behind`. */
#define RARE(before, inside, behind)                                                               \
    before "OpSelectionMerge %end None\nOpBranchConditional %d_yes %rare %end\n"                   \
           "%rare = OpLabel\n" inside "OpBranch %end\n%end = OpLabel\n" behind

static const struct block_known uniform = {{1, 0.001, 1}, {1, 0.95, 1}, {1, 0.001, 1}};
static const struct block_known divergent = {{1, 0.001, 1}, {1, 0.5, 1}, {1, 0.001, 1}};

/* Whether the needle comes before the first label behind the entry's. */
static bool is_in_entry(const struct pm_words *words, const char *needle)
{
    char *text = pm_test_disassemble(words);
    const char *entry = strstr(text, "OpLabel"), *next = strstr(entry + 1, "OpLabel");
    const char *found = strstr(entry, needle);
    const bool is = found && found < next;
    if (!found)
        fail_msg("%s is not in:\n%s", needle, text);
    free(text);
    return is;
}

/* Where the instruction is after sinking. */
static void check(struct block_subject subject, const struct block_known *known, const char *needle,
                  bool sunk, uint32_t block, const char *reason)
{
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_sink", known, &report);
    if (is_in_entry(&out.words, needle) == sunk)
        fail_msg("%s is %ssunk: %s", needle, sunk ? "not " : "", report);
    if (reason)
        block_decided(report, block, sunk, reason);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

static const char needs[] = "only rare uniform blocks need it";

static void test_sinks(void **state)
{
    (void)state;
    /* A chain of values, through what is read of memory that nobody writes. */
    const char *chain = RARE("%a = OpExtInst %float %glsl Sin %d\n%b = OpFMul %float %a %f2\n",
                             "OpStore %to %b\n", "");
    check(block_subject(chain), &uniform, "Sin", true, 0, needs);
    check(block_subject(chain), &uniform, "OpFMul", true, 0, needs);
    /* By way of an OpPhi at the end. */
    check(block_subject(RARE("%a = OpExtInst %float %glsl Sin %d\n", "",
                             "%c = OpPhi %float %f0 %entry %a %rare\nOpStore %to %c\n")),
          &uniform, "Sin", true, 0, needs);
    /* A texture, where no memory is written that it could be. */
    check(block_subject_fragment(
              RARE("%s = OpLoad %sampled %texture\n%xy = OpCompositeConstruct %float2 %d %u\n"
                   "%t = OpImageSampleExplicitLod %float4 %s %xy Lod %f0\n",
                   "OpStore %color %t\n", "")),
          &uniform, "OpImageSampleExplicitLod", true, 0, needs);
}

static void test_gate(void **state)
{
    (void)state;
    const char *chain = RARE("%a = OpExtInst %float %glsl Sin %d\n", "OpStore %to %a\n", "");
    check(block_subject(chain), &divergent, "Sin", false, 0,
          "a rare block that needs it is divergent");
    /* At the threshold it is uniform, and one that never ran is. */
    const struct block_known at = {{1, 0.001, 1}, {1, 0.9, 1}, {1, 0.001, 1}};
    check(block_subject(chain), &at, "Sin", true, 0, needs);
    const struct block_known never = {{1, 0, 1}, {1, 0, 1}, {1, 0, 1}};
    check(block_subject(chain), &never, "Sin", true, 0, needs);
    /* Where lanes were counted alone: not known to be uniform, nor to be rare. */
    const struct block_known unknown = {{1, 0.001, 1}, {1, NAN, 1}, {1, 0.001, 1}};
    check(block_subject(chain), &unknown, "Sin", false, 0,
          "a rare block that needs it is divergent");
    const struct block_known alone = {{NAN, NAN, NAN}, {NAN, NAN, NAN}, {1, 0.001, 1}};
    check(block_subject(chain), &alone, "Sin", false, 0, NULL);
    /* Rare is what is strictly below 1 %. */
    const struct block_known below = {{1, 0.0099, 1}, {1, 1, 1}, {1, 0.0099, 1}};
    check(block_subject(chain), &below, "Sin", true, 0, needs);
    const struct block_known one_percent = {{1, 0.01, 1}, {1, 1, 1}, {1, 0.01, 1}};
    check(block_subject(chain), &one_percent, "Sin", false, 0, NULL);
    /* Not rare: nothing is said. */
    const struct block_known common = {{1, 0.02, 1}, {1, 1, 1}, {1, 0.02, 1}};
    check(block_subject(chain), &common, "Sin", false, 0, NULL);
}

static void test_stays(void **state)
{
    (void)state;
    /* Needed elsewhere too. */
    check(block_subject(
              RARE("%a = OpExtInst %float %glsl Sin %d\n", "OpStore %to %a\n", "OpStore %to %a\n")),
          &uniform, "Sin", false, 0, NULL);
    /* Read of what the shader writes. */
    check(block_subject(RARE("%a = OpLoad %float %to Nontemporal\n%b = OpFAdd %float %a %f1\n",
                             "OpStore %to %b\n", "")),
          &uniform, "Nontemporal", false, 0, NULL);
}

/* Derivatives, what they are taken of, and what has effects: whatever was measured. */
static void test_other_lanes(void **state)
{
    (void)state;
    check(block_subject_fragment(RARE("%a = OpDPdx %float %d\n", "OpStore %to %a\n", "")), &uniform,
          "OpDPdx", false, 0, NULL);
    check(block_subject_fragment(RARE("%a = OpExtInst %float %glsl Sin %d\n",
                                      "%b = OpDPdx %float %a\nOpStore %to %b\n", "")),
          &uniform, "Sin", false, 0, NULL);
    check(block_subject_fragment(
              RARE("%s = OpLoad %sampled %texture\n%xy = OpCompositeConstruct %float2 %d %u\n"
                   "%t = OpImageSampleImplicitLod %float4 %s %xy\n",
                   "%x = OpCompositeExtract %float %t 0\nOpStore %to %x\n", "")),
          &uniform, "OpImageSampleImplicitLod", false, 0, NULL);
    check(block_subject_fragment(RARE("%xy = OpCompositeConstruct %float2 %d %u\n",
                                      "%s = OpLoad %sampled %texture\n"
                                      "%t = OpImageSampleImplicitLod %float4 %s %xy\n"
                                      "%x = OpCompositeExtract %float %t 0\nOpStore %to %x\n",
                                      "")),
          &uniform, "OpCompositeConstruct", false, 0, NULL);
    check(
        block_subject(RARE("%i = OpBitcast %uint %d\n%a = OpAtomicIAdd %uint %counter %u1 %u0 %i\n",
                           "%f = OpConvertUToF %float %a\nOpStore %to %f\n", "")),
        &uniform, "OpAtomicIAdd", false, 0, NULL);
}

#define ANY(value) "%v = OpGroupNonUniformAny %bool %u3 " value "\n"
#define CHOSEN "%x = OpSelect %float %v %f1 %f2\nOpStore %to %x\n"
#define SWAP(value) "%v = OpGroupNonUniformQuadSwap %float %u3 " value " %u0\n"

/* Subgroup operations and swaps in quads, and what they are made of, however far. */
static void test_subgroups(void **state)
{
    (void)state;
#define SINE "%a = OpExtInst %float %glsl Sin %d\n"
    static const struct {
        const char *body, *needle;
    } rows[] = {
        {RARE(ANY("%d_yes"), CHOSEN, ""), "OpGroupNonUniformAny"},
        {RARE("%a = OpFOrdGreaterThan %bool %d %f2\n", ANY("%a") CHOSEN, ""), "OpFOrdGreaterThan"},
        {RARE(SINE, "%b = OpFOrdGreaterThan %bool %a %f2\n" ANY("%b") CHOSEN, ""), "Sin"},
        /* By way of an OpPhi behind the rare block. */
        {RARE(SINE, "",
              "%c = OpPhi %float %f0 %entry %a %rare\n"
              "%b = OpFOrdGreaterThan %bool %c %f2\n" ANY("%b") CHOSEN),
         "Sin"},
        {RARE(SWAP("%d"), "OpStore %to %v\n", ""), "OpGroupNonUniformQuadSwap"},
        {RARE(SINE, SWAP("%a") "OpStore %to %v\n", ""), "Sin"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        check(block_subject(rows[i].body), &uniform, rows[i].needle, false, 0, NULL);
        check(block_subject_fragment(rows[i].body), &uniform, rows[i].needle, false, 0, NULL);
    }
    /* Beside one, what it is not made of is sunk. */
    check(block_subject(RARE(SINE ANY("%d_yes"), CHOSEN "OpStore %to %a\n", "")), &uniform, "Sin",
          true, 0, needs);
}

/* What is read of memory that other lanes may write, on the far side of a barrier. */
static void test_barriers(void **state)
{
    (void)state;
#define READ "%a = OpLoad %float %to Nontemporal\n"
#define SHOWN "%x = OpCompositeConstruct %float4 %a %a %a %a\nOpStore %color %x\n"
#define BARRIER "OpControlBarrier %u3 %u3 %u0\n"
    static const char *const bodies[] = {
        RARE(READ BARRIER, SHOWN, ""),
        RARE(BARRIER READ, SHOWN, ""),
        RARE(READ, BARRIER SHOWN, ""),
        RARE(READ, SHOWN, BARRIER),
        RARE(READ "OpMemoryBarrier %u1 %u72\n", SHOWN, ""),
    };
    check(block_subject_fragment(RARE(READ, SHOWN, "")), &uniform, "Nontemporal", true, 0, needs);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        check(block_subject_fragment(bodies[i]), &uniform, "Nontemporal", false, 0, NULL);
}

/* Blocks: 0, 1 header, 2 body, 3 rare, 4 end of the selection, 5 latch, 6 behind. */
#define LOOP(before, inside, rare)                                                                 \
    before "OpBranch %loop\n%loop = OpLabel\n%i = OpPhi %uint %u0 %entry %j %latch\n"              \
           "%more = OpULessThan %bool %i %u5\nOpLoopMerge %out_ %latch None\n"                     \
           "OpBranchConditional %more %body %out_\n%body = OpLabel\n" inside                       \
           "OpSelectionMerge %met None\nOpBranchConditional %d_yes %rare %met\n%rare = "           \
           "OpLabel\n" rare "OpBranch %met\n%met = OpLabel\nOpBranch %latch\n%latch = OpLabel\n"   \
           "%j = OpIAdd %uint %i %u1\nOpBranch %loop\n%out_ = OpLabel\n"

static void test_loops(void **state)
{
    (void)state;
    static const struct block_known known = {
        {1, 6, 5, 0.001, 5, 5, 1}, {1, 1, 1, 1, 1, 1, 1}, {1, 6, 5, 0.001, 5, 5, 1}};
    /* Not into one. */
    check(block_subject(LOOP("%a = OpExtInst %float %glsl Sin %d\n", "", "OpStore %to %a\n")),
          &known, "Sin", false, 0, NULL);
    /* Within one. */
    struct block_subject subject =
        block_subject(LOOP("", "%f = OpConvertUToF %float %i\n%a = OpExtInst %float %glsl Sin %f\n",
                           "OpStore %to %a\n"));
    char *report;
    struct block_subject out = block_optimized(&subject, "optimize_sink", &known, &report);
    block_decided(report, 2, true, needs);
    free(report);
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* Blocks 1 and 3 are rare, and both need what block 0 computes. */
static const char twice[] = "%a = OpExtInst %float %glsl Sin %d\n"
                            "OpSelectionMerge %end None\nOpBranchConditional %d_yes %rare %end\n"
                            "%rare = OpLabel\nOpStore %to %a\nOpBranch %end\n%end = OpLabel\n"
                            "OpSelectionMerge %end2 None\nOpBranchConditional %u_yes %rare2 %end2\n"
                            "%rare2 = OpLabel\n%b = OpFAdd %float %a %f1\nOpStore %to %b\n"
                            "OpBranch %end2\n%end2 = OpLabel\n";

/* Two rare blocks each compute it for themselves. Blocks: 0, 1 rare, 2, 3 rare, 4. */
static void test_rematerialized(void **state)
{
    (void)state;
    const struct block_known known = {
        {1, 0.001, 1, 0.002, 1}, {1, 1, 1, 1, 1}, {1, 0.001, 1, 0.002, 1}};
    struct block_subject subject = block_subject(twice);
    struct block_subject out = block_optimized(&subject, "optimize_sink", &known, NULL);
    assert_int_equal(pm_test_count(&out.words, "Sin"), 2);
    assert_false(is_in_entry(&out.words, "Sin"));
    block_subject_finish(&out);
    block_subject_finish(&subject);
}

/* A value that a uniform rare block needs and a divergent one, in either order: it stays, since in
 * the divergent one it would be computed by every subgroup all the same. */
static void test_one_place_is_divergent(void **state)
{
    (void)state;
    const double shares[][2] = {{1, 0.5}, {0.5, 1}, {1, NAN}, {NAN, 1}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        const struct block_known known = {{1, 0.001, 1, 0.002, 1},
                                          {1, shares[i][0], 1, shares[i][1], 1},
                                          {1, 0.001, 1, 0.002, 1}};
        struct block_subject subject = block_subject(twice);
        char *report;
        struct block_subject out = block_optimized(&subject, "optimize_sink", &known, &report);
        assert_int_equal(pm_test_count(&out.words, "Sin"), 1);
        assert_true(is_in_entry(&out.words, "Sin"));
        block_decided(report, 0, false, "a rare block that needs it is divergent");
        free(report);
        block_subject_finish(&out);
        block_subject_finish(&subject);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sinks),
        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_stays),
        cmocka_unit_test(test_other_lanes),
        cmocka_unit_test(test_subgroups),
        cmocka_unit_test(test_barriers),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_rematerialized),
        cmocka_unit_test(test_one_place_is_divergent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
