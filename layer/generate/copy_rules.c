#include "layer/generate/copy_rules.h"

#include "layer/generate/create_info.h"

#include <string.h>

#define MOST_ATTACHMENTS 256

/* In the place of an array that is ignored, but that the specification or a driver wants to be
 * there all the same: copied as the array would be. */
static const VkPipelineColorBlendAttachmentState blank_attachments[MOST_ATTACHMENTS];
static const VkFormat blank_formats[MOST_ATTACHMENTS];

#define ENABLED_4 VK_TRUE, VK_TRUE, VK_TRUE, VK_TRUE
#define ENABLED_16 ENABLED_4, ENABLED_4, ENABLED_4, ENABLED_4
#define ENABLED_64 ENABLED_16, ENABLED_16, ENABLED_16, ENABLED_16
static const VkBool32 all_enabled[] = {ENABLED_64, ENABLED_64, ENABLED_64, ENABLED_64};
_Static_assert(sizeof all_enabled == MOST_ATTACHMENTS * sizeof *all_enabled,
               "one for each attachment");

static VkShaderStageFlags stages_of(const VkGraphicsPipelineCreateInfo *info)
{
    VkShaderStageFlags stages = 0;
    for (uint32_t i = 0; i < info->stageCount; i++)
        stages |= (VkShaderStageFlags)info->pStages[i].stage;
    return stages;
}

/* The attachments that decide whether depth and color state are read; false: not known. */
static bool attachments(const struct pm_copy *copy, const VkGraphicsPipelineCreateInfo *info,
                        VkGraphicsPipelineLibraryFlagsEXT own, struct pm_copy_subpass *out)
{
    if (info->renderPass) {
        if (!copy->subpass)
            return false;
        *out = *copy->subpass;
        return true;
    }
    if (!(own & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT)) {
        /* A library of fragment shaders alone: the formats are not known yet, and the state is
         * there or NULL. */
        *out = (struct pm_copy_subpass){.color = false, .depth_stencil = true};
        return true;
    }
    const VkPipelineRenderingCreateInfo *rendering =
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO);
    *out = (struct pm_copy_subpass){
        .color = rendering && rendering->colorAttachmentCount > 0,
        .depth_stencil = rendering && (rendering->depthAttachmentFormat != VK_FORMAT_UNDEFINED ||
                                       rendering->stencilAttachmentFormat != VK_FORMAT_UNDEFINED),
    };
    return true;
}

/* Vertex input and pre-rasterization state. */
static void clear_before_rasterization(const struct pm_copy *copy,
                                       VkGraphicsPipelineCreateInfo *info,
                                       VkGraphicsPipelineLibraryFlagsEXT own, bool rasterizes)
{
    VkShaderStageFlags stages = stages_of(info);
    bool mesh = stages & VK_SHADER_STAGE_MESH_BIT_EXT;
    const VkShaderStageFlags tessellation =
        VK_SHADER_STAGE_TESSELLATION_CONTROL_BIT | VK_SHADER_STAGE_TESSELLATION_EVALUATION_BIT;
    bool vertex = own & VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT;
    bool shaders = own & VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT;
    if (!vertex || mesh || pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_VERTEX_INPUT_EXT))
        info->pVertexInputState = NULL;
    if (!vertex || mesh)
        info->pInputAssemblyState = NULL;
    if (!shaders || (stages & tessellation) != tessellation)
        info->pTessellationState = NULL;
    if (!shaders || !rasterizes)
        info->pViewportState = NULL;
    if (!shaders)
        info->pRasterizationState = NULL;
}

