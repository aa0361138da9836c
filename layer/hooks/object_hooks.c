/* The hooks of what pipelines are made of; see object.h. */
#include "content.h"
#include "layer/hooks/hooks.h"
#include "layer/shader/object_private.h"
#include <string.h>

/* ---- drafts from create infos ---- */

static bool count_handle(void *user, enum pm_object_kind kind, uint64_t *bits)
{
    (void)kind;
    (void)bits;
    ++*(uint32_t *)user;
    return true;
}

struct linking {
    struct pm_objects *objects;
    struct pm_object_draft *draft;
    struct pm_error *error;
};

static const char *kind_name(enum pm_object_kind kind)
{
    static const char *const names[PM_OBJECT_KINDS] = {"shader module",     "sampler",
                                                       "Y'CbCr conversion", "descriptor set layout",
                                                       "pipeline layout",   "render pass"};
    return names[kind];
}

/* Replaces a game's handle by the address of what is remembered of it, which becomes a part. */
static bool link_part(void *user, enum pm_object_kind kind, uint64_t *bits)
{
    struct linking *linking = user;
    struct pm_object *part = pm_objects_find(linking->objects, kind, *bits);
    if (!part)
        return pm_fail(linking->error, PM_ERROR_UNSUPPORTED, "it names a %s that is not remembered",
                       kind_name(kind));
    linking->draft->parts[linking->draft->part_count++] = part;
    *bits = (uint64_t)(uintptr_t)part;
    return true;
}

static bool link_parts(struct pm_objects *objects, struct pm_object_draft *draft,
                       struct pm_error *error)
{
    uint32_t count = 0;
    (void)pm_object_visit(draft->kind, draft->info, count_handle, &count);
    struct linking linking = {.objects = objects, .draft = draft, .error = error};
    return pm_draft_parts(draft, count, error) &&
           pm_object_visit(draft->kind, draft->info, link_part, &linking);
}

static bool append_content(struct pm_object_draft *draft)
{
    struct pm_buffer *out = &draft->content;
    switch (draft->kind) {
    case PM_OBJECT_SAMPLER:
        return pm_content_SamplerCreateInfo(out, draft->info.sampler);
    case PM_OBJECT_CONVERSION:
        return pm_content_SamplerYcbcrConversionCreateInfo(out, draft->info.conversion);
    case PM_OBJECT_SET_LAYOUT:
        return pm_content_DescriptorSetLayoutCreateInfo(out, draft->info.set_layout);
    case PM_OBJECT_PIPELINE_LAYOUT:
        return pm_content_PipelineLayoutCreateInfo(out, draft->info.pipeline_layout);
    case PM_OBJECT_RENDER_PASS:
        return draft->render_pass2 ? pm_content_RenderPassCreateInfo2(out, draft->info.render_pass2)
                                   : pm_content_RenderPassCreateInfo(out, draft->info.render_pass);
    default:
        return false;
    }
}

/* Copies the info (of kind's structure) into the draft. */
static bool copy_info(struct pm_object_draft *draft, const void *info, struct pm_error *error)
{
    struct pm_arena *arena = draft->arena;
    switch (draft->kind) {
    case PM_OBJECT_SAMPLER:
        draft->info.sampler = pm_copy_SamplerCreateInfo(arena, info, error);
        return draft->info.sampler;
    case PM_OBJECT_CONVERSION:
        draft->info.conversion = pm_copy_SamplerYcbcrConversionCreateInfo(arena, info, error);
        return draft->info.conversion;
    case PM_OBJECT_SET_LAYOUT:
        draft->info.set_layout = pm_copy_DescriptorSetLayoutCreateInfo(arena, info, error);
        return draft->info.set_layout;
    case PM_OBJECT_PIPELINE_LAYOUT:
        draft->info.pipeline_layout = pm_copy_PipelineLayoutCreateInfo(arena, info, error);
        return draft->info.pipeline_layout;
    case PM_OBJECT_RENDER_PASS:
        if (draft->render_pass2)
            draft->info.render_pass2 = pm_copy_RenderPassCreateInfo2(arena, info, error);
        else
            draft->info.render_pass = pm_copy_RenderPassCreateInfo(arena, info, error);
        return draft->render_pass2 ? draft->info.render_pass2 != NULL
                                   : draft->info.render_pass != NULL;
    default:
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "not made from a create info");
    }
}

/* What to remember of an info; NULL (and a line in the log): nothing, so that pipelines made of it
 * get no variants. */
static struct pm_object *remember(struct pm_objects *objects, enum pm_object_kind kind,
                                  bool render_pass2, const void *info)
{
    struct pm_error error = {0};
    struct pm_object_draft draft;
    if (pm_draft_init(&draft, kind, &error)) {
        draft.render_pass2 = render_pass2;
        if (copy_info(&draft, info, &error) && link_parts(objects, &draft, &error)) {
            if (append_content(&draft))
                return pm_draft_intern(objects, &draft, &error);
            pm_fail(&error, PM_ERROR_LIMIT, "it is too large to be remembered");
        }
        pm_draft_finish(&draft);
    }
    pm_log_info(objects->device->instance->log, "a %s is not remembered: %s", kind_name(kind),
                error.message);
    return NULL;
}

