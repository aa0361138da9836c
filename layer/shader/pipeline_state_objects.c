#include "layer/shader/pipeline_state_objects.h"

#include "layer/shader/object_private.h"
#include "layer/shader/pipeline_state_chain.h"

#define PUT PM_STATE_PUT

/* ---- samplers, layouts ---- */

static uint64_t add_sampler(struct pm_state *state, const struct pm_object *object)
{
    const VkSamplerCreateInfo *info = object->info.sampler;
    cJSON *json = cJSON_CreateObject();
    PUT(json, info, flags);
    PUT(json, info, minFilter);
    PUT(json, info, magFilter);
    PUT(json, info, maxAnisotropy);
    PUT(json, info, compareOp);
    PUT(json, info, anisotropyEnable);
    PUT(json, info, mipmapMode);
    PUT(json, info, addressModeU);
    PUT(json, info, addressModeV);
    PUT(json, info, addressModeW);
    PUT(json, info, borderColor);
    PUT(json, info, unnormalizedCoordinates);
    PUT(json, info, compareEnable);
    PUT(json, info, mipLodBias);
    PUT(json, info, minLod);
    PUT(json, info, maxLod);
    pm_state_chain(state, json, info->pNext, object->part_count > 0 ? object->parts[0] : NULL);
    return pm_state_add(state, "samplers", json);
}

static uint64_t add_set_layout(struct pm_state *state, const struct pm_object *object)
{
    const VkDescriptorSetLayoutCreateInfo *info = object->info.set_layout;
    cJSON *json = cJSON_CreateObject();
    PUT(json, info, flags);
    cJSON *bindings = cJSON_AddArrayToObject(json, "bindings");
    /* The parts are the immutable samplers, in their order. */
    for (uint32_t i = 0, part = 0; i < info->bindingCount; i++) {
        const VkDescriptorSetLayoutBinding *binding = &info->pBindings[i];
        cJSON *one = pm_state_element(bindings);
        PUT(one, binding, descriptorType);
        PUT(one, binding, descriptorCount);
        PUT(one, binding, stageFlags);
        PUT(one, binding, binding);
        cJSON *samplers =
            binding->pImmutableSamplers ? cJSON_AddArrayToObject(one, "immutableSamplers") : NULL;
        for (uint32_t j = 0; samplers && j < binding->descriptorCount; j++)
            cJSON_AddItemToArray(
                samplers,
                pm_state_reference_text(
                    part < object->part_count ? pm_state_object(state, object->parts[part++]) : 0));
    }
    pm_state_chain(state, json, info->pNext, NULL);
    return pm_state_add(state, "setLayouts", json);
}

static uint64_t add_layout(struct pm_state *state, const struct pm_object *object)
{
    const VkPipelineLayoutCreateInfo *info = object->info.pipeline_layout;
    cJSON *json = cJSON_CreateObject();
    PUT(json, info, flags);
    cJSON *ranges = cJSON_AddArrayToObject(json, "pushConstantRanges");
    for (uint32_t i = 0; i < info->pushConstantRangeCount; i++) {
        const VkPushConstantRange *range = &info->pPushConstantRanges[i];
        cJSON *one = pm_state_element(ranges);
        PUT(one, range, stageFlags);
        PUT(one, range, size);
        PUT(one, range, offset);
    }
    cJSON *sets = cJSON_AddArrayToObject(json, "setLayouts");
    /* The parts are the set layouts that are not null, in their order. The handles change while our
     * own are made, but not whether they are null. */
    for (uint32_t i = 0, part = 0; i < info->setLayoutCount; i++) {
        pthread_mutex_lock(&object->owner->making);
        const bool is_null = info->pSetLayouts[i] == VK_NULL_HANDLE;
        pthread_mutex_unlock(&object->owner->making);
        cJSON_AddItemToArray(
            sets, pm_state_reference_text(is_null || part == object->part_count
                                              ? 0
                                              : pm_state_object(state, object->parts[part++])));
    }
    pm_state_chain(state, json, info->pNext, NULL);
    return pm_state_add(state, "pipelineLayouts", json);
}

/* ---- render passes ---- */

/* Both kinds of structures have these members. */
#define PUT_ATTACHMENT(json, info)                                                                 \
    do {                                                                                           \
        PUT(json, info, flags);                                                                    \
        PUT(json, info, format);                                                                   \
        PUT(json, info, finalLayout);                                                              \
        PUT(json, info, initialLayout);                                                            \
        PUT(json, info, loadOp);                                                                   \
        PUT(json, info, storeOp);                                                                  \
        PUT(json, info, samples);                                                                  \
        PUT(json, info, stencilLoadOp);                                                            \
        PUT(json, info, stencilStoreOp);                                                           \
    } while (0)

#define PUT_DEPENDENCY(json, info)                                                                 \
    do {                                                                                           \
        PUT(json, info, dependencyFlags);                                                          \
        PUT(json, info, dstAccessMask);                                                            \
        PUT(json, info, srcAccessMask);                                                            \
        PUT(json, info, dstStageMask);                                                             \
        PUT(json, info, srcStageMask);                                                             \
        PUT(json, info, dstSubpass);                                                               \
        PUT(json, info, srcSubpass);                                                               \
    } while (0)

/* A list of references; put is put_reference or put_reference2. */
#define PUT_REFERENCES(state, json, name, references, count, put)                                  \
    do {                                                                                           \
        if (references) {                                                                          \
            cJSON *references_of = cJSON_AddArrayToObject(json, name);                             \
            for (uint32_t r = 0; r < (count); r++)                                                 \
                put(state, pm_state_element(references_of), &(references)[r]);                     \
        }                                                                                          \
    } while (0)

