/* What knows more of inexact functions than the original is taken back, and random shaders hardly
 * ever come to that. */
#include "shader_rewrite/analysis/analysis_folded.h"
#include "tests/shader_rewrite/differential/adversary.h"
#include "tests/shader_rewrite/differential/adversary_blocks.h"
#include "tests/shader_rewrite/differential/random_shader.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const struct pm_target target = {.vulkan_minor = 3, .uniform_buffer_standard_layout = true};

/* %x is read; %one and %two are literals, %chosen is either of what is computed, by which way was
 * taken. */
static struct pm_words with(const char *chosen, const char *computed)
{
    char text[2048];
    snprintf(text, sizeof(text),
             "OpCapability Shader\n%%glsl = OpExtInstImport \"GLSL.std.450\"\n"
             "OpMemoryModel Logical GLSL450\nOpEntryPoint Fragment %%main \"main\" %%in %%out\n"
             "OpExecutionMode %%main OriginUpperLeft\nOpDecorate %%in Location 0\n"
             "OpDecorate %%out Location 0\n%%void = OpTypeVoid\n%%bool = OpTypeBool\n"
             "%%float = OpTypeFloat 32\n%%pi = OpTypePointer Input %%float\n"
             "%%po = OpTypePointer Output %%float\n%%in = OpVariable %%pi Input\n"
             "%%out = OpVariable %%po Output\n%%one = OpConstant %%float 1.5\n"
             "%%two = OpConstant %%float 2\n%%function = OpTypeFunction %%void\n"
             "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
             "%%x = OpLoad %%float %%in\n%%yes = OpFOrdLessThan %%bool %%x %%one\n"
             "OpSelectionMerge %%end None\nOpBranchConditional %%yes %%way %%end\n"
             "%%way = OpLabel\n%%y = OpFAdd %%float %%x %%x\nOpBranch %%end\n%%end = OpLabel\n"
             "%%chosen = OpPhi %%float %s\n"
             "%%z = OpFMul %%float %%chosen %%x\n%%r = %s\nOpStore %%out %%r\n"
             "OpReturn\nOpFunctionEnd\n",
             chosen, computed);
    return pm_test_assemble(text, 3);
}

#define COMPUTED "%y %way %x %entry"
#define LITERALS "%one %way %two %entry"

static void check(const char *before, const char *computed, const char *after, const char *made,
                  bool expected)
{
    struct pm_words original = with(before, computed), variant = with(after, made);
    struct pm_error error = {0};
    char *report = strdup("{\"changes\":1}");
    bool refused;
    if (!pm_refuse_folded(original.data, original.count, &variant, &report, &refused, &error))
        fail_msg("%s", error.message);
    if (refused != expected)
        fail_msg("%s with %s of %s with %s: %d", made, after, computed, before, refused);
    assert_int_equal(variant.count == 0, expected);
    assert_string_equal(report, expected ? "{\"refused\":true,\"changes\":1}" : "{\"changes\":1}");
    free(report);
    pm_words_finish(&variant);
    pm_words_finish(&original);
}

static void test_refused(void **state)
{
    (void)state;
    static const char power[] = "OpExtInst %float %glsl Pow %z %chosen",
                      by_two[] = "OpExtInst %float %glsl Pow %z %two",
                      remainder[] = "OpFRem %float %z %chosen",
                      root[] = "OpExtInst %float %glsl Sqrt %chosen",
                      of_two[] = "OpExtInst %float %glsl Sqrt %two";
    /* Literals come into it: as an operand, or by all ways of an OpPhi. */
    check(COMPUTED, power, COMPUTED, by_two, true);
    check(COMPUTED, power, LITERALS, power, true);
    check(COMPUTED, remainder, LITERALS, remainder, true);
    check(COMPUTED, root, LITERALS, root, true);
    check(COMPUTED, root, COMPUTED, of_two, true);
    /* It was there before, or there is none. */
    check(COMPUTED, by_two, COMPUTED, by_two, false);
    check(LITERALS, power, LITERALS, power, false);
    check(LITERALS, remainder, COMPUTED, remainder, false);
    check(COMPUTED, root, COMPUTED, root, false);
    /* Of another literal a compiler may make something else. */
    check(COMPUTED, by_two, COMPUTED, "OpExtInst %float %glsl Pow %z %one", true);
}

struct seen {
    unsigned made, refused;
};

static void count(struct seen *seen, uint32_t made, const char *report)
{
    seen->made += made > 0;
    seen->refused += report && strstr(report, "\"refused\":true") != NULL;
}

static void look_at(uint64_t seed, struct seen *zeros, struct seen *blocks)
{
    const struct random_shader_options options = {.stage = seed % 2 ? PM_STAGE_COMPUTE
                                                                    : PM_STAGE_FRAGMENT,
                                                  .walks = seed % 3 != 0,
                                                  .exits_inside = seed % 5 == 0,
                                                  .statements = RANDOM_SHADER_STATEMENTS};
    char *text = random_shader_text(seed, &options);
    struct pm_words original = pm_test_assemble(text, 3), canonical;
    free(text);
    struct pm_error error = {0};
    const struct pm_canonicalize_info info = {.words = original.data,
                                              .word_count = original.count,
                                              .stage = options.stage,
                                              .entry_point = "main",
                                              .target = target};
    if (!pm_canonicalize(&info, &canonical, &error))
        fail_msg("%s", error.message);
    const struct pm_zero_beyond beyond = adversary_beyond(seed);
    for (uint32_t w = 0; w < ADVERSARY_WAYS; w++) {
        struct pm_specialized out;
        if (!adversary_specialize(&adversary_ways[w], seed, &beyond, &canonical, false, true,
                                  &target, NULL, &out, &error))
            fail_msg("%s", error.message);
        count(zeros, out.transforms, out.report);
        pm_specialized_finish(&out);
    }
    for (uint32_t w = 0; w < ADVERSARY_BLOCK_WAYS; w++) {
        struct pm_optimized_blocks out;
        if (!adversary_blocks(PM_BLOCK_ALL, w, seed, &canonical, true, &target, NULL, &out, &error))
            fail_msg("%s", error.message);
        count(blocks, out.changes, out.report);
        pm_optimized_blocks_finish(&out);
    }
    pm_words_finish(&canonical);
    pm_words_finish(&original);
}

static void test_random(void **state)
{
    (void)state;
    /* As where all ways of an OpPhi are zero or another literal, and a root is taken of it. */
    struct seen zeros = {0}, blocks = {0};
    for (uint64_t seed = 1; seed <= 24; seed++)
        look_at(seed, &zeros, &blocks);
    printf("zeros: %u made, %u refused; blocks: %u made, %u refused\n", zeros.made, zeros.refused,
           blocks.made, blocks.refused);
    assert_true(zeros.made > 100 && blocks.made > 20);
    assert_in_range(zeros.refused, 1, zeros.made / 10);
    assert_true(blocks.refused <= blocks.made / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
