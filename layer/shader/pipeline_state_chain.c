#include "layer/shader/pipeline_state_chain.h"

#include "layer/shader/object_private.h"

#define PUT PM_STATE_PUT

static void put_rendering(cJSON *json, const VkPipelineRenderingCreateInfo *info)
{
    PUT(json, info, depthAttachmentFormat);
    PUT(json, info, stencilAttachmentFormat);
    PUT(json, info, viewMask);
    if (info->colorAttachmentCount == 0 || !info->pColorAttachmentFormats)
        return;
    cJSON *formats = cJSON_AddArrayToObject(json, "colorAttachmentFormats");
    for (uint32_t i = 0; i < info->colorAttachmentCount; i++)
        cJSON_AddItemToArray(formats, cJSON_CreateNumber(info->pColorAttachmentFormats[i]));
}

static void put_divisors(cJSON *json, const VkPipelineVertexInputDivisorStateCreateInfo *info)
{
    PUT(json, info, vertexBindingDivisorCount);
    cJSON *list = cJSON_AddArrayToObject(json, "vertexBindingDivisors");
    for (uint32_t i = 0; i < info->vertexBindingDivisorCount; i++) {
        cJSON *one = pm_state_element(list);
        PUT(one, &info->pVertexBindingDivisors[i], binding);
        PUT(one, &info->pVertexBindingDivisors[i], divisor);
    }
}

static void put_multiview(cJSON *json, const VkRenderPassMultiviewCreateInfo *info)
{
    cJSON *list = info->subpassCount > 0 ? cJSON_AddArrayToObject(json, "viewMasks") : NULL;
    for (uint32_t i = 0; list && i < info->subpassCount; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(info->pViewMasks[i]));
    list = info->dependencyCount > 0 ? cJSON_AddArrayToObject(json, "viewOffsets") : NULL;
    for (uint32_t i = 0; list && i < info->dependencyCount; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(info->pViewOffsets[i]));
    list = info->correlationMaskCount > 0 ? cJSON_AddArrayToObject(json, "correlationMasks") : NULL;
    for (uint32_t i = 0; list && i < info->correlationMaskCount; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(info->pCorrelationMasks[i]));
}

static void put_binding_flags(cJSON *json, const VkDescriptorSetLayoutBindingFlagsCreateInfo *info)
{
    cJSON *list = info->bindingCount > 0 ? cJSON_AddArrayToObject(json, "bindingFlags") : NULL;
    for (uint32_t i = 0; list && i < info->bindingCount; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(info->pBindingFlags[i]));
}

static void put_resolve(cJSON *json, const VkSubpassDescriptionDepthStencilResolve *info)
{
    PUT(json, info, depthResolveMode);
    PUT(json, info, stencilResolveMode);
    if (!info->pDepthStencilResolveAttachment)
        return;
    cJSON *one = cJSON_AddObjectToObject(json, "depthStencilResolveAttachment");
    PUT(one, info->pDepthStencilResolveAttachment, attachment);
    PUT(one, info->pDepthStencilResolveAttachment, layout);
    PUT(one, info->pDepthStencilResolveAttachment, aspectMask);
}

static void put_line(cJSON *json, const VkPipelineRasterizationLineStateCreateInfo *info)
{
    PUT(json, info, lineRasterizationMode);
    PUT(json, info, stippledLineEnable);
    PUT(json, info, lineStippleFactor);
    PUT(json, info, lineStipplePattern);
}

static void put_robustness(cJSON *json, const VkPipelineRobustnessCreateInfo *info)
{
    PUT(json, info, storageBuffers);
    PUT(json, info, vertexInputs);
    PUT(json, info, uniformBuffers);
    PUT(json, info, images);
}

