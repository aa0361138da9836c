#include "layer/generate/create_info.h"

const void *pm_find_in_chain(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *item = chain;
    while (item && item->sType != type)
        item = item->pNext;
    return item;
}

bool pm_fail_newer(struct pm_error *error, VkStructureType type)
{
    return pm_fail(error, PM_ERROR_NEWER,
                   "a structure of sType %u in a pNext chain, which the Vulkan headers of this "
                   "build (1.4.%d) do not know",
                   (unsigned)type, VK_HEADER_VERSION);
}

bool pm_is_dynamic(const VkPipelineDynamicStateCreateInfo *dynamic, VkDynamicState state)
{
    for (uint32_t i = 0; dynamic && i < dynamic->dynamicStateCount; i++) {
        if (dynamic->pDynamicStates[i] == state)
            return true;
    }
    return false;
}

VkPipelineCreateFlags2 pm_pipeline_flags(VkPipelineCreateFlags flags, const void *chain)
{
    const VkPipelineCreateFlags2CreateInfo *own =
        pm_find_in_chain(chain, VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO);
    return own ? own->flags : flags;
}

VkGraphicsPipelineLibraryFlagsEXT pm_own_state(const VkGraphicsPipelineCreateInfo *info)
{
    const VkGraphicsPipelineLibraryCreateInfoEXT *part =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT);
    const VkPipelineLibraryCreateInfoKHR *linked =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
    if (part)
        return part->flags;
    const bool is_library =
        pm_pipeline_flags(info->flags, info->pNext) & VK_PIPELINE_CREATE_2_LIBRARY_BIT_KHR;
    if (is_library || (linked && linked->libraryCount > 0))
        return 0;
    return PM_ALL_STATE;
}
