#include "layer/shader/pipeline_state.h"

#include "layer/shader/object_private.h"
#include <inttypes.h>
#include <stdio.h>

static void put(cJSON *json, const char *name, double number)
{
    cJSON_AddNumberToObject(json, name, number);
}
#define PUT(json, from, member) put(json, #member, (double)(from)->member)

static cJSON *element(cJSON *list)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    return json;
}

/* ---- layouts ---- */

static void put_set_layout(cJSON *list, const struct pm_object *object)
{
    const VkDescriptorSetLayoutCreateInfo *info = object->info.set_layout;
    cJSON *json = element(list);
    PUT(json, info, flags);
    cJSON *bindings = cJSON_AddArrayToObject(json, "pBindings");
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];
        cJSON *one = element(bindings);
        PUT(one, binding, binding);
        PUT(one, binding, descriptorType);
        PUT(one, binding, descriptorCount);
        PUT(one, binding, stageFlags);
        cJSON_AddBoolToObject(one, "pImmutableSamplers", binding->pImmutableSamplers != NULL);
    }
}

static void put_layout(cJSON *json, const struct pm_object *object)
{
    const VkPipelineLayoutCreateInfo *info = object->info.pipeline_layout;
    cJSON *layout = cJSON_AddObjectToObject(json, "layout");
    PUT(layout, info, flags);
    cJSON *sets = cJSON_AddArrayToObject(layout, "pSetLayouts");
    /* The parts are the set layouts that are not null, in their order. */
    for (uint32_t i = 0, part = 0; i < info->setLayoutCount; i++) {
        if (info->pSetLayouts[i] != VK_NULL_HANDLE && part < object->part_count)
            put_set_layout(sets, object->parts[part++]);
        else
            cJSON_AddItemToArray(sets, cJSON_CreateNull());
    }
    cJSON *ranges = cJSON_AddArrayToObject(layout, "pPushConstantRanges");
    for (uint32_t i = 0; i < info->pushConstantRangeCount; i++) {
        const VkPushConstantRange *range = &info->pPushConstantRanges[i];
        cJSON *one = element(ranges);
        PUT(one, range, stageFlags);
        PUT(one, range, offset);
        PUT(one, range, size);
    }
}

/* ---- stages ---- */

static void put_specialization(cJSON *json, const VkSpecializationInfo *info)
{
    cJSON *list = info ? cJSON_AddArrayToObject(json, "pSpecializationInfo") : NULL;
    for (uint32_t i = 0; info && i < info->mapEntryCount; i++) {
        const VkSpecializationMapEntry *entry = &info->pMapEntries[i];
        const unsigned char *data = (const unsigned char *)info->pData + entry->offset;
        char hex[2 * sizeof(uint64_t) + 1] = "";
        cJSON *one = element(list);
        PUT(one, entry, constantID);
        for (size_t byte = 0; byte < entry->size && byte < sizeof(uint64_t); byte++)
            snprintf(hex + 2 * byte, 3, "%02x", data[byte]);
        cJSON_AddStringToObject(one, "bytes", hex);
    }
}

static void put_stage(cJSON *list, const VkPipelineShaderStageCreateInfo *stage)
{
    cJSON *json = element(list);
    PUT(json, stage, flags);
    PUT(json, stage, stage);
    cJSON_AddStringToObject(json, "pName", stage->pName ? stage->pName : "");
    put_specialization(json, stage->pSpecializationInfo);
}

/* ---- graphics ---- */

static void put_vertex_input(cJSON *json, const VkPipelineVertexInputStateCreateInfo *info)
{
    cJSON *bindings = cJSON_AddArrayToObject(json, "pVertexBindingDescriptions");
    for (uint32_t i = 0; i < info->vertexBindingDescriptionCount; i++) {
        const VkVertexInputBindingDescription *binding = &info->pVertexBindingDescriptions[i];
        cJSON *one = element(bindings);
        PUT(one, binding, binding);
        PUT(one, binding, stride);
        PUT(one, binding, inputRate);
    }
    cJSON *attributes = cJSON_AddArrayToObject(json, "pVertexAttributeDescriptions");
    for (uint32_t i = 0; i < info->vertexAttributeDescriptionCount; i++) {
        const VkVertexInputAttributeDescription *attribute = &info->pVertexAttributeDescriptions[i];
        cJSON *one = element(attributes);
        PUT(one, attribute, location);
        PUT(one, attribute, binding);
        PUT(one, attribute, format);
        PUT(one, attribute, offset);
    }
}