static void clear_ignored(struct pm_copy *copy, VkGraphicsPipelineCreateInfo *info)
{
    VkGraphicsPipelineLibraryFlagsEXT own = pm_own_state(info);
    bool shaders = own & VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT;
    bool fragment = own & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT;
    bool output = own & VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT;
    copy->dynamic = info->pDynamicState;
    if (!shaders && !fragment) {
        info->stageCount = 0;
        info->pStages = NULL;
    }
    /* Rasterization is off only where this very info says so; of a library's we cannot know, and
     * need not: a part without pre-rasterization state has valid pointers or NULL. */
    bool rasterizes = !(shaders && info->pRasterizationState &&
                        info->pRasterizationState->rasterizerDiscardEnable &&
                        !pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE));
    copy->reads_formats = rasterizes && output && !info->renderPass;
    copy->counts_formats =
        rasterizes && fragment && !info->renderPass &&
        pm_find_in_chain(info->pNext, VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO);
    clear_before_rasterization(copy, info, own, rasterizes);
    if (!rasterizes || !(fragment || output))
        info->pMultisampleState = NULL;
    if (!rasterizes || !fragment)
        info->pDepthStencilState = NULL;
    if (!rasterizes || !output)
        info->pColorBlendState = NULL;
    if (!info->pDepthStencilState && !info->pColorBlendState)
        return;
    struct pm_copy_subpass subpass;
    if (!attachments(copy, info, own, &subpass)) {
        copy->failed = true;
        pm_fail(copy->error, PM_ERROR_UNSUPPORTED,
                "a graphics pipeline for a render pass that is not known");
        return;
    }
    if (!subpass.depth_stencil)
        info->pDepthStencilState = NULL;
    if (!subpass.color)
        info->pColorBlendState = NULL;
}

void pm_rule_VkGraphicsPipelineCreateInfo(struct pm_copy *copy, VkGraphicsPipelineCreateInfo *info)
{
    clear_ignored(copy, info);
    if (!copy->shares)
        return;
    info->layout = VK_NULL_HANDLE;
    info->renderPass = VK_NULL_HANDLE;
    info->basePipelineHandle = VK_NULL_HANDLE;
    info->basePipelineIndex = -1;
}

void pm_rule_VkComputePipelineCreateInfo(struct pm_copy *copy, VkComputePipelineCreateInfo *info)
{
    if (!copy->shares)
        return;
    info->layout = VK_NULL_HANDLE;
    info->basePipelineHandle = VK_NULL_HANDLE;
    info->basePipelineIndex = -1;
}

void pm_rule_VkPipelineShaderStageCreateInfo(struct pm_copy *copy,
                                             VkPipelineShaderStageCreateInfo *stage)
{
    if (copy->shares)
        stage->module = VK_NULL_HANDLE;
}

void pm_rule_VkPipelineViewportStateCreateInfo(struct pm_copy *copy,
                                               VkPipelineViewportStateCreateInfo *info)
{
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_VIEWPORT) ||
        pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT))
        info->pViewports = NULL;
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_SCISSOR) ||
        pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT))
        info->pScissors = NULL;
}

void pm_rule_VkPipelineMultisampleStateCreateInfo(struct pm_copy *copy,
                                                  VkPipelineMultisampleStateCreateInfo *info)
{
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_SAMPLE_MASK_EXT)) {
        info->pSampleMask = NULL;
        return;
    }
    /* With dynamic samples the static number is ignored, and with it what it says of the mask's
     * length; a mask of one word is all that any number of samples up to 32 reads. */
    const VkSampleCountFlags samples = (VkSampleCountFlags)info->rasterizationSamples;
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_RASTERIZATION_SAMPLES_EXT) &&
        (samples == 0 || samples > VK_SAMPLE_COUNT_32_BIT || (samples & (samples - 1)) != 0))
        info->rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
}

void pm_rule_VkPipelineColorBlendStateCreateInfo(struct pm_copy *copy,
                                                 VkPipelineColorBlendStateCreateInfo *info)
{
    if (!pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT) ||
        !pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT) ||
        !pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT))
        return;
    /* The count may be ignored, too, and be anything: none that a device can have is above this. */
    if (info->attachmentCount > MOST_ATTACHMENTS)
        info->attachmentCount = 0;
    /* Validation layers and older drivers read them nevertheless (seen). */
    info->pAttachments = blank_attachments;
}