static void put_conversion(cJSON *json, const VkSamplerYcbcrConversionCreateInfo *info)
{
    const VkComponentSwizzle components[] = {info->components.r, info->components.g,
                                             info->components.b, info->components.a};
    PUT(json, info, format);
    PUT(json, info, ycbcrModel);
    PUT(json, info, ycbcrRange);
    cJSON *list = cJSON_AddArrayToObject(json, "components");
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(components[i]));
    PUT(json, info, xChromaOffset);
    PUT(json, info, yChromaOffset);
    PUT(json, info, chromaFilter);
    PUT(json, info, forceExplicitReconstruction);
}

/* One structure into json. false: it is none that is told. */
static bool put(cJSON *json, const VkBaseInStructure *item, const struct pm_object *conversion)
{
    const void *info = item;
    pm_state_number(json, "sType", item->sType);
    switch (item->sType) {
    case VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO:
        put_rendering(json, info);
        return true;
    case VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_DIVISOR_STATE_CREATE_INFO:
        put_divisors(json, info);
        return true;
    case VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO:
        put_multiview(json, info);
        return true;
    case VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_BINDING_FLAGS_CREATE_INFO:
        put_binding_flags(json, info);
        return true;
    case VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_DEPTH_STENCIL_RESOLVE:
        put_resolve(json, info);
        return true;
    case VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_LINE_STATE_CREATE_INFO:
        put_line(json, info);
        return true;
    case VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO:
        put_robustness(json, info);
        return true;
    case VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_DEPTH_CLIP_STATE_CREATE_INFO_EXT: {
        const VkPipelineRasterizationDepthClipStateCreateInfoEXT *clip = info;
        PUT(json, clip, flags);
        PUT(json, clip, depthClipEnable);
        return true;
    }
    case VK_STRUCTURE_TYPE_PIPELINE_TESSELLATION_DOMAIN_ORIGIN_STATE_CREATE_INFO:
        PUT(json, (const VkPipelineTessellationDomainOriginStateCreateInfo *)info, domainOrigin);
        return true;
    case VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO:
        PUT(json, (const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo *)info,
            requiredSubgroupSize);
        return true;
    case VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_PROVOKING_VERTEX_STATE_CREATE_INFO_EXT:
        PUT(json, (const VkPipelineRasterizationProvokingVertexStateCreateInfoEXT *)info,
            provokingVertexMode);
        return true;
    case VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_DEPTH_CLIP_CONTROL_CREATE_INFO_EXT:
        PUT(json, (const VkPipelineViewportDepthClipControlCreateInfoEXT *)info, negativeOneToOne);
        return true;
    case VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_LIBRARY_CREATE_INFO_EXT:
        PUT(json, (const VkGraphicsPipelineLibraryCreateInfoEXT *)info, flags);
        return true;
    case VK_STRUCTURE_TYPE_SAMPLER_REDUCTION_MODE_CREATE_INFO:
        PUT(json, (const VkSamplerReductionModeCreateInfo *)info, reductionMode);
        return true;
    case VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO:
        /* Fossilize has what makes the conversion in the chain itself. */
        cJSON_DeleteItemFromObject(json, "sType");
        pm_state_number(json, "sType", VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_CREATE_INFO);
        if (conversion)
            put_conversion(json, conversion->info.conversion);
        return conversion && !conversion->info.conversion->pNext;
    default:
        return false;
    }
}

void pm_state_chain(struct pm_state *state, cJSON *json, const void *chain,
                    const struct pm_object *conversion)
{
    cJSON *list = NULL;
    for (const VkBaseInStructure *item = chain; item; item = item->pNext) {
        /* It is only filled in. */
        if (item->sType == VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO)
            continue;
        cJSON *one = cJSON_CreateObject();
        if (put(one, item, conversion)) {
            list = list ? list : cJSON_AddArrayToObject(json, "pNext");
            cJSON_AddItemToArray(list, one);
        } else {
            cJSON_Delete(one);
            cJSON_AddItemToArray(state->left_out, cJSON_CreateNumber(item->sType));
        }
    }
}
