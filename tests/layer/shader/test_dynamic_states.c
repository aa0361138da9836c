/* Which states pipelines leave to commands (layer/shader/dynamic_states.h). */
#include "layer/shader/dynamic_states.h"

#include "layer/generate/create_info.h"
#include "tests/cmocka_includes.h"
#include <string.h>

#define BEFORE VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT
#define OUTPUT VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT

static struct pm_dynamic_states states;
static uint64_t left[PM_DYNAMIC_WORDS];

static void leave(VkGraphicsPipelineLibraryFlagsEXT own, VkDynamicState state)
{
    const VkPipelineDynamicStateCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 1,
        .pDynamicStates = &state};
    pm_dynamic_states_add(&states, &info, own, left);
}

static bool any(void)
{
    const uint64_t none[PM_DYNAMIC_WORDS] = {0};
    return !pm_dynamic_states_are_all(&states, none);
}

static bool all_are_left(void)
{
    return pm_dynamic_states_are_all(&states, left);
}

static int begin(void **unused)
{
    (void)unused;
    states = (struct pm_dynamic_states){0};
    memset(left, 0, sizeof left);
    pm_dynamic_states_init(&states);
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    pm_dynamic_states_finish(&states);
    return 0;
}

/* A library that lists what belongs to another one leaves nothing. */
static void a_library_leaves_its_own_states(void **unused)
{
    (void)unused;
    leave(OUTPUT, VK_DYNAMIC_STATE_DEPTH_BIAS);
    leave(0, VK_DYNAMIC_STATE_DEPTH_BIAS);
    assert_false(any());
    leave(BEFORE, VK_DYNAMIC_STATE_DEPTH_BIAS);
    assert_true(any() && all_are_left());
    leave(PM_ALL_STATE, VK_DYNAMIC_STATE_BLEND_CONSTANTS);
    assert_true(all_are_left());
    /* Another pipeline's, which this one sets. */
    memset(left, 0, sizeof left);
    leave(OUTPUT, VK_DYNAMIC_STATE_DEPTH_BIAS);
    leave(OUTPUT, VK_DYNAMIC_STATE_BLEND_CONSTANTS);
    assert_false(all_are_left());
}

/* What is not known to belong to the library may be set by it, and may be left by another. */
static void an_unknown_state_is_left_by_what_has_all(void **unused)
{
    (void)unused;
    const VkDynamicState unknown = (VkDynamicState)1000999000;
    leave(OUTPUT, unknown);
    assert_true(any() && !all_are_left());
    leave(PM_ALL_STATE, unknown);
    assert_true(all_are_left());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_library_leaves_its_own_states, begin, end),
        cmocka_unit_test_setup_teardown(an_unknown_state_is_left_by_what_has_all, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