static void put_rasterization(cJSON *json, const VkPipelineRasterizationStateCreateInfo *info)
{
    PUT(json, info, depthClampEnable);
    PUT(json, info, rasterizerDiscardEnable);
    PUT(json, info, polygonMode);
    PUT(json, info, cullMode);
    PUT(json, info, frontFace);
    PUT(json, info, depthBiasEnable);
    PUT(json, info, depthBiasConstantFactor);
    PUT(json, info, depthBiasClamp);
    PUT(json, info, depthBiasSlopeFactor);
    PUT(json, info, lineWidth);
}

static void put_multisample(cJSON *json, const VkPipelineMultisampleStateCreateInfo *info)
{
    PUT(json, info, rasterizationSamples);
    PUT(json, info, sampleShadingEnable);
    PUT(json, info, minSampleShading);
    PUT(json, info, alphaToCoverageEnable);
    PUT(json, info, alphaToOneEnable);
    cJSON_AddBoolToObject(json, "pSampleMask", info->pSampleMask != NULL);
}

static void put_stencil(cJSON *json, const char *name, const VkStencilOpState *state)
{
    cJSON *one = cJSON_AddObjectToObject(json, name);
    PUT(one, state, failOp);
    PUT(one, state, passOp);
    PUT(one, state, depthFailOp);
    PUT(one, state, compareOp);
    PUT(one, state, compareMask);
    PUT(one, state, writeMask);
    PUT(one, state, reference);
}

static void put_depth(cJSON *json, const VkPipelineDepthStencilStateCreateInfo *info)
{
    PUT(json, info, depthTestEnable);
    PUT(json, info, depthWriteEnable);
    PUT(json, info, depthCompareOp);
    PUT(json, info, depthBoundsTestEnable);
    PUT(json, info, minDepthBounds);
    PUT(json, info, maxDepthBounds);
    PUT(json, info, stencilTestEnable);
    put_stencil(json, "front", &info->front);
    put_stencil(json, "back", &info->back);
}

static void put_blend(cJSON *json, const VkPipelineColorBlendStateCreateInfo *info)
{
    PUT(json, info, logicOpEnable);
    PUT(json, info, logicOp);
    cJSON *list = cJSON_AddArrayToObject(json, "pAttachments");
    for (uint32_t i = 0; info->pAttachments && i < info->attachmentCount; i++) {
        const VkPipelineColorBlendAttachmentState *state = &info->pAttachments[i];
        cJSON *one = element(list);
        PUT(one, state, blendEnable);
        PUT(one, state, srcColorBlendFactor);
        PUT(one, state, dstColorBlendFactor);
        PUT(one, state, colorBlendOp);
        PUT(one, state, srcAlphaBlendFactor);
        PUT(one, state, dstAlphaBlendFactor);
        PUT(one, state, alphaBlendOp);
        PUT(one, state, colorWriteMask);
    }
}

static void put_rendering(cJSON *json, const VkPipelineRenderingCreateInfo *info)
{
    cJSON *one = cJSON_AddObjectToObject(json, "VkPipelineRenderingCreateInfo");
    PUT(one, info, viewMask);
    cJSON *formats = cJSON_AddArrayToObject(one, "pColorAttachmentFormats");
    for (uint32_t i = 0; i < info->colorAttachmentCount; i++)
        cJSON_AddItemToArray(formats, cJSON_CreateNumber(info->pColorAttachmentFormats[i]));
    PUT(one, info, depthAttachmentFormat);
    PUT(one, info, stencilAttachmentFormat);
}

static void put_chain(cJSON *json, const void *chain)
{
    cJSON *list = cJSON_AddArrayToObject(json, "pNext");
    for (const VkBaseInStructure *item = chain; item; item = item->pNext) {
        cJSON_AddItemToArray(list, cJSON_CreateNumber(item->sType));
        if (item->sType == VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO)
            put_rendering(json, (const VkPipelineRenderingCreateInfo *)(const void *)item);
    }
}

