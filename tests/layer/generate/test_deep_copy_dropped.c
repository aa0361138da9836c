/* Which arrays a deep copy leaves out. Of an array that goes, the count goes with it (HAZARDS 10:
 * pColorWriteEnables NULL with a count of 3 crashed a driver), unless a line below says why it may
 * stay. Every structure that a copy can meet is looked at, with every array that vk.xml gives it.
 */
#include "validity.h"

#include "deep_copy.h"
#include "tests/cmocka_includes.h"
#include "tests/layer/generate/varied.h"
#include <string.h>

/* Reviewed against Vulkan 1.4.309: the count says more than how long the array is, and nobody may
 * read the array, whatever the count. */
static const struct {
    const char *member, *why;
} may_stay[] = {
    {"VkPipelineViewportStateCreateInfo.pViewports",
     "read only where VK_DYNAMIC_STATE_VIEWPORT and _WITH_COUNT are static; viewportCount is the "
     "pipeline's number of viewports with the former"},
    {"VkPipelineViewportStateCreateInfo.pScissors", "the same of scissors"},
    {"VkPipelineMultisampleStateCreateInfo.pSampleMask",
     "may be NULL, which means no mask; its length is by rasterizationSamples, which is no count"},
    {"VkPipelineDiscardRectangleStateCreateInfoEXT.pDiscardRectangles",
     "ignored where VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT is dynamic; discardRectangleCount is "
     "how "
     "many are set then"},
    {"VkPipelineViewportWScalingStateCreateInfoNV.pViewportWScalings",
     "ignored where VK_DYNAMIC_STATE_VIEWPORT_W_SCALING_NV is dynamic; viewportCount has to be the "
     "viewport state's"},
    {"VkPipelineViewportShadingRateImageStateCreateInfoNV.pShadingRatePalettes",
     "ignored where VK_DYNAMIC_STATE_VIEWPORT_SHADING_RATE_PALETTE_NV is dynamic; viewportCount "
     "has "
     "to be the viewport state's"},
    {"VkPipelineViewportExclusiveScissorStateCreateInfoNV.pExclusiveScissors",
     "ignored where VK_DYNAMIC_STATE_EXCLUSIVE_SCISSOR_NV is dynamic; exclusiveScissorCount has to "
     "be the viewport state's, or 0, which would turn them off"},
    {"VkDescriptorSetLayoutBinding.pImmutableSamplers",
     "ignored where the type has no sampler; descriptorCount is the binding's size"},
};
enum { MAY_STAY = sizeof may_stay / sizeof may_stay[0] };

static void copy_graphics(const struct variation *by, uint64_t which)
{
    const struct pm_copy_subpass both = {.color = true, .depth_stencil = true};
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_error error = {.code = PM_OK};
    VkGraphicsPipelineCreateInfo info;
    varied_fill(arena, by, &info);
    const VkGraphicsPipelineCreateInfo *copy =
        pm_copy_GraphicsPipelineCreateInfo(arena, &info, &both, NULL, &error);
    if (!copy)
        fail_msg("%lu: %s", (unsigned long)which, error.message);
    validity_compare_GraphicsPipelineCreateInfo(&info, copy);
    pm_arena_destroy(arena);
}

/* Compute pipelines' may share, too, but do not here. */
#define pm_copy_ComputePipelineCreateInfo(arena, info, error)                                      \
    (pm_copy_ComputePipelineCreateInfo)(arena, info, NULL, error)

#define COPY(name, ...)                                                                            \
    do {                                                                                           \
        struct pm_arena *arena = pm_arena_create(0);                                               \
        struct pm_error error = {.code = PM_OK};                                                   \
        Vk##name info = {0};                                                                       \
        validity_fill_##name(arena, &info);                                                        \
        __VA_ARGS__;                                                                               \
        const Vk##name *copy = pm_copy_##name(arena, &info, &error);                               \
        if (!copy)                                                                                 \
            fail_msg("%s", error.message);                                                         \
        validity_compare_##name(&info, copy);                                                      \
        pm_arena_destroy(arena);                                                                   \
    } while (0)

/* Of a type that has no samplers. */
static void make_plain(VkDescriptorSetLayoutCreateInfo *info)
{
    for (uint32_t i = 0; i < info->bindingCount; i++)
        ((VkDescriptorSetLayoutBinding *)(uintptr_t)info->pBindings)[i].descriptorType =
            VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
}

static int copy_everything(void **state)
{
    (void)state;
    varied_each_dynamic(copy_graphics);
    varied_each_part(copy_graphics);
    COPY(ComputePipelineCreateInfo);
    COPY(PipelineLayoutCreateInfo);
    COPY(DescriptorSetLayoutCreateInfo);
    COPY(DescriptorSetLayoutCreateInfo, make_plain(&info));
    COPY(RenderPassCreateInfo);
    COPY(RenderPassCreateInfo2);
    COPY(SamplerCreateInfo);
    COPY(SamplerYcbcrConversionCreateInfo);
    COPY(ShaderModuleCreateInfo);
    COPY(ShaderCreateInfoEXT);
    return 0;
}

static const struct validity_dropped *dropped(const char *member)
{
    for (uint32_t i = 0; i < validity_dropped_count; i++) {
        if (strcmp(validity_dropped[i].member, member) == 0)
            return &validity_dropped[i];
    }
    return NULL;
}

static bool is_reviewed(const char *member)
{
    for (size_t i = 0; i < MAY_STAY; i++) {
        if (strcmp(may_stay[i].member, member) == 0)
            return true;
    }
    return false;
}

static void a_count_goes_with_its_array(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < validity_dropped_count; i++) {
        const struct validity_dropped *one = &validity_dropped[i];
        if (one->counted && !is_reviewed(one->member))
            fail_msg("%s is left out of a copy, and its count is not", one->member);
    }
}

/* A line that nothing takes would hide what comes under it later. */
static void every_reviewed_one_happens(void **state)
{
    (void)state;
    for (size_t i = 0; i < MAY_STAY; i++) {
        const struct validity_dropped *one = dropped(may_stay[i].member);
        if (!one || !one->counted)
            fail_msg("%s does not lose its array and keep its count", may_stay[i].member);
    }
}

/* Else some rule was never tried by the copies above. */
static void every_rule_was_seen(void **state)
{
    (void)state;
    assert_true(validity_cleared_count > 8);
    for (uint32_t i = 0; i < validity_cleared_count; i++) {
        if (!dropped(validity_cleared[i]))
            fail_msg("no copy was made that lacks %s", validity_cleared[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_goes_with_its_array),
        cmocka_unit_test(every_reviewed_one_happens),
        cmocka_unit_test(every_rule_was_seen),
    };
    return cmocka_run_group_tests(tests, copy_everything, NULL);
}
