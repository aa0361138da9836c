#include "layer/shader/pipeline_state.h"

#include "layer/shader/object_private.h"
#include "layer/shader/pipeline_build.h"
#include "layer/shader/pipeline_state_chain.h"
#include "layer/shader/pipeline_state_objects.h"
#include "profile/fossilize.h"
#include <stdio.h>
#include <stdlib.h>

#define PUT PM_STATE_PUT

/* ---- stages ---- */

/* malloc'ed; NULL: out of memory. */
static char *base64(const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc((size + 2) / 3 * 4 + 1), *at = text;
    for (size_t i = 0; text && i < size; i += 3) {
        uint32_t bits = (uint32_t)bytes[i] << 16;
        bits |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        bits |= i + 2 < size ? bytes[i + 2] : 0;
        for (size_t j = 0; j < 4; j++)
            *at++ = i + j <= size ? digits[bits >> (18 - 6 * j) & 63] : '=';
    }
    if (text)
        *at = '\0';
    return text;
}

static void put_specialization(struct pm_state *state, cJSON *json,
                               const VkSpecializationInfo *info)
{
    if (!info)
        return;
    cJSON *one = cJSON_AddObjectToObject(json, "specializationInfo");
    char *data = base64(info->pData, info->dataSize);
    PUT(one, info, dataSize);
    cJSON_AddStringToObject(one, "data", data ? data : "");
    if (!data)
        pm_state_fail(state);
    free(data);
    cJSON *entries = cJSON_AddArrayToObject(one, "mapEntries");
    for (uint32_t i = 0; i < info->mapEntryCount; i++) {
        cJSON *entry = pm_state_element(entries);
        PUT(entry, &info->pMapEntries[i], offset);
        PUT(entry, &info->pMapEntries[i], size);
        PUT(entry, &info->pMapEntries[i], constantID);
    }
}

/* The module of a stage: its hash, and what is asked for is shown. */
static uint64_t module_of(struct pm_state *state, const struct pm_object *object)
{
    struct pm_words words = {0};
    uint64_t hash = 0;
    if (state->ok && pm_object_words(object, &words, state->error))
        hash = pm_fossilize_hash_module(words.data, words.count);
    else
        state->ok = false;
    if (state->ok && state->visit)
        state->ok = state->visit(state->user, hash, &words, state->error);
    pm_words_finish(&words);
    return hash;
}

static void put_stage(struct pm_state *state, cJSON *json,
                      const VkPipelineShaderStageCreateInfo *stage, const struct pm_object *module)
{
    PUT(json, stage, flags);
    PUT(json, stage, stage);
    cJSON_AddStringToObject(json, "name", stage->pName ? stage->pName : "");
    pm_state_reference(json, "module", module_of(state, module));
    put_specialization(state, json, stage->pSpecializationInfo);
    pm_state_chain(state, json, stage->pNext, NULL);
}

/* ---- graphics ---- */

static void put_vertex_input(struct pm_state *state, cJSON *json,
                             const VkPipelineVertexInputStateCreateInfo *info)
{
    PUT(json, info, flags);
    cJSON *attributes = cJSON_AddArrayToObject(json, "attributes");
    for (uint32_t i = 0; i < info->vertexAttributeDescriptionCount; i++) {
        const VkVertexInputAttributeDescription *attribute = &info->pVertexAttributeDescriptions[i];
        cJSON *one = pm_state_element(attributes);
        PUT(one, attribute, location);
        PUT(one, attribute, binding);
        PUT(one, attribute, offset);
        PUT(one, attribute, format);
    }
    cJSON *bindings = cJSON_AddArrayToObject(json, "bindings");
    for (uint32_t i = 0; i < info->vertexBindingDescriptionCount; i++) {
        const VkVertexInputBindingDescription *binding = &info->pVertexBindingDescriptions[i];
        cJSON *one = pm_state_element(bindings);
        PUT(one, binding, binding);
        PUT(one, binding, stride);
        PUT(one, binding, inputRate);
    }
    pm_state_chain(state, json, info->pNext, NULL);
}

