/* A graphics pipeline, described. */
#include "tests/cts/describe.h"

#include <string.h>

void cts_describe_stages(struct cts *cts, struct cts_description *d)
{
    for (int i = 0; i < 2; i++)
        d->stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = i ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT,
            .module = i ? cts->module : cts->gpu.vertex,
            .pName = "main"};
    d->entry = (VkSpecializationMapEntry){7, 0, sizeof d->constant};
    d->constant = 5;
    d->specialization = (VkSpecializationInfo){1, &d->entry, sizeof d->constant, &d->constant};
}

static void describe_state(const struct cts *cts, struct cts_description *d)
{
    const struct cts_target *target = &cts->target;
    gpu_fixed_state_fill(&d->fixed, CTS_SIDE, CTS_SIDE, 1);
    d->multisample = (VkPipelineMultisampleStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = (VkSampleCountFlagBits)target->samples};
    d->depth = (VkPipelineDepthStencilStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = target->has_depth,
        .depthWriteEnable = target->has_depth,
        .depthCompareOp = VK_COMPARE_OP_LESS_OR_EQUAL};
    for (uint32_t i = 0; i < 2; i++)
        d->blend[i] =
            (VkPipelineColorBlendAttachmentState){.blendEnable = target->kind == CTS_BLEND,
                                                  .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
                                                  .dstColorBlendFactor = VK_BLEND_FACTOR_ONE,
                                                  .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
                                                  .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
                                                  /* No shader writes the second one. */
                                                  .colorWriteMask = i == 0 ? 0xf : 0};
    d->blends = (VkPipelineColorBlendStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = target->colors,
        .pAttachments = d->blend};
    d->formats[0] = d->formats[1] = VK_FORMAT_R8G8B8A8_UNORM;
    d->rendering = (VkPipelineRenderingCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = target->colors,
        .pColorAttachmentFormats = d->formats,
        .depthAttachmentFormat = target->has_depth ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_UNDEFINED};
}

void cts_describe(struct cts *cts, struct cts_description *d)
{
    *d = (struct cts_description){0};
    cts_describe_stages(cts, d);
    describe_state(cts, d);
    d->info =
        (VkGraphicsPipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                       .pNext = cts->target.pass ? NULL : &d->rendering,
                                       .stageCount = 2,
                                       .pStages = d->stages,
                                       .pVertexInputState = &d->fixed.input,
                                       .pInputAssemblyState = &d->fixed.assembly,
                                       .pViewportState = &d->fixed.viewports,
                                       .pRasterizationState = &d->fixed.rasterization,
                                       .pMultisampleState = &d->multisample,
                                       .pDepthStencilState = &d->depth,
                                       .pColorBlendState = &d->blends,
                                       .layout = cts->gpu.layout,
                                       .renderPass = cts->target.pass,
                                       .subpass = cts->target.subpass,
                                       .basePipelineIndex = -1};
}

void cts_make_dynamic(const struct cts *cts, struct cts_description *d)
{
    static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT,
                                            VK_DYNAMIC_STATE_SCISSOR,
                                            VK_DYNAMIC_STATE_CULL_MODE,
                                            VK_DYNAMIC_STATE_FRONT_FACE,
                                            VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE,
                                            VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE,
                                            VK_DYNAMIC_STATE_DEPTH_COMPARE_OP,
                                            VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY,
                                            VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE};
    memcpy(d->dynamic, states, sizeof states);
    d->dynamics = (VkPipelineDynamicStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = sizeof states / sizeof states[0],
        .pDynamicStates = d->dynamic};
    d->fixed.viewports.pViewports = NULL;
    d->fixed.viewports.pScissors = NULL;
    if (cts->gpu.extensions & CTS_COLOR_WRITES) {
        d->dynamic[d->dynamics.dynamicStateCount++] = VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT;
        d->writes = (VkPipelineColorWriteCreateInfoEXT){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_WRITE_CREATE_INFO_EXT,
            .attachmentCount = cts->target.colors,
            .pColorWriteEnables = d->enables};
        d->blends.pNext = &d->writes;
    }
    d->info.pDynamicState = &d->dynamics;
}
