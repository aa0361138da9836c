#include "tests/gpu/gpu_private.h"

#include <stdlib.h>
#include <string.h>

struct target {
    struct gpu_image color, resolved, depth;
    bool resolves;
};

static uint32_t texel_bytes(VkFormat format)
{
    switch (format) {
    case VK_FORMAT_R8G8B8A8_UNORM:
    case VK_FORMAT_R32_UINT:
    case VK_FORMAT_R32_SFLOAT:
        return 4;
    case VK_FORMAT_R32G32B32A32_SFLOAT:
    case VK_FORMAT_R32G32B32A32_UINT:
        return 16;
    default:
        fail_msg("the harness does not know format %d", format);
        return 0;
    }
}

void gpu_fixed_state_fill(struct gpu_fixed_state *state, uint32_t width, uint32_t height,
                          float scale)
{
    state->binding = (VkVertexInputBindingDescription){0, sizeof(struct pm_gpu_vertex),
                                                       VK_VERTEX_INPUT_RATE_VERTEX};
    state->attributes[0] = (VkVertexInputAttributeDescription){
        0, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct pm_gpu_vertex, position)};
    state->attributes[1] = (VkVertexInputAttributeDescription){
        1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct pm_gpu_vertex, color)};
    state->input = (VkPipelineVertexInputStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &state->binding,
        .vertexAttributeDescriptionCount = 2,
        .pVertexAttributeDescriptions = state->attributes};
    state->assembly = (VkPipelineInputAssemblyStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    state->viewport = (VkViewport){0, 0, (float)width * scale, (float)height * scale, 0, 1};
    state->scissor = (VkRect2D){{0, 0}, {width, height}};
    state->viewports = (VkPipelineViewportStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &state->viewport,
        .scissorCount = 1,
        .pScissors = &state->scissor};
    state->rasterization = (VkPipelineRasterizationStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
}

VkPipeline gpu_draw_pipeline(struct pm_gpu *gpu, const struct pm_gpu_draw *draw,
                             VkShaderModule fragment)
{
    const VkPipelineShaderStageCreateInfo stages[] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = gpu->vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main",
         .pSpecializationInfo = draw->fragment.specialization}};
    struct gpu_fixed_state state;
    gpu_fixed_state_fill(&state, draw->width, draw->height, draw->double_viewport ? 2 : 1);
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = (VkSampleCountFlagBits)(draw->samples ? draw->samples : 1),
        .sampleShadingEnable = draw->sample_shading,
        .minSampleShading = 1,
        .alphaToCoverageEnable = draw->alpha_to_coverage};
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = draw->depth_test,
        .depthWriteEnable = draw->depth_test,
        .depthCompareOp = VK_COMPARE_OP_LESS};
    const VkPipelineColorBlendAttachmentState blend = {.blendEnable = draw->blend_add,
                                                       .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
                                                       .dstColorBlendFactor = VK_BLEND_FACTOR_ONE,
                                                       .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
                                                       .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
                                                       .colorWriteMask = 0xf};
    const VkPipelineColorBlendStateCreateInfo blends = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &blend};
    const VkFormat format = draw->format ? draw->format : VK_FORMAT_R32G32B32A32_SFLOAT;
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format,
        .depthAttachmentFormat = draw->depth_test ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_UNDEFINED};
    const VkGraphicsPipelineCreateInfo info = {.sType =
                                                   VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                               .pNext = &rendering,
                                               .stageCount = 2,
                                               .pStages = stages,
                                               .pVertexInputState = &state.input,
                                               .pInputAssemblyState = &state.assembly,
                                               .pViewportState = &state.viewports,
                                               .pRasterizationState = &state.rasterization,
                                               .pMultisampleState = &multisample,
                                               .pDepthStencilState = &depth,
                                               .pColorBlendState = &blends,
                                               .layout = gpu->layout};
    VkPipeline pipeline;
    CHECK(vkCreateGraphicsPipelines(gpu->device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    return pipeline;
}

static void create_target(struct pm_gpu *gpu, const struct pm_gpu_draw *draw, VkFormat format,
                          struct target *target)
{
    uint32_t samples = draw->samples ? draw->samples : 1;
    const VkImageUsageFlags color =
        VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    *target = (struct target){.resolves = samples > 1};
    gpu_image_create(gpu, format, draw->width, draw->height, 1, samples, color,
                     VK_IMAGE_ASPECT_COLOR_BIT, &target->color);
    if (target->resolves)
        gpu_image_create(gpu, format, draw->width, draw->height, 1, 1, color,
                         VK_IMAGE_ASPECT_COLOR_BIT, &target->resolved);
    if (draw->depth_test)
        gpu_image_create(gpu, VK_FORMAT_D32_SFLOAT, draw->width, draw->height, 1, samples,
                         VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_ASPECT_DEPTH_BIT,
                         &target->depth);
}

static void destroy_target(struct pm_gpu *gpu, struct target *target)
{
    gpu_image_destroy(gpu, &target->color);
    if (target->resolves)
        gpu_image_destroy(gpu, &target->resolved);
    if (target->depth.image)
        gpu_image_destroy(gpu, &target->depth);
}

static void begin_rendering(VkCommandBuffer commands, const struct pm_gpu_draw *draw,
                            const struct target *target)
{
    gpu_image_layout(commands, target->color.image, VK_IMAGE_ASPECT_COLOR_BIT,
                     VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    if (target->resolves)
        gpu_image_layout(commands, target->resolved.image, VK_IMAGE_ASPECT_COLOR_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    if (target->depth.image)
        gpu_image_layout(commands, target->depth.image, VK_IMAGE_ASPECT_DEPTH_BIT,
                         VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_GENERAL);
    const VkRenderingAttachmentInfo color = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = target->color.view,
        .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .resolveMode = target->resolves ? VK_RESOLVE_MODE_AVERAGE_BIT : VK_RESOLVE_MODE_NONE,
        .resolveImageView = target->resolved.view,
        .resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    const VkRenderingAttachmentInfo depth = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                             .imageView = target->depth.view,
                                             .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                             .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                             .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
                                             .clearValue.depthStencil.depth = 1};
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .renderArea = {{0, 0}, {draw->width, draw->height}},
                                       .layerCount = 1,
                                       .colorAttachmentCount = 1,
                                       .pColorAttachments = &color,
                                       .pDepthAttachment = target->depth.image ? &depth : NULL};
    vkCmdBeginRendering(commands, &rendering);
}

void *pm_gpu_draw(struct pm_gpu *gpu, const struct pm_gpu_draw *draw, size_t *size)
{
    const VkFormat format = draw->format ? draw->format : VK_FORMAT_R32G32B32A32_SFLOAT;
    *size = (size_t)draw->width * draw->height * texel_bytes(format);
    VkShaderModule fragment = gpu_module(gpu, draw->fragment.words, draw->fragment.count);
    VkPipeline pipeline = gpu_draw_pipeline(gpu, draw, fragment);
    struct target target;
    create_target(gpu, draw, format, &target);
    struct pm_gpu_buffer vertices, texels;
    pm_gpu_buffer_create(gpu, draw->vertex_count * sizeof *draw->vertices, &vertices);
    memcpy(vertices.data, draw->vertices, vertices.size);
    pm_gpu_buffer_create(gpu, *size, &texels);
    VkDescriptorSet set = gpu_descriptors(gpu, &draw->fragment, &vertices);

    VkCommandBuffer commands = gpu_begin(gpu);
    begin_rendering(commands, draw, &target);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    gpu_bind(gpu, commands, VK_PIPELINE_BIND_POINT_GRAPHICS, &draw->fragment, set);
    const VkDeviceSize zero = 0;
    vkCmdBindVertexBuffers(commands, 0, 1, &vertices.buffer, &zero);
    vkCmdDraw(commands, draw->vertex_count, 1, 0, 0);
    vkCmdEndRendering(commands);
    gpu_barrier(commands);
    const VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                    .imageExtent = {draw->width, draw->height, 1}};
    vkCmdCopyImageToBuffer(commands, target.resolves ? target.resolved.image : target.color.image,
                           VK_IMAGE_LAYOUT_GENERAL, texels.buffer, 1, &copy);
    gpu_finish(gpu, commands);

    void *result = malloc(*size);
    assert_non_null(result);
    memcpy(result, texels.data, *size);
    pm_gpu_buffer_destroy(gpu, &texels);
    pm_gpu_buffer_destroy(gpu, &vertices);
    destroy_target(gpu, &target);
    vkDestroyPipeline(gpu->device, pipeline, NULL);
    vkDestroyShaderModule(gpu->device, fragment, NULL);
    return result;
}