static void put_viewports(struct pm_state *state, cJSON *json,
                          const VkPipelineViewportStateCreateInfo *info)
{
    PUT(json, info, flags);
    PUT(json, info, viewportCount);
    PUT(json, info, scissorCount);
    cJSON *list = info->pViewports ? cJSON_AddArrayToObject(json, "viewports") : NULL;
    for (uint32_t i = 0; list && i < info->viewportCount; i++) {
        const VkViewport *viewport = &info->pViewports[i];
        cJSON *one = pm_state_element(list);
        PUT(one, viewport, x);
        PUT(one, viewport, y);
        PUT(one, viewport, width);
        PUT(one, viewport, height);
        PUT(one, viewport, minDepth);
        PUT(one, viewport, maxDepth);
    }
    list = info->pScissors ? cJSON_AddArrayToObject(json, "scissors") : NULL;
    for (uint32_t i = 0; list && i < info->scissorCount; i++) {
        const VkRect2D *scissor = &info->pScissors[i];
        cJSON *one = pm_state_element(list);
        PUT(one, &scissor->offset, x);
        PUT(one, &scissor->offset, y);
        PUT(one, &scissor->extent, width);
        PUT(one, &scissor->extent, height);
    }
    pm_state_chain(state, json, info->pNext, NULL);
}

static void put_rasterization(struct pm_state *state, cJSON *json,
                              const VkPipelineRasterizationStateCreateInfo *info)
{
    PUT(json, info, flags);
    PUT(json, info, depthBiasConstantFactor);
    PUT(json, info, depthBiasSlopeFactor);
    PUT(json, info, depthBiasClamp);
    PUT(json, info, depthBiasEnable);
    PUT(json, info, depthClampEnable);
    PUT(json, info, polygonMode);
    PUT(json, info, rasterizerDiscardEnable);
    PUT(json, info, frontFace);
    PUT(json, info, lineWidth);
    PUT(json, info, cullMode);
    pm_state_chain(state, json, info->pNext, NULL);
}

static void put_multisample(struct pm_state *state, cJSON *json,
                            const VkPipelineMultisampleStateCreateInfo *info)
{
    PUT(json, info, flags);
    PUT(json, info, rasterizationSamples);
    PUT(json, info, sampleShadingEnable);
    PUT(json, info, minSampleShading);
    PUT(json, info, alphaToOneEnable);
    PUT(json, info, alphaToCoverageEnable);
    cJSON *mask = info->pSampleMask ? cJSON_AddArrayToObject(json, "sampleMask") : NULL;
    for (uint32_t i = 0; mask && i < ((uint32_t)info->rasterizationSamples + 31) / 32; i++)
        cJSON_AddItemToArray(mask, cJSON_CreateNumber(info->pSampleMask[i]));
    pm_state_chain(state, json, info->pNext, NULL);
}

static void put_stencil(cJSON *json, const char *name, const VkStencilOpState *stencil)
{
    cJSON *one = cJSON_AddObjectToObject(json, name);
    PUT(one, stencil, compareOp);
    PUT(one, stencil, writeMask);
    PUT(one, stencil, reference);
    PUT(one, stencil, compareMask);
    PUT(one, stencil, passOp);
    PUT(one, stencil, failOp);
    PUT(one, stencil, depthFailOp);
}

static void put_depth(struct pm_state *state, cJSON *json,
                      const VkPipelineDepthStencilStateCreateInfo *info)
{
    PUT(json, info, flags);
    PUT(json, info, stencilTestEnable);
    PUT(json, info, maxDepthBounds);
    PUT(json, info, minDepthBounds);
    PUT(json, info, depthBoundsTestEnable);
    PUT(json, info, depthWriteEnable);
    PUT(json, info, depthTestEnable);
    PUT(json, info, depthCompareOp);
    put_stencil(json, "front", &info->front);
    put_stencil(json, "back", &info->back);
    pm_state_chain(state, json, info->pNext, NULL);
}

static void put_blend(struct pm_state *state, cJSON *json,
                      const VkPipelineColorBlendStateCreateInfo *info)
{
    /* Where all of it is dynamic there is none, but readers want as many. */
    static const VkPipelineColorBlendAttachmentState none;
    PUT(json, info, flags);
    PUT(json, info, logicOp);
    PUT(json, info, logicOpEnable);
    cJSON *list = cJSON_AddArrayToObject(json, "blendConstants");
    for (size_t i = 0; i < sizeof info->blendConstants / sizeof *info->blendConstants; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)info->blendConstants[i]));
    list = cJSON_AddArrayToObject(json, "attachments");
    for (uint32_t i = 0; i < info->attachmentCount; i++) {
        const VkPipelineColorBlendAttachmentState *blend =
            info->pAttachments ? &info->pAttachments[i] : &none;
        cJSON *one = pm_state_element(list);
        PUT(one, blend, dstAlphaBlendFactor);
        PUT(one, blend, srcAlphaBlendFactor);
        PUT(one, blend, dstColorBlendFactor);
        PUT(one, blend, srcColorBlendFactor);
        PUT(one, blend, colorWriteMask);
        PUT(one, blend, alphaBlendOp);
        PUT(one, blend, colorBlendOp);
        PUT(one, blend, blendEnable);
    }
    pm_state_chain(state, json, info->pNext, NULL);
}

