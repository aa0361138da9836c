/* Copies of pipelines' create infos that are the same are one, with every structure that vk.xml
 * lets them have: whatever lies between the members, which is the application's garbage, and
 * wherever a rule puts something in the place of what is ignored. */
#include "validity.h"

#include "deep_copy.h"
#include "layer/generate/create_info.h"
#include "tests/cmocka_includes.h"
#include "tests/layer/generate/varied.h"

static struct pm_interned *states;

static int set_up(void **state)
{
    (void)state;
    states = pm_interned_create((size_t)1 << 20);
    return states ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pm_interned_destroy(states);
    validity_padding = 0;
    return 0;
}

/* Shared, with what is its own in `own`. */
static const VkGraphicsPipelineCreateInfo *
copy_graphics(struct pm_arena *own, const struct variation *by, unsigned char padding)
{
    const struct pm_copy_subpass both = {.color = true, .depth_stencil = true};
    const struct pm_copy_sharing sharing = {.states = states};
    struct pm_arena *original = pm_arena_create(0);
    struct pm_error error;
    VkGraphicsPipelineCreateInfo info;
    validity_padding = padding;
    varied_fill(original, by, &info);
    /* Constants are each copy's own. */
    for (uint32_t i = 0; i < info.stageCount; i++)
        ((VkPipelineShaderStageCreateInfo *)(uintptr_t)info.pStages)[i].pSpecializationInfo = NULL;
    const VkGraphicsPipelineCreateInfo *copy =
        pm_copy_GraphicsPipelineCreateInfo(own, &info, &both, &sharing, &error);
    pm_arena_destroy(original);
    return copy;
}

static void check(const struct variation *by, uint64_t which)
{
    struct pm_arena *own = pm_arena_create(0);
    const VkGraphicsPipelineCreateInfo *first = copy_graphics(own, by, 0xaa);
    const VkGraphicsPipelineCreateInfo *same = copy_graphics(own, by, 0x55);
    if (!first || first != same || pm_arena_used(own) != 0)
        fail_msg("%lu: not shared, %zu bytes are the copies' own", (unsigned long)which,
                 pm_arena_used(own));
    const char *broken = validity_check_GraphicsPipelineCreateInfo(same);
    if (broken)
        fail_msg("%lu: %s", (unsigned long)which, broken);
    pm_arena_destroy(own);
}

static void each_dynamic_state(void **state)
{
    (void)state;
    varied_each_dynamic(check);
}

static void each_part(void **state)
{
    (void)state;
    varied_each_part(check);
}

static void dynamic_blending(void **state)
{
    static const VkDynamicState dynamic[] = {VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT,
                                             VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT,
                                             VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT};
    const struct variation by = {dynamic, 3, PM_ALL_STATE, true};
    (void)state;
    check(&by, VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT);
}

static const VkComputePipelineCreateInfo *copy_compute(struct pm_arena *own, unsigned char padding)
{
    const struct pm_copy_sharing sharing = {.states = states};
    struct pm_arena *original = pm_arena_create(0);
    struct pm_error error;
    VkComputePipelineCreateInfo info = {0};
    validity_padding = padding;
    validity_fill_ComputePipelineCreateInfo(original, &info);
    info.stage.pSpecializationInfo = NULL;
    const VkComputePipelineCreateInfo *copy =
        pm_copy_ComputePipelineCreateInfo(own, &info, &sharing, &error);
    pm_arena_destroy(original);
    return copy;
}

static void compute(void **state)
{
    (void)state;
    struct pm_arena *own = pm_arena_create(0);
    const VkComputePipelineCreateInfo *first = copy_compute(own, 0xaa);
    assert_non_null(first);
    assert_ptr_equal(copy_compute(own, 0x55), first);
    assert_int_equal(pm_arena_used(own), 0);
    assert_null(validity_check_ComputePipelineCreateInfo(first));
    pm_arena_destroy(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_dynamic_state, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_part, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dynamic_blending, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compute, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
