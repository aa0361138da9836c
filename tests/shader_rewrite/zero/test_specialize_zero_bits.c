/* HAZARDS 7, on every driver: what a specialized shader leaves in memory has the original's bits.
 * 0 * x = 0 is permitted in these shaders; every weight that is zero and what it is multiplied by
 * are such that it makes no difference. All the rest is not: a zero that is only moved keeps its
 * sign, and where the device flushes denormals, what passes the check as zero keeps its bits. */
#include "tests/shader_rewrite/zero/weighed_items.h"

#include <stdio.h>

#include "tests/cmocka_includes.h"

static struct differential differential;

/* Something that is worth a transform: +0 or of a positive number. */
#define WORK                                                                                       \
    "%size = OpExtInst %float %glsl FAbs %x\n"                                                     \
    "%root = OpExtInst %float %glsl Sqrt %size\n"                                                  \
    "%work = OpExtInst %float %glsl Exp2 %root\n"                                                  \
    "%light = OpFMul %float %w %work\n"

static const struct {
    const char *name;
    bool negative; /* zeroes are of both signs */
    const char *body;
} shaders[] = {
    {"copied", true,
     "%both = OpCompositeConstruct %float4 %w %x %c %w\n"
     "%part = OpCompositeExtract %float %both 3\nOpStore %to0 %w\nOpStore %to1 %part\n"
     "%more_at = OpAccessChain %p_float4 %vectors %u0 %u1\n%more4 = OpLoad %float4 %more_at\n"
     "%more = OpCompositeExtract %float %more4 0\n%share = OpFMul %float %more %w\n" WORK
     "%lights = OpFMul %float %share %light\n%sum = OpFAdd %float %lights %f1_5\n"
     "OpStore %to2 %sum\n"},
    {"chosen", true,
     WORK "%sum = OpFAdd %float %light %f1_5\n"
          "%high = OpFOrdGreaterThan %bool %x %f1_5\n"
          "%one = OpSelect %float %high %w %c\n"
          "OpSelectionMerge %behind None\nOpBranchConditional %high %then %behind\n"
          "%then = OpLabel\n%more = OpFNegate %float %w\nOpBranch %behind\n"
          "%behind = OpLabel\n%other = OpPhi %float %w %entry %more %then\n"
          "OpStore %to2 %sum\nOpStore %to0 %one\nOpStore %to1 %other\n"},
    {"negated", false,
     WORK "%no_light = OpFNegate %float %light\n%none = OpFNegate %float %w\n"
          "%less = OpFSub %float %f1_5 %light\n"
          "OpStore %to0 %no_light\nOpStore %to1 %none\nOpStore %to2 %less\n"},
    {"converted", true,
     WORK "%sum = OpFAdd %float %light %f1_5\n%short = OpQuantizeToF16 %float %w\n"
          "%none = OpFNegate %float %short\n%floor = OpExtInst %float %glsl Floor %none\n"
          "OpStore %to0 %short\nOpStore %to1 %floor\nOpStore %to2 %sum\n"},
    {"summed", false,
     WORK "%sum = OpFAdd %float %c %light\n%fused = OpExtInst %float %glsl Fma %w %work %c\n"
          "%mixed = OpExtInst %float %glsl FMix %c %work %light\n"
          "OpStore %to0 %sum\nOpStore %to1 %fused\nOpStore %to2 %mixed\n"},
    /* (c + 0) * 1.5 is +0 where c is -0; so is -0 times a negative number. */
    {"multiplied", false,
     WORK "%sum = OpFAdd %float %c %light\n%product = OpFMul %float %sum %f1_5\n"
          "%high = OpFOrdGreaterThan %bool %x %f1_5\n%none = OpFNegate %float %w\n"
          "%one = OpSelect %float %high %none %f1_5\n%of_one = OpFMul %float %one %c\n"
          "%lit = OpFAdd %float %light %f1_5\n%all = OpFMul %float %lit %of_one\n"
          "OpStore %to0 %product\nOpStore %to1 %of_one\nOpStore %to2 %all\n"},
    {"absolute", true,
     WORK "%size_of_w = OpExtInst %float %glsl FAbs %w\n%sum = OpFAdd %float %light %f1_5\n"
          "OpStore %to0 %size_of_w\nOpStore %to2 %sum\nOpStore %to1 %f1_5\n"},
    {"its bits", false,
     WORK "%sum = OpFAdd %float %c %light\n%bits = OpBitcast %uint %sum\n"
          "%more = OpIAdd %uint %bits %u1\n%again = OpBitcast %float %more\n"
          "%wave = OpExtInst %float %glsl Sin %x\n%half = OpFMul %float %light %wave\n%last = "
          "OpFAdd %float %half %f1_5\n"
          "OpStore %to0 %again\nOpStore %to1 %last\nOpStore %to2 %sum\n"},
    {"divided", true,
     WORK "%sum = OpFAdd %float %light %f1_5\n%least = OpExtInst %float %glsl FMin %w %f1_5\n"
          "%quotient = OpFDiv %float %f1_5 %least\n%angle = OpExtInst %float %glsl Atan2 %w %c\n"
          "OpStore %to2 %sum\nOpStore %to0 %quotient\nOpStore %to1 %angle\n"},
};

