#include "tests/layer/generate/varied.h"

#include "layer/generate/create_info.h"
#include "validity.h"

void varied_fill(struct pm_arena *arena, const struct variation *by,
                 VkGraphicsPipelineCreateInfo *info)
{
    static const VkShaderStageFlagBits stages[3] = {VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT,
                                                    VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT,
                                                    VK_SHADER_STAGE_FRAGMENT_BIT};
    *info = (VkGraphicsPipelineCreateInfo){0};
    validity_fill_GraphicsPipelineCreateInfo(arena, info);
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

void varied_each_dynamic(void (*visit)(const struct variation *by, uint64_t which))
{
    for (uint32_t i = 0; i < validity_dynamic_count; i++) {
        for (int render_pass = 0; render_pass < 2; render_pass++) {
            const struct variation by = {&validity_dynamic[i], 1, PM_ALL_STATE, render_pass};
            visit(&by, (uint64_t)validity_dynamic[i]);
        }
    }
}

void varied_each_part(void (*visit)(const struct variation *by, uint64_t which))
{
    for (VkGraphicsPipelineLibraryFlagsEXT parts = 1; parts <= PM_ALL_STATE; parts++) {
        for (int i = 0; i < 4; i++) {
            const struct variation by = {validity_dynamic, i & 1 ? validity_dynamic_count : 0,
                                         parts, (i & 2) != 0};
            visit(&by, parts);
        }
    }
}