static void put_formats(cJSON *json, const struct pm_object *object)
{
    cJSON *one = cJSON_AddObjectToObject(json, "renderPass");
    cJSON *list = cJSON_AddArrayToObject(one, "pAttachments");
    const uint32_t count = object->render_pass2 ? object->info.render_pass2->attachmentCount
                                                : object->info.render_pass->attachmentCount;
    for (uint32_t i = 0; i < count; i++) {
        cJSON *attachment = element(list);
        if (object->render_pass2) {
            PUT(attachment, &object->info.render_pass2->pAttachments[i], format);
            PUT(attachment, &object->info.render_pass2->pAttachments[i], samples);
        } else {
            PUT(attachment, &object->info.render_pass->pAttachments[i], format);
            PUT(attachment, &object->info.render_pass->pAttachments[i], samples);
        }
    }
}

/* What the deep copy left out does not matter to the pipeline. */
static void put_graphics(cJSON *json, const VkGraphicsPipelineCreateInfo *info)
{
    cJSON *stages = cJSON_AddArrayToObject(json, "pStages");
    for (uint32_t i = 0; i < info->stageCount; i++)
        put_stage(stages, &info->pStages[i]);
    if (info->pVertexInputState)
        put_vertex_input(cJSON_AddObjectToObject(json, "pVertexInputState"),
                         info->pVertexInputState);
    if (info->pInputAssemblyState) {
        cJSON *one = cJSON_AddObjectToObject(json, "pInputAssemblyState");
        PUT(one, info->pInputAssemblyState, topology);
        PUT(one, info->pInputAssemblyState, primitiveRestartEnable);
    }
    if (info->pTessellationState)
        put(json, "patchControlPoints", info->pTessellationState->patchControlPoints);
    if (info->pViewportState)
        put(json, "viewportCount", info->pViewportState->viewportCount);
    if (info->pRasterizationState)
        put_rasterization(cJSON_AddObjectToObject(json, "pRasterizationState"),
                          info->pRasterizationState);
    if (info->pMultisampleState)
        put_multisample(cJSON_AddObjectToObject(json, "pMultisampleState"),
                        info->pMultisampleState);
    if (info->pDepthStencilState)
        put_depth(cJSON_AddObjectToObject(json, "pDepthStencilState"), info->pDepthStencilState);
    if (info->pColorBlendState)
        put_blend(cJSON_AddObjectToObject(json, "pColorBlendState"), info->pColorBlendState);
    cJSON *dynamic = cJSON_AddArrayToObject(json, "pDynamicStates");
    for (uint32_t i = 0; info->pDynamicState && i < info->pDynamicState->dynamicStateCount; i++)
        cJSON_AddItemToArray(dynamic, cJSON_CreateNumber(info->pDynamicState->pDynamicStates[i]));
    PUT(json, info, subpass);
    put_chain(json, info->pNext);
}

/* ---- a pipeline ---- */

cJSON *pm_pipeline_state(const struct pm_pipeline *pipeline)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "type",
                            pipeline->graphics  ? "graphics"
                            : pipeline->compute ? "compute"
                                                : "shader object");
    put(json, "flags", (double)pipeline->flags);
    if (pipeline->layout)
        put_layout(json, pipeline->layout);
    if (pipeline->render_pass)
        put_formats(json, pipeline->render_pass);
    if (pipeline->graphics) {
        put_graphics(json, pipeline->graphics);
    } else if (pipeline->compute) {
        put_stage(cJSON_AddArrayToObject(json, "pStages"), &pipeline->compute->stage);
        put_chain(json, pipeline->compute->pNext);
    } else if (pipeline->object) {
        PUT(json, pipeline->object, stage);
        put_specialization(json, pipeline->object->pSpecializationInfo);
    }
    cJSON *libraries = cJSON_AddArrayToObject(json, "pLibraries");
    for (uint32_t i = 0; i < pipeline->library_count; i++)
        cJSON_AddItemToArray(libraries, pm_pipeline_state(pipeline->libraries[i]));
    return json;
}
