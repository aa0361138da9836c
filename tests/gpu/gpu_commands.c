#include "tests/gpu/gpu_private.h"

VkCommandBuffer gpu_begin(struct pm_gpu *gpu)
{
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(gpu->device, &allocate, &commands));
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    CHECK(vkBeginCommandBuffer(commands, &begin));
    return commands;
}

void gpu_submit(struct pm_gpu *gpu, VkCommandBuffer commands)
{
    gpu_barrier(commands);
    CHECK(vkEndCommandBuffer(commands));
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    CHECK(vkQueueSubmit(gpu->queue, 1, &submit, VK_NULL_HANDLE));
}

void gpu_finish(struct pm_gpu *gpu, VkCommandBuffer commands)
{
    gpu_submit(gpu, commands);
    CHECK(vkQueueWaitIdle(gpu->queue));
    vkFreeCommandBuffers(gpu->device, gpu->pool, 1, &commands);
}

void gpu_barrier(VkCommandBuffer commands)
{
    const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                     .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                     .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT |
                                                      VK_ACCESS_MEMORY_WRITE_BIT |
                                                      VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &barrier, 0, NULL, 0, NULL);
}

void gpu_image_layout(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect,
                      VkImageLayout from, VkImageLayout to)
{
    const VkImageMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
        .oldLayout = from,
        .newLayout = to,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = image,
        .subresourceRange = {aspect, 0, VK_REMAINING_MIP_LEVELS, 0, VK_REMAINING_ARRAY_LAYERS}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

void gpu_writes_fill(const struct pm_gpu *gpu, const struct pm_gpu_shader *shader,
                     const struct pm_gpu_buffer *dummy, VkDescriptorSet set, struct gpu_writes *out)
{
    for (uint32_t i = 0; i < PM_GPU_BUFFERS; i++) {
        const struct pm_gpu_buffer *buffer = shader->buffers[i] ? shader->buffers[i] : dummy;
        out->buffers[i] = (VkDescriptorBufferInfo){buffer->buffer, 0, VK_WHOLE_SIZE};
    }
    out->image = (VkDescriptorImageInfo){gpu->sampler, gpu->texture_view,
                                         VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    out->uniform = (VkDescriptorBufferInfo){
        shader->uniform ? shader->uniform->buffer : VK_NULL_HANDLE, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet one = {
        .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET, .dstSet = set, .descriptorCount = 1};
    out->writes[0] = out->writes[1] = out->writes[2] = one;
    out->writes[0].descriptorCount = PM_GPU_BUFFERS;
    out->writes[0].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    out->writes[0].pBufferInfo = out->buffers;
    out->writes[1].dstBinding = PM_GPU_TEXTURE_BINDING;
    out->writes[1].descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
    out->writes[1].pImageInfo = &out->image;
    out->writes[2].dstBinding = PM_GPU_UNIFORM_BINDING;
    out->writes[2].descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    out->writes[2].pBufferInfo = &out->uniform;
    out->count = shader->uniform ? 3 : 2;
}

VkDescriptorSet gpu_descriptors(struct pm_gpu *gpu, const struct pm_gpu_shader *shader,
                                const struct pm_gpu_buffer *dummy)
{
    CHECK(vkResetDescriptorPool(gpu->device, gpu->descriptors, 0));
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = gpu->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &gpu->set_layout};
    VkDescriptorSet set;
    CHECK(vkAllocateDescriptorSets(gpu->device, &allocate, &set));
    struct gpu_writes writes;
    gpu_writes_fill(gpu, shader, dummy, set, &writes);
    vkUpdateDescriptorSets(gpu->device, writes.count, writes.writes, 0, NULL);
    return set;
}

void gpu_bind(struct pm_gpu *gpu, VkCommandBuffer commands, VkPipelineBindPoint point,
              const struct pm_gpu_shader *shader, VkDescriptorSet set)
{
    vkCmdBindDescriptorSets(commands, point, gpu->layout, 0, 1, &set, 0, NULL);
    if (shader->push)
        vkCmdPushConstants(commands, gpu->layout, VK_SHADER_STAGE_ALL, 0, shader->push_size,
                           shader->push);
}

static void run(struct pm_gpu *gpu, const struct pm_gpu_shader *shader, VkPipeline pipeline,
                VkDescriptorSet set, const uint32_t groups[static 3])
{
    VkCommandBuffer commands = gpu_begin(gpu);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    gpu_bind(gpu, commands, VK_PIPELINE_BIND_POINT_COMPUTE, shader, set);
    if (shader->base > 0)
        vkCmdDispatchBase(commands, 0, 0, shader->base, groups[0], groups[1], groups[2]);
    else
        vkCmdDispatch(commands, groups[0], groups[1], groups[2]);
    gpu_finish(gpu, commands);
}

void pm_gpu_dispatch(struct pm_gpu *gpu, const struct pm_gpu_shader *shader, uint32_t groups_x,
                     uint32_t groups_y, uint32_t groups_z)
{
    VkShaderModule module = gpu_module(gpu, shader->words, shader->count);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .flags = shader->base > 0 ? VK_PIPELINE_CREATE_DISPATCH_BASE : 0,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = "main",
                  .pSpecializationInfo = shader->specialization},
        .layout = gpu->layout};
    VkPipeline pipeline;
    CHECK(vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    struct pm_gpu_buffer dummy;
    pm_gpu_buffer_create(gpu, 256, &dummy);
    VkDescriptorSet set = gpu_descriptors(gpu, shader, &dummy);
    run(gpu, shader, pipeline, set, (const uint32_t[]){groups_x, groups_y, groups_z});
    if (shader->again) {
        shader->again();
        run(gpu, shader, pipeline, set, (const uint32_t[]){groups_x, groups_y, groups_z});
    }
    pm_gpu_buffer_destroy(gpu, &dummy);
    vkDestroyPipeline(gpu->device, pipeline, NULL);
    vkDestroyShaderModule(gpu->device, module, NULL);
}