static void fill(uint32_t item, float vector[4])
{
    static const float numbers[] = {2, 1, 0.25f, 3}, last[] = {-0.0f, 0, -1, 0.5f, -2.5f};
    vector[0] = numbers[item % 4];
    vector[3] = last[item % 5];
}

static void compare(const char *name, const struct differential_output *before,
                    const struct differential_output *after)
{
    uint32_t different = 0;
    for (uint32_t i = 0; i < WEIGHED_ITEMS; i++)
        for (uint32_t k = 0; k < WEIGHED_RESULTS; k++) {
            uint32_t want = before->words[weighed_place(i, k)];
            uint32_t got = after->words[weighed_place(i, k)];
            if (want != got && different++ < 5)
                fprintf(stderr, "%s: item %u (%g, %g, %g), result %u: 0x%08x, not 0x%08x\n", name,
                        i, (double)differential.inputs.floats[i],
                        (double)differential.inputs.vectors[i][0],
                        (double)differential.inputs.vectors[i][3], k, got, want);
        }
    if (different)
        fail_msg("%s on %s: %u words differ", name, differential.gpu.name, different);
}

/* As the driver takes it, and with all that it may contract forbidden. */
static void check(const char *name, const struct pm_words *original, const struct pm_words *variant)
{
    static struct differential_output before, after;
    differential_run(&differential, original, PM_STAGE_COMPUTE, NULL, &before);
    differential_run(&differential, variant, PM_STAGE_COMPUTE, NULL, &after);
    compare(name, &before, &after);
    struct pm_words precise[] = {differential_precise(original), differential_precise(variant)};
    differential_run(&differential, &precise[0], PM_STAGE_COMPUTE, NULL, &before);
    differential_run(&differential, &precise[1], PM_STAGE_COMPUTE, NULL, &after);
    compare(name, &before, &after);
    pm_words_finish(&precise[0]);
    pm_words_finish(&precise[1]);
}

static void test_bits(void **state)
{
    (void)state;
    static const float both[RANDOM_SHADER_GROUPS] = {0, 1, -0.0f, -2, 1e-42f, 0.5f, -1e-40f, -0.0f};
    static const float plus[RANDOM_SHADER_GROUPS] = {0, 1, 0, -2, 1e-42f, 0.5f, -3, 0};
    for (size_t i = 0; i < sizeof(shaders) / sizeof(shaders[0]); i++) {
        weighed_fill(&differential, shaders[i].negative ? both : plus, fill);
        struct pm_words original = weighed_assemble("", "", "", shaders[i].body);
        struct pm_words canonical = weighed_canonical(&original);
        struct pm_specialized specialized =
            weighed_specialize(&differential, &canonical, PM_FLOAT_ZERO_SHADER, false);
        if (!specialized.transforms)
            fail_msg("%s: nothing is specialized", shaders[i].name);
        check(shaders[i].name, &original, &specialized.words);
        pm_specialized_finish(&specialized);
        pm_words_finish(&canonical);
        pm_words_finish(&original);
    }
}

static int set_up(void **state)
{
    (void)state;
    differential_create(&differential);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    differential_destroy(&differential);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
