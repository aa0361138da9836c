#include "bench/cost/module_layout.h"

static bool make_set(struct pm_module_layout *layout, const struct pm_gpu *gpu,
                     const struct pm_interface *interface, uint32_t set, struct pm_error *error)
{
    VkDescriptorSetLayoutBinding bindings[PM_INTERFACE_MOST];
    uint32_t count = 0;
    for (size_t i = 0; i < interface->binding_count; i++) {
        const struct pm_interface_binding *from = &interface->bindings[i];
        if (from->set == set)
            bindings[count++] = (VkDescriptorSetLayoutBinding){
                .binding = from->binding,
                .descriptorType = from->type,
                .descriptorCount = from->count,
                .stageFlags = VK_SHADER_STAGE_ALL,
            };
    }
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = count,
        .pBindings = bindings,
    };
    return pm_gpu_check(vkCreateDescriptorSetLayout(gpu->device, &info, NULL, &layout->sets[set]),
                        "vkCreateDescriptorSetLayout", error);
}

bool pm_module_layout_init(struct pm_module_layout *layout, const struct pm_gpu *gpu,
                           const struct pm_interface *interface, struct pm_error *error)
{
    const uint32_t most = gpu->properties.limits.maxBoundDescriptorSets;
    uint32_t count = 0;
    for (size_t i = 0; i < interface->binding_count; i++)
        if (interface->bindings[i].set >= count)
            count = interface->bindings[i].set + 1;
    if (count > most)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "the device has %u descriptor sets", most);
    layout->set_count = count;
    for (uint32_t set = 0; set < count; set++)
        if (!make_set(layout, gpu, interface, set, error))
            return false;
    const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_MODULE_PUSH_BYTES};
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = count,
        .pSetLayouts = layout->sets,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &push,
    };
    return pm_gpu_check(vkCreatePipelineLayout(gpu->device, &info, NULL, &layout->pipeline),
                        "vkCreatePipelineLayout", error);
}

void pm_module_layout_finish(struct pm_module_layout *layout, const struct pm_gpu *gpu)
{
    vkDestroyPipelineLayout(gpu->device, layout->pipeline, NULL);
    for (uint32_t i = 0; i < PM_INTERFACE_SETS; i++)
        vkDestroyDescriptorSetLayout(gpu->device, layout->sets[i], NULL);
}

VkFormat pm_module_format(enum pm_interface_scalar scalar, uint32_t components)
{
    static const VkFormat formats[3][4] = {
        {VK_FORMAT_R32_SFLOAT, VK_FORMAT_R32G32_SFLOAT, VK_FORMAT_R32G32B32_SFLOAT,
         VK_FORMAT_R32G32B32A32_SFLOAT},
        {VK_FORMAT_R32_SINT, VK_FORMAT_R32G32_SINT, VK_FORMAT_R32G32B32_SINT,
         VK_FORMAT_R32G32B32A32_SINT},
        {VK_FORMAT_R32_UINT, VK_FORMAT_R32G32_UINT, VK_FORMAT_R32G32B32_UINT,
         VK_FORMAT_R32G32B32A32_UINT},
    };
    return formats[scalar][components - 1];
}