/* ---- hooks ---- */

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateShaderModule(VkDevice handle,
                                                     const VkShaderModuleCreateInfo *info,
                                                     const VkAllocationCallbacks *allocator,
                                                     VkShaderModule *module)
{
    struct pm_device *device = pm_device_of(handle);
    const VkResult result = device->dispatch.CreateShaderModule(handle, info, allocator, module);
    if (result != VK_SUCCESS || !device->objects)
        return result;
    struct pm_error error;
    struct pm_object *object = pm_objects_module(device->objects, info, &error);
    if (!object)
        pm_log_info(device->instance->log, "a shader module is not remembered: %s", error.message);
    pm_objects_put(device->objects, PM_OBJECT_SHADER_MODULE, PM_BITS(*module), object);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateSampler(VkDevice handle, const VkSamplerCreateInfo *info,
                                                const VkAllocationCallbacks *allocator,
                                                VkSampler *sampler)
{
    struct pm_device *device = pm_device_of(handle);
    const VkResult result = device->dispatch.CreateSampler(handle, info, allocator, sampler);
    if (result == VK_SUCCESS && device->objects)
        pm_objects_put(device->objects, PM_OBJECT_SAMPLER, PM_BITS(*sampler),
                       remember(device->objects, PM_OBJECT_SAMPLER, false, info));
    return result;
}

static VkResult create_conversion(PFN_vkCreateSamplerYcbcrConversion create,
                                  struct pm_device *device,
                                  const VkSamplerYcbcrConversionCreateInfo *info,
                                  const VkAllocationCallbacks *allocator,
                                  VkSamplerYcbcrConversion *conversion)
{
    const VkResult result = create(device->handle, info, allocator, conversion);
    if (result == VK_SUCCESS && device->objects)
        pm_objects_put(device->objects, PM_OBJECT_CONVERSION, PM_BITS(*conversion),
                       remember(device->objects, PM_OBJECT_CONVERSION, false, info));
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateSamplerYcbcrConversion(
    VkDevice handle, const VkSamplerYcbcrConversionCreateInfo *info,
    const VkAllocationCallbacks *allocator, VkSamplerYcbcrConversion *conversion)
{
    struct pm_device *device = pm_device_of(handle);
    return create_conversion(device->dispatch.CreateSamplerYcbcrConversion, device, info, allocator,
                             conversion);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateSamplerYcbcrConversionKHR(
    VkDevice handle, const VkSamplerYcbcrConversionCreateInfo *info,
    const VkAllocationCallbacks *allocator, VkSamplerYcbcrConversion *conversion)
{
    struct pm_device *device = pm_device_of(handle);
    return create_conversion(device->dispatch.CreateSamplerYcbcrConversionKHR, device, info,
                             allocator, conversion);
}

/* Whether the game's set layout may name our samplers: it has immutable ones, each of which has a
 * copy of ours, and none converts Y'CbCr, since the game's image views name its own conversion. */
static bool may_substitute(const struct pm_object *layout)
{
    for (uint32_t i = 0; i < layout->part_count; i++) {
        struct pm_error error;
        if (layout->parts[i]->part_count > 0 || !pm_object_own(layout->parts[i], &error))
            return false;
    }
    return layout->part_count > 0;
}

/* The game's info with our samplers; NULL: out of memory. Owned by the arena. */
static const VkDescriptorSetLayoutCreateInfo *
substitute(const struct pm_object *layout, const VkDescriptorSetLayoutCreateInfo *info,
           struct pm_arena *arena)
{
    VkDescriptorSetLayoutCreateInfo *ours = pm_arena_dup(arena, info, sizeof *info);
    const size_t bytes = info->bindingCount * sizeof(*info->pBindings);
    VkDescriptorSetLayoutBinding *bindings = pm_arena_dup(arena, info->pBindings, bytes);
    if (!ours || !bindings)
        return NULL;
    uint32_t next = 0;
    for (uint32_t i = 0; i < info->bindingCount; i++) {
        /* The copy has samplers only where the specification reads them. */
        if (!layout->info.set_layout->pBindings[i].pImmutableSamplers)
            continue;
        VkSampler *samplers = pm_arena_zalloc(arena, bindings[i].descriptorCount, sizeof *samplers);
        if (!samplers)
            return NULL;
        for (uint32_t j = 0; j < bindings[i].descriptorCount; j++)
            samplers[j] = PM_TO_HANDLE(VkSampler, atomic_load(&layout->parts[next++]->own));
        bindings[i].pImmutableSamplers = samplers;
    }
    ours->pBindings = bindings;
    return ours;
}

VKAPI_ATTR VkResult VKAPI_CALL
pm_CreateDescriptorSetLayout(VkDevice handle, const VkDescriptorSetLayoutCreateInfo *info,
                             const VkAllocationCallbacks *allocator, VkDescriptorSetLayout *layout)
{
    struct pm_device *device = pm_device_of(handle);
    if (!device->objects)
        return device->dispatch.CreateDescriptorSetLayout(handle, info, allocator, layout);
    struct pm_object *object = remember(device->objects, PM_OBJECT_SET_LAYOUT, false, info);
    struct pm_arena *arena = NULL;
    const VkDescriptorSetLayoutCreateInfo *used = info;
    if (object && may_substitute(object)) {
        arena = pm_arena_create(0);
        const VkDescriptorSetLayoutCreateInfo *ours =
            arena ? substitute(object, info, arena) : NULL;
        used = ours ? ours : info;
    }
    const VkResult result =
        device->dispatch.CreateDescriptorSetLayout(handle, used, allocator, layout);
    pm_arena_destroy(arena);
    if (result == VK_SUCCESS)
        pm_objects_put(device->objects, PM_OBJECT_SET_LAYOUT, PM_BITS(*layout), object);
    else
        pm_object_release(object);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreatePipelineLayout(VkDevice handle,
                                                       const VkPipelineLayoutCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkPipelineLayout *layout)
{
    struct pm_device *device = pm_device_of(handle);
    const VkResult result = device->dispatch.CreatePipelineLayout(handle, info, allocator, layout);
    if (result == VK_SUCCESS && device->objects)
        pm_objects_put(device->objects, PM_OBJECT_PIPELINE_LAYOUT, PM_BITS(*layout),
                       remember(device->objects, PM_OBJECT_PIPELINE_LAYOUT, false, info));
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateRenderPass(VkDevice handle,
                                                   const VkRenderPassCreateInfo *info,
                                                   const VkAllocationCallbacks *allocator,
                                                   VkRenderPass *render_pass)
{
    struct pm_device *device = pm_device_of(handle);
    const VkResult result = device->dispatch.CreateRenderPass(handle, info, allocator, render_pass);
    if (result == VK_SUCCESS && device->objects)
        pm_objects_put(device->objects, PM_OBJECT_RENDER_PASS, PM_BITS(*render_pass),
                       remember(device->objects, PM_OBJECT_RENDER_PASS, false, info));
    return result;
}

static VkResult create_render_pass2(PFN_vkCreateRenderPass2 create, struct pm_device *device,
                                    const VkRenderPassCreateInfo2 *info,
                                    const VkAllocationCallbacks *allocator,
                                    VkRenderPass *render_pass)
{
    const VkResult result = create(device->handle, info, allocator, render_pass);
    if (result == VK_SUCCESS && device->objects)
        pm_objects_put(device->objects, PM_OBJECT_RENDER_PASS, PM_BITS(*render_pass),
                       remember(device->objects, PM_OBJECT_RENDER_PASS, true, info));
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateRenderPass2(VkDevice handle,
                                                    const VkRenderPassCreateInfo2 *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkRenderPass *render_pass)
{
    struct pm_device *device = pm_device_of(handle);
    return create_render_pass2(device->dispatch.CreateRenderPass2, device, info, allocator,
                               render_pass);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateRenderPass2KHR(VkDevice handle,
                                                       const VkRenderPassCreateInfo2 *info,
                                                       const VkAllocationCallbacks *allocator,
                                                       VkRenderPass *render_pass)
{
    struct pm_device *device = pm_device_of(handle);
    return create_render_pass2(device->dispatch.CreateRenderPass2KHR, device, info, allocator,
                               render_pass);
}

/* Forgotten before the driver's destroy, after which another thread may get the same handle again.
 */
#define DESTROY(name, type, kind)                                                                  \
    VKAPI_ATTR void VKAPI_CALL pm_##name(VkDevice handle, type object,                             \
                                         const VkAllocationCallbacks *allocator)                   \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        pm_objects_remove(device->objects, kind, PM_BITS(object));                                 \
        device->dispatch.name(handle, object, allocator);                                          \
    }

DESTROY(DestroyShaderModule, VkShaderModule, PM_OBJECT_SHADER_MODULE)
DESTROY(DestroySampler, VkSampler, PM_OBJECT_SAMPLER)
DESTROY(DestroySamplerYcbcrConversion, VkSamplerYcbcrConversion, PM_OBJECT_CONVERSION)
DESTROY(DestroySamplerYcbcrConversionKHR, VkSamplerYcbcrConversion, PM_OBJECT_CONVERSION)
DESTROY(DestroyDescriptorSetLayout, VkDescriptorSetLayout, PM_OBJECT_SET_LAYOUT)
DESTROY(DestroyPipelineLayout, VkPipelineLayout, PM_OBJECT_PIPELINE_LAYOUT)
DESTROY(DestroyRenderPass, VkRenderPass, PM_OBJECT_RENDER_PASS)
