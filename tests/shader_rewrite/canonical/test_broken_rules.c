/* Shaders that break a rule of Vulkan's and run all the same: they are taken as they are, but for
 * what breaks more than they did. */
#include "shader_rewrite/shader_rewrite.h"
#include "tests/shader_rewrite/spirv_text.h"

#include <stdio.h>
#include <string.h>

#include "tests/cmocka_includes.h"

static const struct pm_target vulkan_1_3 = {.vulkan_minor = 3};

/* An integer that a fragment shader is given has to be Flat; those of the conformance suite that
 * read the size of a subgroup are not. */
static const char without_flat[] = "OpCapability Shader\n"
                                   "OpCapability GroupNonUniform\n"
                                   "OpMemoryModel Logical GLSL450\n"
                                   "OpEntryPoint Fragment %main \"main\" %size %color\n"
                                   "OpExecutionMode %main OriginUpperLeft\n"
                                   "OpDecorate %size BuiltIn SubgroupSize\n"
                                   "OpDecorate %color Location 0\n"
                                   "%void = OpTypeVoid\n"
                                   "%function = OpTypeFunction %void\n"
                                   "%bool = OpTypeBool\n"
                                   "%uint = OpTypeInt 32 0\n"
                                   "%float = OpTypeFloat 32\n"
                                   "%in_uint = OpTypePointer Input %uint\n"
                                   "%out_float = OpTypePointer Output %float\n"
                                   "%five = OpConstant %uint 5\n"
                                   "%one = OpConstant %float 1\n"
                                   "%two = OpConstant %float 2\n"
                                   "%size = OpVariable %in_uint Input\n"
                                   "%color = OpVariable %out_float Output\n"
                                   "%main = OpFunction %void None %function\n"
                                   "%begin = OpLabel\n"
                                   "%loaded = OpLoad %uint %size\n"
                                   "%small = OpULessThan %bool %loaded %five\n"
                                   "OpSelectionMerge %end None\n"
                                   "OpBranchConditional %small %then %else\n"
                                   "%then = OpLabel\n"
                                   "OpStore %color %one\n"
                                   "OpBranch %end\n"
                                   "%else = OpLabel\n"
                                   "OpStore %color %two\n"
                                   "OpBranch %end\n"
                                   "%end = OpLabel\n"
                                   "OpReturn\n"
                                   "OpFunctionEnd\n";

/* The text with one line in another's place. */
static struct pm_words with_line(const char *line, const char *instead)
{
    char text[sizeof without_flat + 200];
    const char *at = strstr(without_flat, line);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - without_flat), without_flat, instead,
             at + strlen(line));
    return pm_test_assemble(text, 3);
}

static bool canonicalize(const struct pm_words *module, struct pm_words *out,
                         struct pm_error *error)
{
    const struct pm_canonicalize_info info = {.words = module->data,
                                              .word_count = module->count,
                                              .stage = PM_STAGE_FRAGMENT,
                                              .entry_point = "main",
                                              .target = vulkan_1_3};
    return pm_canonicalize(&info, out, error);
}

static void a_missing_flat_costs_no_profile(void **state)
{
    (void)state;
    struct pm_words module = pm_test_assemble(without_flat, 3), canonical;
    struct pm_error error = {0};
    assert_false(pm_validate(module.data, module.count, &vulkan_1_3, &error));
    assert_non_null(strstr(error.message, "Flat"));
    if (!canonicalize(&module, &canonical, &error))
        fail_msg("%s", error.message);
    assert_int_equal(pm_test_count(&canonical, "Flat"), 0);

    struct pm_instrumented counting;
    const uint32_t points[] = {0, 1};
    const struct pm_instrument_info info = {.points = points,
                                            .point_count = 2,
                                            .slot_count = 1,
                                            .int64_atomics = true,
                                            .target = vulkan_1_3};
    if (!pm_instrument_blocks(canonical.data, canonical.count, &info, &counting, &error))
        fail_msg("%s", error.message);
    pm_instrumented_finish(&counting);
    pm_words_finish(&canonical);
    pm_words_finish(&module);
}

static void what_is_broken_besides_is_refused(void **state)
{
    (void)state;
    struct pm_words module = pm_test_assemble(without_flat, 3);
    struct pm_error error = {0};
    /* Another rule of Vulkan's, and one of SPIR-V's own. */
    struct pm_words other = with_line("OpExecutionMode %main OriginUpperLeft\n",
                                      "OpExecutionMode %main OriginLowerLeft\n");
    assert_false(pm_validate_made(&other, module.data, module.count, &vulkan_1_3, &error));
    struct pm_words wrong =
        with_line("%small = OpULessThan %bool %loaded %five\n", "%small = OpLoad %bool %size\n");
    assert_false(pm_validate_made(&wrong, module.data, module.count, &vulkan_1_3, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    struct pm_words canonical;
    assert_false(canonicalize(&wrong, &canonical, &error));
    /* A sound original's variant may break nothing. */
    struct pm_words sound = with_line("OpDecorate %size BuiltIn SubgroupSize\n",
                                      "OpDecorate %size BuiltIn SubgroupSize\n"
                                      "OpDecorate %size Flat\n");
    assert_true(pm_validate_made(&sound, module.data, module.count, &vulkan_1_3, &error));
    assert_true(pm_validate_made(&module, module.data, module.count, &vulkan_1_3, &error));
    assert_false(pm_validate_made(&module, sound.data, sound.count, &vulkan_1_3, &error));
    pm_words_finish(&sound);
    pm_words_finish(&wrong);
    pm_words_finish(&other);
    pm_words_finish(&module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_flat_costs_no_profile),
        cmocka_unit_test(what_is_broken_besides_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
