/* Our own, identically defined handles of objects; see object.h. */
#include "layer/core/object_name.h"
#include "layer/shader/object_private.h"

bool pm_object_visit(enum pm_object_kind kind, union pm_object_info info, pm_object_visitor visit,
                     void *user)
{
    uint64_t bits;
    switch (kind) {
    case PM_OBJECT_SAMPLER:
        for (const VkBaseInStructure *item = info.sampler->pNext; item; item = item->pNext) {
            if (item->sType != VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_INFO)
                continue;
            VkSamplerYcbcrConversionInfo *ycbcr = (VkSamplerYcbcrConversionInfo *)(uintptr_t)item;
            bits = PM_BITS(ycbcr->conversion);
            if (bits && !visit(user, PM_OBJECT_CONVERSION, &bits))
                return false;
            ycbcr->conversion = PM_TO_HANDLE(VkSamplerYcbcrConversion, bits);
        }
        return true;
    case PM_OBJECT_SET_LAYOUT:
        for (uint32_t i = 0; i < info.set_layout->bindingCount; i++) {
            const VkDescriptorSetLayoutBinding *binding = &info.set_layout->pBindings[i];
            VkSampler *samplers = (VkSampler *)(uintptr_t)binding->pImmutableSamplers;
            for (uint32_t j = 0; samplers && j < binding->descriptorCount; j++) {
                bits = PM_BITS(samplers[j]);
                if (bits && !visit(user, PM_OBJECT_SAMPLER, &bits))
                    return false;
                samplers[j] = PM_TO_HANDLE(VkSampler, bits);
            }
        }
        return true;
    case PM_OBJECT_PIPELINE_LAYOUT:
        for (uint32_t i = 0; i < info.pipeline_layout->setLayoutCount; i++) {
            VkDescriptorSetLayout *layout =
                (VkDescriptorSetLayout *)(uintptr_t)&info.pipeline_layout->pSetLayouts[i];
            bits = PM_BITS(*layout);
            if (bits && !visit(user, PM_OBJECT_SET_LAYOUT, &bits))
                return false;
            *layout = PM_TO_HANDLE(VkDescriptorSetLayout, bits);
        }
        return true;
    default:
        return true;
    }
}

struct parts {
    const struct pm_object *object;
    uint32_t next;
};

static bool use_own(void *user, enum pm_object_kind kind, uint64_t *bits)
{
    (void)kind;
    struct parts *parts = user;
    *bits = atomic_load(&parts->object->parts[parts->next++]->own);
    return true;
}

#define MAKE(create, type, info)                                                                   \
    do {                                                                                           \
        type handle = VK_NULL_HANDLE;                                                              \
        result = dispatch->create(device->handle, info, NULL, &handle);                            \
        *own = PM_BITS(handle);                                                                    \
    } while (0)

#define MAKE_NAMED(what, create, type, info, vk_type)                                              \
    do {                                                                                           \
        MAKE(create, type, info);                                                                  \
        if (result == VK_SUCCESS)                                                                  \
            pm_name_object(device, vk_type, *own, "piecemeal " what);                              \
    } while (0)

VkResult pm_object_make(struct pm_object *object, uint64_t *own)
{
    struct pm_device *device = object->owner->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const union pm_object_info info = object->info;
    struct parts parts = {.object = object};
    (void)pm_object_visit(object->kind, info, use_own, &parts);
    VkResult result = VK_ERROR_FEATURE_NOT_PRESENT;
    switch (object->kind) {
    case PM_OBJECT_SAMPLER:
        MAKE_NAMED("sampler", CreateSampler, VkSampler, info.sampler, VK_OBJECT_TYPE_SAMPLER);
        break;
    case PM_OBJECT_CONVERSION:
        MAKE_NAMED("conversion", CreateSamplerYcbcrConversion, VkSamplerYcbcrConversion,
                   info.conversion, VK_OBJECT_TYPE_SAMPLER_YCBCR_CONVERSION);
        break;
    case PM_OBJECT_SET_LAYOUT:
        MAKE_NAMED("set layout", CreateDescriptorSetLayout, VkDescriptorSetLayout, info.set_layout,
                   VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT);
        break;
    case PM_OBJECT_PIPELINE_LAYOUT:
        /* Without a name: drivers copy a layout bitwise where they merge those of libraries, the
         * name's pointer with it, and free it twice (lavapipe: seen). */
        MAKE(CreatePipelineLayout, VkPipelineLayout, info.pipeline_layout);
        break;
    case PM_OBJECT_RENDER_PASS:
        if (object->render_pass2)
            MAKE_NAMED("render pass", CreateRenderPass2, VkRenderPass, info.render_pass2,
                       VK_OBJECT_TYPE_RENDER_PASS);
        else
            MAKE_NAMED("render pass", CreateRenderPass, VkRenderPass, info.render_pass,
                       VK_OBJECT_TYPE_RENDER_PASS);
        break;
    default:
        break;
    }
    return result;
}

void pm_object_unmake(struct pm_object *object, uint64_t own)
{
    struct pm_device *device = object->owner->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    switch (object->kind) {
    case PM_OBJECT_SAMPLER:
        dispatch->DestroySampler(device->handle, PM_TO_HANDLE(VkSampler, own), NULL);
        break;
    case PM_OBJECT_CONVERSION:
        dispatch->DestroySamplerYcbcrConversion(device->handle,
                                                PM_TO_HANDLE(VkSamplerYcbcrConversion, own), NULL);
        break;
    case PM_OBJECT_SET_LAYOUT:
        dispatch->DestroyDescriptorSetLayout(device->handle,
                                             PM_TO_HANDLE(VkDescriptorSetLayout, own), NULL);
        break;
    case PM_OBJECT_PIPELINE_LAYOUT:
        dispatch->DestroyPipelineLayout(device->handle, PM_TO_HANDLE(VkPipelineLayout, own), NULL);
        break;
    case PM_OBJECT_RENDER_PASS:
        dispatch->DestroyRenderPass(device->handle, PM_TO_HANDLE(VkRenderPass, own), NULL);
        break;
    default:
        break;
    }
}