static void put_dynamic(cJSON *json, const VkPipelineDynamicStateCreateInfo *info)
{
    PUT(json, info, flags);
    cJSON *list = cJSON_AddArrayToObject(json, "dynamicState");
    for (uint32_t i = 0; i < info->dynamicStateCount; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(info->pDynamicStates[i]));
}

static void put_assembly(struct pm_state *state, cJSON *json,
                         const VkPipelineInputAssemblyStateCreateInfo *info)
{
    PUT(json, info, flags);
    PUT(json, info, topology);
    PUT(json, info, primitiveRestartEnable);
    pm_state_chain(state, json, info->pNext, NULL);
}

static void put_tessellation(struct pm_state *state, cJSON *json,
                             const VkPipelineTessellationStateCreateInfo *info)
{
    PUT(json, info, flags);
    PUT(json, info, patchControlPoints);
    pm_state_chain(state, json, info->pNext, NULL);
}

/* ---- pipelines ---- */

/* What there is of a pipeline in any case. Flags that do not fit are in the chain. */
static void put_common(struct pm_state *state, cJSON *json, const struct pm_pipeline *pipeline)
{
    const VkPipelineCreateFlags2 flags = pm_pipeline_lasting_flags(pipeline);
    pm_state_number(json, "flags", (double)(VkPipelineCreateFlags)flags);
    pm_state_reference(json, "layout", pm_state_object(state, pipeline->layout));
    pm_state_reference(json, "basePipelineHandle", 0);
    pm_state_number(json, "basePipelineIndex", -1);
}

/* What the deep copy left out does not matter to the pipeline. */
static void put_graphics(struct pm_state *state, cJSON *json, const struct pm_pipeline *pipeline)
{
    const VkGraphicsPipelineCreateInfo *info = pipeline->graphics;
    pm_state_reference(json, "renderPass", pm_state_object(state, pipeline->render_pass));
    PUT(json, info, subpass);
    if (info->pTessellationState)
        put_tessellation(state, cJSON_AddObjectToObject(json, "tessellationState"),
                         info->pTessellationState);
    if (info->pDynamicState)
        put_dynamic(cJSON_AddObjectToObject(json, "dynamicState"), info->pDynamicState);
    if (info->pMultisampleState)
        put_multisample(state, cJSON_AddObjectToObject(json, "multisampleState"),
                        info->pMultisampleState);
    if (info->pVertexInputState)
        put_vertex_input(state, cJSON_AddObjectToObject(json, "vertexInputState"),
                         info->pVertexInputState);
    if (info->pRasterizationState)
        put_rasterization(state, cJSON_AddObjectToObject(json, "rasterizationState"),
                          info->pRasterizationState);
    if (info->pInputAssemblyState)
        put_assembly(state, cJSON_AddObjectToObject(json, "inputAssemblyState"),
                     info->pInputAssemblyState);
    if (info->pColorBlendState)
        put_blend(state, cJSON_AddObjectToObject(json, "colorBlendState"), info->pColorBlendState);
    if (info->pViewportState)
        put_viewports(state, cJSON_AddObjectToObject(json, "viewportState"), info->pViewportState);
    if (info->pDepthStencilState)
        put_depth(state, cJSON_AddObjectToObject(json, "depthStencilState"),
                  info->pDepthStencilState);
    cJSON *stages = info->stageCount > 0 ? cJSON_AddArrayToObject(json, "stages") : NULL;
    for (uint32_t i = 0; i < info->stageCount; i++)
        put_stage(state, pm_state_element(stages), &info->pStages[i], pipeline->modules[i]);
}

static uint64_t add_pipeline(struct pm_state *state, const struct pm_pipeline *pipeline,
                             uint64_t *owner);

