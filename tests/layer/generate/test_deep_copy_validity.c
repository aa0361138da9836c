/* A copy keeps the specification's implicit rules: infos that have every structure that vk.xml lets
 * them have, for each state that can be dynamic, and for each part that a library can be. */
#include "validity.h"

#include "deep_copy.h"
#include "layer/generate/create_info.h"
#include "tests/cmocka_includes.h"

static void check(const char *broken, const char *what, uint64_t which)
{
    if (broken)
        fail_msg("%s %lu: %s", what, (unsigned long)which, broken);
}

struct variation {
    const VkDynamicState *dynamic;
    uint32_t dynamic_count;
    VkGraphicsPipelineLibraryFlagsEXT parts;
    bool render_pass;
};

static void vary(VkGraphicsPipelineCreateInfo *info, const struct variation *by)
{
    static const VkShaderStageFlagBits stages[3] = {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT,
                                                    VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT,
                                                    VK_SHADER_STAGE_FRAGMENT_BIT};
    for (uint32_t i = 0; i < 3; i++)
        ((VkPipelineShaderStageCreateInfo *)(uintptr_t)info->pStages)[i].stage = stages[i];
    VkPipelineDynamicStateCreateInfo *dynamic =
        (VkPipelineDynamicStateCreateInfo *)(uintptr_t)info->pDynamicState;
    dynamic->dynamicStateCount = by->dynamic_count;
    dynamic->pDynamicStates = by->dynamic;
    ((VkGraphicsPipelineLibraryCreateInfoEXT *)(uintptr_t)pm_find_in_chain(
         info->pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT))
        ->flags = by->parts;
    if (!by->render_pass)
        info->renderPass = VK_NULL_HANDLE;
}

/* The original is gone when the copy is read. */
static const char *copy_graphics(const struct variation *by)
{
    const struct pm_copy_subpass both = {.color = true, .depth_stencil = true};
    struct pm_arena *original = pm_arena_create(0), *own = pm_arena_create(0);
    struct pm_error error = {.code = PM_OK};
    VkGraphicsPipelineCreateInfo info = {0};
    validity_fill_GraphicsPipelineCreateInfo(original, &info);
    vary(&info, by);
    const char *broken = validity_check_GraphicsPipelineCreateInfo(&info);
    if (!broken) {
        const VkGraphicsPipelineCreateInfo *copy =
            pm_copy_GraphicsPipelineCreateInfo(own, &info, &both, &error);
        pm_arena_destroy(original);
        broken = copy ? validity_check_GraphicsPipelineCreateInfo(copy) : "it is not copied";
    }
    pm_arena_destroy(own);
    return broken;
}

static void each_dynamic_state(void **state)
{
    (void)state;
    assert_true(validity_dynamic_count > 70);
    for (uint32_t i = 0; i < validity_dynamic_count; i++) {
        for (int render_pass = 0; render_pass < 2; render_pass++) {
            const struct variation by = {&validity_dynamic[i], 1, PM_ALL_STATE, render_pass};
            check(copy_graphics(&by), "dynamic state", (uint64_t)validity_dynamic[i]);
        }
    }
}

static void each_part(void **state)
{
    (void)state;
    for (VkGraphicsPipelineLibraryFlagsEXT parts = 1; parts <= PM_ALL_STATE; parts++) {
        for (int i = 0; i < 4; i++) {
            const struct variation by = {validity_dynamic, i & 1 ? validity_dynamic_count : 0,
                                         parts, (i & 2) != 0};
            check(copy_graphics(&by), "parts", parts);
        }
    }
}

#define OTHER(name)                                                                                \
    static void a_##name(void **state)                                                             \
    {                                                                                              \
        (void)state;                                                                               \
        struct pm_arena *original = pm_arena_create(0), *own = pm_arena_create(0);                 \
        struct pm_error error = {.code = PM_OK};                                                   \
        Vk##name info = {0};                                                                       \
        validity_fill_##name(original, &info);                                                     \
        check(validity_check_##name(&info), "filled", 0);                                          \
        const Vk##name *copy = pm_copy_##name(own, &info, &error);                                 \
        pm_arena_destroy(original);                                                                \
        check(copy ? validity_check_##name(copy) : error.message, "copied", 0);                    \
        pm_arena_destroy(own);                                                                     \
    }

OTHER(ComputePipelineCreateInfo)
OTHER(PipelineLayoutCreateInfo)
OTHER(DescriptorSetLayoutCreateInfo)
OTHER(RenderPassCreateInfo)
OTHER(RenderPassCreateInfo2)
OTHER(SamplerCreateInfo)
OTHER(SamplerYcbcrConversionCreateInfo)
OTHER(ShaderModuleCreateInfo)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dynamic_state),
        cmocka_unit_test(each_part),
        cmocka_unit_test(a_ComputePipelineCreateInfo),
        cmocka_unit_test(a_PipelineLayoutCreateInfo),
        cmocka_unit_test(a_DescriptorSetLayoutCreateInfo),
        cmocka_unit_test(a_RenderPassCreateInfo),
        cmocka_unit_test(a_RenderPassCreateInfo2),
        cmocka_unit_test(a_SamplerCreateInfo),
        cmocka_unit_test(a_SamplerYcbcrConversionCreateInfo),
        cmocka_unit_test(a_ShaderModuleCreateInfo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