void pm_rule_VkPipelineSampleLocationsStateCreateInfoEXT(
    struct pm_copy *copy, VkPipelineSampleLocationsStateCreateInfoEXT *info)
{
    bool enabled = info->sampleLocationsEnable ||
                   pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_ENABLE_EXT);
    if (!enabled || pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_EXT)) {
        /* What lies between the members is compared, too. */
        memset(&info->sampleLocationsInfo, 0, sizeof info->sampleLocationsInfo);
        info->sampleLocationsInfo.sType = VK_STRUCTURE_TYPE_SAMPLE_LOCATIONS_INFO_EXT;
    }
}

void pm_rule_VkPipelineDiscardRectangleStateCreateInfoEXT(
    struct pm_copy *copy, VkPipelineDiscardRectangleStateCreateInfoEXT *info)
{
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT))
        info->pDiscardRectangles = NULL;
}

void pm_rule_VkPipelineColorWriteCreateInfoEXT(struct pm_copy *copy,
                                               VkPipelineColorWriteCreateInfoEXT *info)
{
    /* Its count has to be that of the blend state, and the array to be there: lavapipe reads it. */
    if (!pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT))
        return;
    if (info->attachmentCount > MOST_ATTACHMENTS)
        info->attachmentCount = 0;
    info->pColorWriteEnables = all_enabled;
}

void pm_rule_VkPipelineViewportWScalingStateCreateInfoNV(
    struct pm_copy *copy, VkPipelineViewportWScalingStateCreateInfoNV *info)
{
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_VIEWPORT_W_SCALING_NV))
        info->pViewportWScalings = NULL;
}

void pm_rule_VkPipelineViewportShadingRateImageStateCreateInfoNV(
    struct pm_copy *copy, VkPipelineViewportShadingRateImageStateCreateInfoNV *info)
{
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_VIEWPORT_SHADING_RATE_PALETTE_NV))
        info->pShadingRatePalettes = NULL;
}

void pm_rule_VkPipelineViewportCoarseSampleOrderStateCreateInfoNV(
    struct pm_copy *copy, VkPipelineViewportCoarseSampleOrderStateCreateInfoNV *info)
{
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_VIEWPORT_COARSE_SAMPLE_ORDER_NV)) {
        info->customSampleOrderCount = 0;
        info->pCustomSampleOrders = NULL;
    }
}

void pm_rule_VkPipelineViewportExclusiveScissorStateCreateInfoNV(
    struct pm_copy *copy, VkPipelineViewportExclusiveScissorStateCreateInfoNV *info)
{
    if (pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_EXCLUSIVE_SCISSOR_NV))
        info->pExclusiveScissors = NULL;
}

void pm_rule_VkPipelineViewportDepthClampControlCreateInfoEXT(
    struct pm_copy *copy, VkPipelineViewportDepthClampControlCreateInfoEXT *info)
{
    if (info->depthClampMode != VK_DEPTH_CLAMP_MODE_USER_DEFINED_RANGE_EXT ||
        pm_is_dynamic(copy->dynamic, VK_DYNAMIC_STATE_DEPTH_CLAMP_RANGE_EXT))
        info->pDepthClampRange = NULL;
}

void pm_rule_VkPipelineRenderingCreateInfo(struct pm_copy *copy,
                                           VkPipelineRenderingCreateInfo *info)
{
    if (copy->reads_formats)
        return;
    /* A part with the fragment shader alone does not know the formats, but its input attachments'
     * indices are as many as color attachments. */
    if (!copy->counts_formats || info->colorAttachmentCount > MOST_ATTACHMENTS)
        info->colorAttachmentCount = 0;
    info->pColorAttachmentFormats = blank_formats;
}

void pm_rule_VkAttachmentSampleCountInfoAMD(struct pm_copy *copy,
                                            VkAttachmentSampleCountInfoAMD *info)
{
    if (!copy->reads_formats) {
        info->colorAttachmentCount = 0;
        info->pColorAttachmentSamples = NULL;
    }
}

void pm_rule_VkDescriptorSetLayoutBinding(struct pm_copy *copy,
                                          VkDescriptorSetLayoutBinding *binding)
{
    (void)copy;
    if (binding->descriptorType != VK_DESCRIPTOR_TYPE_SAMPLER &&
        binding->descriptorType != VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER)
        binding->pImmutableSamplers = NULL;
}
