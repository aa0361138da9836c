#include "layer/generate/create_info.h"

const void *pm_find_in_chain(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *item = chain;
    while (item && item->sType != type)
        item = item->pNext;
    return item;
}

bool pm_is_dynamic(const VkPipelineDynamicStateCreateInfo *dynamic, VkDynamicState state)
{
    for (uint32_t i = 0; dynamic && i < dynamic->dynamicStateCount; i++) {
        if (dynamic->pDynamicStates[i] == state)
            return true;
    }
    return false;
}

VkGraphicsPipelineLibraryFlagsEXT pm_own_state(const VkGraphicsPipelineCreateInfo *info)
{
    const VkGraphicsPipelineLibraryCreateInfoEXT *part =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
    const VkPipelineLibraryCreateInfoKHR *linked =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
    if (part)
        return part->flags;
    if ((info->flags & VK_PIPELINE_CREATE_LIBRARY_BIT_KHR) || (linked && linked->libraryCount > 0))
        return 0;
    return PM_ALL_STATE;
}
