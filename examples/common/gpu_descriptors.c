#include "examples/common/gpu.h"

bool pm_gpu_set_layout_create(const struct pm_gpu *gpu, const VkDescriptorType *types,
                              uint32_t count, VkShaderStageFlags stages,
                              VkDescriptorSetLayout *layout, struct pm_error *error)
{
    VkDescriptorSetLayoutBinding bindings[PM_GPU_MAX_BINDINGS];
    for (uint32_t i = 0; i < count; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, types[i], 1, stages, NULL};
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = bindings,
    };
    return pm_gpu_check(vkCreateDescriptorSetLayout(gpu->device, &info, NULL, layout),
                        "vkCreateDescriptorSetLayout", error);
}

bool pm_gpu_pipeline_layout_create(const struct pm_gpu *gpu, const VkDescriptorSetLayout *sets,
                                   uint32_t count, VkShaderStageFlags stages, uint32_t push_bytes,
                                   VkPipelineLayout *layout, struct pm_error *error)
{
    const VkPushConstantRange range = {stages, 0, push_bytes};
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = count,
        .pSetLayouts = sets,
        .pushConstantRangeCount = push_bytes ? 1 : 0,
        .pPushConstantRanges = &range,
    };
    return pm_gpu_check(vkCreatePipelineLayout(gpu->device, &info, NULL, layout),
                        "vkCreatePipelineLayout", error);
}

bool pm_gpu_pool_create(const struct pm_gpu *gpu, const VkDescriptorPoolSize *sizes, uint32_t count,
                        uint32_t sets, VkDescriptorPool *pool, struct pm_error *error)
{
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = sets,
        .poolSizeCount = count,
        .pPoolSizes = sizes,
    };
    return pm_gpu_check(vkCreateDescriptorPool(gpu->device, &info, NULL, pool),
                        "vkCreateDescriptorPool", error);
}

bool pm_gpu_set_allocate(const struct pm_gpu *gpu, VkDescriptorPool pool,
                         VkDescriptorSetLayout layout, VkDescriptorSet *set, struct pm_error *error)
{
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout,
    };
    return pm_gpu_check(vkAllocateDescriptorSets(gpu->device, &info, set),
                        "vkAllocateDescriptorSets", error);
}

void pm_gpu_set_buffer(const struct pm_gpu *gpu, VkDescriptorSet set, uint32_t binding,
                       VkDescriptorType type, const struct pm_gpu_buffer *buffer)
{
    const VkDescriptorBufferInfo info = {buffer->handle, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .dstBinding = binding,
        .descriptorCount = 1,
        .descriptorType = type,
        .pBufferInfo = &info,
    };
    vkUpdateDescriptorSets(gpu->device, 1, &write, 0, NULL);
}

static void write_image(const struct pm_gpu *gpu, VkDescriptorSet set, uint32_t binding,
                        const struct pm_gpu_image *image, VkSampler sampler, VkImageLayout layout)
{
    const VkDescriptorImageInfo info = {sampler, image->view, layout};
    const VkWriteDescriptorSet write = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
        .dstSet = set,
        .dstBinding = binding,
        .descriptorCount = 1,
        .descriptorType =
            sampler ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE,
        .pImageInfo = &info,
    };
    vkUpdateDescriptorSets(gpu->device, 1, &write, 0, NULL);
}

void pm_gpu_set_image(const struct pm_gpu *gpu, VkDescriptorSet set, uint32_t binding,
                      const struct pm_gpu_image *image, VkSampler sampler)
{
    write_image(gpu, set, binding, image, sampler,
                !sampler ? VK_IMAGE_LAYOUT_GENERAL
                : image->format == VK_FORMAT_D32_SFLOAT
                    ? VK_IMAGE_LAYOUT_DEPTH_STENCIL_READ_ONLY_OPTIMAL
                    : VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
}

void pm_gpu_set_storage_texture(const struct pm_gpu *gpu, VkDescriptorSet set, uint32_t binding,
                                const struct pm_gpu_image *image, VkSampler sampler)
{
    write_image(gpu, set, binding, image, sampler, VK_IMAGE_LAYOUT_GENERAL);
}
