/* Stands for an overlay's library: what makes pipelines of its own on the game's device. */
#include <vulkan/vulkan.h>

VkResult overlay_make_compute(PFN_vkCreateComputePipelines create, VkDevice device,
                              const VkComputePipelineCreateInfo *info, VkPipeline *pipeline)
{
    const VkResult result = create(device, VK_NULL_HANDLE, 1, info, NULL, pipeline);
    return result == VK_SUCCESS && !*pipeline ? VK_INCOMPLETE : result; /* so it is no jump */
}