/* put_subpass and put_subpass2: what both kinds have. */
#define PUT_SUBPASS(state, json, info, put)                                                        \
    do {                                                                                           \
        PUT(json, info, flags);                                                                    \
        PUT(json, info, pipelineBindPoint);                                                        \
        if ((info)->pPreserveAttachments)                                                          \
            put_numbers(json, "preserveAttachments", (info)->pPreserveAttachments,                 \
                        (info)->preserveAttachmentCount);                                          \
        PUT_REFERENCES(state, json, "inputAttachments", (info)->pInputAttachments,                 \
                       (info)->inputAttachmentCount, put);                                         \
        PUT_REFERENCES(state, json, "colorAttachments", (info)->pColorAttachments,                 \
                       (info)->colorAttachmentCount, put);                                         \
        PUT_REFERENCES(state, json, "resolveAttachments", (info)->pResolveAttachments,             \
                       (info)->colorAttachmentCount, put);                                         \
        if ((info)->pDepthStencilAttachment)                                                       \
            put(state, cJSON_AddObjectToObject(json, "depthStencilAttachment"),                    \
                (info)->pDepthStencilAttachment);                                                  \
    } while (0)

static void put_numbers(cJSON *json, const char *name, const uint32_t *numbers, uint32_t count)
{
    cJSON *list = cJSON_AddArrayToObject(json, name);
    for (uint32_t i = 0; i < count; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber(numbers[i]));
}

static void put_reference(struct pm_state *state, cJSON *json, const VkAttachmentReference *info)
{
    (void)state;
    PUT(json, info, attachment);
    PUT(json, info, layout);
}

static void put_reference2(struct pm_state *state, cJSON *json, const VkAttachmentReference2 *info)
{
    PUT(json, info, attachment);
    PUT(json, info, layout);
    PUT(json, info, aspectMask);
    pm_state_chain(state, json, info->pNext, NULL);
}

static uint64_t add_render_pass(struct pm_state *state, const VkRenderPassCreateInfo *info)
{
    cJSON *json = cJSON_CreateObject();
    PUT(json, info, flags);
    cJSON *list = cJSON_AddArrayToObject(json, "dependencies");
    for (uint32_t i = 0; i < info->dependencyCount; i++) {
        cJSON *one = pm_state_element(list);
        PUT_DEPENDENCY(one, &info->pDependencies[i]);
    }
    list = cJSON_AddArrayToObject(json, "attachments");
    for (uint32_t i = 0; i < info->attachmentCount; i++) {
        cJSON *one = pm_state_element(list);
        PUT_ATTACHMENT(one, &info->pAttachments[i]);
    }
    list = cJSON_AddArrayToObject(json, "subpasses");
    for (uint32_t i = 0; i < info->subpassCount; i++) {
        const VkSubpassDescription *subpass = &info->pSubpasses[i];
        cJSON *one = pm_state_element(list);
        PUT_SUBPASS(state, one, subpass, put_reference);
    }
    pm_state_chain(state, json, info->pNext, NULL);
    return pm_state_add(state, "renderPasses", json);
}

static uint64_t add_render_pass2(struct pm_state *state, const VkRenderPassCreateInfo2 *info)
{
    cJSON *json = cJSON_CreateObject();
    PUT(json, info, flags);
    if (info->pCorrelatedViewMasks)
        put_numbers(json, "correlatedViewMasks", info->pCorrelatedViewMasks,
                    info->correlatedViewMaskCount);
    cJSON *list = cJSON_AddArrayToObject(json, "dependencies");
    for (uint32_t i = 0; i < info->dependencyCount; i++) {
        const VkSubpassDependency2 *dependency = &info->pDependencies[i];
        cJSON *one = pm_state_element(list);
        PUT_DEPENDENCY(one, dependency);
        PUT(one, dependency, viewOffset);
        pm_state_chain(state, one, dependency->pNext, NULL);
    }
    list = cJSON_AddArrayToObject(json, "attachments");
    for (uint32_t i = 0; i < info->attachmentCount; i++) {
        cJSON *one = pm_state_element(list);
        PUT_ATTACHMENT(one, &info->pAttachments[i]);
        pm_state_chain(state, one, info->pAttachments[i].pNext, NULL);
    }
    list = cJSON_AddArrayToObject(json, "subpasses");
    for (uint32_t i = 0; i < info->subpassCount; i++) {
        const VkSubpassDescription2 *subpass = &info->pSubpasses[i];
        cJSON *one = pm_state_element(list);
        PUT_SUBPASS(state, one, subpass, put_reference2);
        PUT(one, subpass, viewMask);
        pm_state_chain(state, one, subpass->pNext, NULL);
    }
    pm_state_chain(state, json, info->pNext, NULL);
    return pm_state_add(state, "renderPasses2", json);
}

uint64_t pm_state_object(struct pm_state *state, const struct pm_object *object)
{
    switch (object ? object->kind : PM_OBJECT_KINDS) {
    case PM_OBJECT_SAMPLER:
        return add_sampler(state, object);
    case PM_OBJECT_SET_LAYOUT:
        return add_set_layout(state, object);
    case PM_OBJECT_PIPELINE_LAYOUT:
        return add_layout(state, object);
    case PM_OBJECT_RENDER_PASS:
        return object->render_pass2 ? add_render_pass2(state, object->info.render_pass2)
                                    : add_render_pass(state, object->info.render_pass);
    default:
        return 0;
    }
}
