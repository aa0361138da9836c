#include "examples/common/gpu.h"

static bool create_module(const struct pm_gpu *gpu, struct pm_gpu_spirv spirv,
                          VkShaderModule *module, struct pm_error *error)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = spirv.size,
        .pCode = spirv.words,
    };
    return pm_gpu_check(vkCreateShaderModule(gpu->device, &info, NULL, module),
                        "vkCreateShaderModule", error);
}

static VkPipelineShaderStageCreateInfo stage(VkShaderStageFlagBits bit, VkShaderModule module)
{
    return (VkPipelineShaderStageCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = bit,
        .module = module,
        .pName = "main",
    };
}

static VkResult create_graphics(const struct pm_gpu *gpu, const struct pm_gpu_graphics_info *info,
                                const VkPipelineShaderStageCreateInfo stages[2],
                                VkPipeline *pipeline)
{
    const VkPipelineVertexInputStateCreateInfo no_input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = info->topology,
    };
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    const VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .cullMode = info->cull,
        .frontFace = VK_FRONT_FACE_COUNTER_CLOCKWISE,
        .depthBiasEnable = info->depth_bias != 0.0f,
        .depthBiasSlopeFactor = info->depth_bias,
        .lineWidth = 1.0f,
    };
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    const VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = info->depth,
        .depthWriteEnable = info->depth && !info->read_only,
        .depthCompareOp = VK_COMPARE_OP_LESS_OR_EQUAL,
    };
    VkPipelineColorBlendAttachmentState targets[8] = {0};
    for (uint32_t i = 0; i < info->targets && i < 8; i++)
        targets[i] = (VkPipelineColorBlendAttachmentState){
            .blendEnable = info->additive,
            .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
            .dstColorBlendFactor = VK_BLEND_FACTOR_ONE,
            .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
            .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
            .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                              VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT,
        };
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = info->targets,
        .pAttachments = targets,
    };
    const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states,
    };
    const VkGraphicsPipelineCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = info->fragment.words ? 2 : 1,
        .pStages = stages,
        .pVertexInputState = info->input ? info->input : &no_input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &raster,
        .pMultisampleState = &multisample,
        .pDepthStencilState = &depth,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = info->layout,
        .renderPass = info->pass,
    };
    return vkCreateGraphicsPipelines(gpu->device, VK_NULL_HANDLE, 1, &create, NULL, pipeline);
}

bool pm_gpu_graphics_create(const struct pm_gpu *gpu, const struct pm_gpu_graphics_info *info,
                            VkPipeline *pipeline, struct pm_error *error)
{
    VkShaderModule vertex = VK_NULL_HANDLE, fragment = VK_NULL_HANDLE;
    bool done = false;
    if (!create_module(gpu, info->vertex, &vertex, error) ||
        (info->fragment.words && !create_module(gpu, info->fragment, &fragment, error)))
        goto end;
    const VkPipelineShaderStageCreateInfo stages[] = {
        stage(VK_SHADER_STAGE_VERTEX_BIT, vertex),
        stage(VK_SHADER_STAGE_FRAGMENT_BIT, fragment),
    };
    done = pm_gpu_check(create_graphics(gpu, info, stages, pipeline), "vkCreateGraphicsPipelines",
                        error);
end:
    vkDestroyShaderModule(gpu->device, vertex, NULL);
    vkDestroyShaderModule(gpu->device, fragment, NULL);
    return done;
}

bool pm_gpu_compute_create(const struct pm_gpu *gpu, struct pm_gpu_spirv spirv,
                           VkPipelineLayout layout, VkPipeline *pipeline, struct pm_error *error)
{
    VkShaderModule module;
    if (!create_module(gpu, spirv, &module, error))
        return false;
    const VkComputePipelineCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = stage(VK_SHADER_STAGE_COMPUTE_BIT, module),
        .layout = layout,
    };
    const VkResult result =
        vkCreateComputePipelines(gpu->device, VK_NULL_HANDLE, 1, &create, NULL, pipeline);
    vkDestroyShaderModule(gpu->device, module, NULL);
    return pm_gpu_check(result, "vkCreateComputePipelines", error);
}

void pm_gpu_viewport(VkCommandBuffer commands, uint32_t width, uint32_t height)
{
    const VkViewport viewport = {0.0f, 0.0f, (float)width, (float)height, 0.0f, 1.0f};
    const VkRect2D scissor = {{0, 0}, {width, height}};
    vkCmdSetViewport(commands, 0, 1, &viewport);
    vkCmdSetScissor(commands, 0, 1, &scissor);
}