/* What stands in the chain beside what the deep copy has there. */
static void put_chain(struct pm_state *state, cJSON *json, const struct pm_pipeline *pipeline,
                      const void *chain, uint64_t *owner)
{
    const VkPipelineCreateFlags2 flags = pm_pipeline_lasting_flags(pipeline);
    pm_state_chain(state, json, chain, NULL);
    cJSON *list = cJSON_GetObjectItemCaseSensitive(json, "pNext");
    if (!list && (pipeline->library_count > 0 || flags > UINT32_MAX))
        list = cJSON_AddArrayToObject(json, "pNext");
    if (flags > UINT32_MAX) {
        cJSON *one = pm_state_element(list);
        pm_state_number(one, "sType", VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO);
        pm_state_number(one, "flags", (double)flags);
    }
    if (pipeline->library_count > 0) {
        cJSON *one = pm_state_element(list);
        pm_state_number(one, "sType", VK_STRUCTURE_TYPE_PIPELINE_LIBRARY_CREATE_INFO_KHR);
        cJSON *libraries = cJSON_AddArrayToObject(one, "libraries");
        for (uint32_t i = 0; i < pipeline->library_count; i++)
            cJSON_AddItemToArray(libraries, pm_state_reference_text(add_pipeline(
                                                state, pipeline->libraries[i], owner)));
    }
}

/* *owner: set where it is the one whose shader is replaced; NULL: not asked. */
static uint64_t add_pipeline(struct pm_state *state, const struct pm_pipeline *pipeline,
                             uint64_t *owner)
{
    cJSON *json = cJSON_CreateObject();
    put_common(state, json, pipeline);
    uint64_t hash;
    if (pipeline->compute) {
        put_stage(state, cJSON_AddObjectToObject(json, "stage"), &pipeline->compute->stage,
                  pipeline->modules[0]);
        put_chain(state, json, pipeline, pipeline->compute->pNext, owner);
        hash = pm_state_add(state, "computePipelines", json);
    } else {
        put_graphics(state, json, pipeline);
        put_chain(state, json, pipeline, pipeline->graphics->pNext, owner);
        hash = pm_state_add(state, "graphicsPipelines", json);
    }
    if (pipeline->shader_owner == pipeline)
        *owner = hash;
    return hash;
}

/* Fossilize knows none of these: for people. */
static void put_object(struct pm_state *state, cJSON *json, const struct pm_pipeline *pipeline)
{
    PUT(json, pipeline->object, stage);
    cJSON_AddStringToObject(json, "name", pipeline->object->pName ? pipeline->object->pName : "");
    put_specialization(state, json, pipeline->object->pSpecializationInfo);
    cJSON *sets = cJSON_AddArrayToObject(json, "setLayouts");
    for (uint32_t i = 0; i < pipeline->set_layout_count; i++)
        cJSON_AddItemToArray(
            sets, pm_state_reference_text(pm_state_object(state, pipeline->set_layouts[i])));
}

static void describe(struct pm_state *state, const struct pm_pipeline *pipeline)
{
    cJSON *own = cJSON_AddObjectToObject(state->document, "piecemeal");
    cJSON_AddStringToObject(own, "type",
                            pipeline->graphics  ? "graphics"
                            : pipeline->compute ? "compute"
                                                : "shader object");
    cJSON_AddItemToObject(own, "left_out", state->left_out);
    if (pipeline->object) {
        put_object(state, own, pipeline);
        return;
    }
    uint64_t owner = 0;
    pm_state_reference(own, "pipeline", add_pipeline(state, pipeline, &owner));
    pm_state_reference(own, "owner", owner);
    pm_state_number(own, "stage", pipeline->shader_stage);
}

cJSON *pm_pipeline_state(const struct pm_pipeline *pipeline, pm_state_module_visitor visit,
                         void *user, struct pm_error *error)
{
    /* In the order in which readers need them. */
    static const char *const sections[] = {"samplers",         "setLayouts",    "pipelineLayouts",
                                           "renderPasses",     "renderPasses2", "computePipelines",
                                           "graphicsPipelines"};
    enum { SECTIONS = sizeof sections / sizeof *sections };
    struct pm_state state = {.document = cJSON_CreateObject(),
                             .left_out = cJSON_CreateArray(),
                             .visit = visit,
                             .user = user,
                             .error = error,
                             .ok = true};
    pm_state_number(state.document, "version", PM_FOSSILIZE_VERSION);
    for (size_t i = 0; i < SECTIONS; i++)
        cJSON_AddObjectToObject(state.document, sections[i]);
    describe(&state, pipeline);
    for (size_t i = 0; i < SECTIONS; i++)
        if (cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(state.document, sections[i])) == 0)
            cJSON_DeleteItemFromObject(state.document, sections[i]);
    if (state.ok)
        return state.document;
    cJSON_Delete(state.document);
    return NULL;
}
