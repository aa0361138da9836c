/* Descriptors that are in no set: pushed, or in a buffer. */
#include "tests/cts/ways.h"

/* ---- pushed ---- */

/* As the layout of all, but for where the descriptors come from. */
static VkDescriptorSetLayout make_set_layout(const struct cts *cts,
                                             VkDescriptorSetLayoutCreateFlags flags)
{
    VkDescriptorSetLayoutBinding bindings[PM_GPU_BUFFERS + 2];
    const uint32_t count = gpu_bindings(bindings);
    /* lavapipe 25 walks off its stages where a descriptor buffer's layout has VK_SHADER_STAGE_ALL. */
    for (uint32_t i = 0; i < count; i++)
        bindings[i].stageFlags = VK_SHADER_STAGE_ALL_GRAPHICS | VK_SHADER_STAGE_COMPUTE_BIT;
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = flags,
        .bindingCount = count,
        .pBindings = bindings};
    VkDescriptorSetLayout layout;
    CHECK(vkCreateDescriptorSetLayout(cts->gpu.device, &info, NULL, &layout));
    return layout;
}

static void open_pushed(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    cts_create_way_layout(
        cts, make_set_layout(cts, VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR));
}

static void push(const struct cts *cts, VkCommandBuffer commands, VkPipelineBindPoint point)
{
    struct gpu_writes writes;
    gpu_writes_fill(&cts->gpu, &cts->buffers, &cts->given, VK_NULL_HANDLE, &writes);
    cts->vk.CmdPushDescriptorSetKHR(commands, point, cts->gpu.layout, 0, writes.count,
                                    writes.writes);
}

const struct cts_way_of cts_push_descriptors = {.extensions = {"VK_KHR_push_descriptor"},
                                                .open = open_pushed,
                                                .turn = cts_turn_layout,
                                                .bind = push};

/* ---- in a buffer ---- */

enum {
    DESCRIPTOR_USAGE = VK_BUFFER_USAGE_RESOURCE_DESCRIPTOR_BUFFER_BIT_EXT |
                       VK_BUFFER_USAGE_SAMPLER_DESCRIPTOR_BUFFER_BIT_EXT
};

static void put(struct cts *cts, uint32_t binding, const VkDescriptorGetInfoEXT *info, size_t size)
{
    VkDeviceSize offset;
    cts->vk.GetDescriptorSetLayoutBindingOffsetEXT(cts->gpu.device, cts->way_set_layout, binding,
                                                   &offset);
    cts->vk.GetDescriptorEXT(cts->gpu.device, info, size,
                             (char *)cts->way_buffers[0].data + offset);
}

static void put_buffer(struct cts *cts, uint32_t binding, const struct pm_gpu_buffer *buffer,
                       VkDescriptorType type, size_t size)
{
    const VkDescriptorAddressInfoEXT address = {.sType =
                                                    VK_STRUCTURE_TYPE_DESCRIPTOR_ADDRESS_INFO_EXT,
                                                .address = buffer->address,
                                                .range = buffer->size};
    VkDescriptorGetInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_GET_INFO_EXT,
                                   .type = type};
    if (type == VK_DESCRIPTOR_TYPE_STORAGE_BUFFER)
        info.data.pStorageBuffer = &address;
    else
        info.data.pUniformBuffer = &address;
    put(cts, binding, &info, size);
}

static void fill_buffer(struct cts *cts)
{
    VkPhysicalDeviceDescriptorBufferPropertiesEXT sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_PROPERTIES_EXT};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &sizes};
    vkGetPhysicalDeviceProperties2(cts->gpu.physical, &properties);
    for (uint32_t i = 0; i < PM_GPU_BUFFERS; i++)
        put_buffer(cts, i, cts->buffers.buffers[i], VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                   sizes.storageBufferDescriptorSize);
    put_buffer(cts, PM_GPU_UNIFORM_BINDING, cts->buffers.uniform, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER,
               sizes.uniformBufferDescriptorSize);
    const VkDescriptorImageInfo image = {cts->gpu.sampler, cts->gpu.texture_view,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkDescriptorGetInfoEXT info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_GET_INFO_EXT,
                                         .type = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                         .data.pCombinedImageSampler = &image};
    put(cts, PM_GPU_TEXTURE_BINDING, &info, sizes.combinedImageSamplerDescriptorSize);
}

static void open_buffer(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    VkDeviceSize size;
    cts_create_way_layout(
        cts, make_set_layout(cts, VK_DESCRIPTOR_SET_LAYOUT_CREATE_DESCRIPTOR_BUFFER_BIT_EXT));
    cts->vk.GetDescriptorSetLayoutSizeEXT(cts->gpu.device, cts->way_set_layout, &size);
    pm_gpu_buffer_create_for(&cts->gpu, size, DESCRIPTOR_USAGE, &cts->way_buffers[0]);
    fill_buffer(cts);
}

static void bind_buffer(const struct cts *cts, VkCommandBuffer commands, VkPipelineBindPoint point)
{
    static const uint32_t index = 0;
    static const VkDeviceSize offset = 0;
    const VkDescriptorBufferBindingInfoEXT binding = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_BUFFER_BINDING_INFO_EXT,
        .address = cts->way_buffers[0].address,
        .usage = PM_GPU_BUFFER_USAGE | DESCRIPTOR_USAGE};
    cts->vk.CmdBindDescriptorBuffersEXT(commands, 1, &binding);
    cts->vk.CmdSetDescriptorBufferOffsetsEXT(commands, point, cts->gpu.layout, 0, 1, &index,
                                             &offset);
}

const struct cts_way_of cts_descriptor_buffers = {
    .extensions = {"VK_EXT_descriptor_buffer"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DESCRIPTOR_BUFFER_FEATURES_EXT},
    .flags = VK_PIPELINE_CREATE_2_DESCRIPTOR_BUFFER_BIT_EXT,
    .open = open_buffer,
    .turn = cts_turn_layout,
    .bind = bind_buffer};
