/* The hooks of what pipelines are made of (object.h). */
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/shader/object_remember.h"
#include "layer/shader/pipeline.h"

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
        pm_left_out(device->instance, "a shader module is not remembered", &error);
    pm_objects_put(device->objects, PM_OBJECT_SHADER_MODULE, PM_BITS(*module), object);
    return result;
}

/* People find shaders by their modules' names (profile/shader_store.h). */
VKAPI_ATTR VkResult VKAPI_CALL
pm_SetDebugUtilsObjectNameEXT(VkDevice handle, const VkDebugUtilsObjectNameInfoEXT *info)
{
    struct pm_device *device = pm_device_of(handle);
    if (info->objectType == VK_OBJECT_TYPE_SHADER_MODULE)
        pm_objects_name(device->objects, PM_OBJECT_SHADER_MODULE, info->objectHandle,
                        info->pObjectName);
    return device->dispatch.SetDebugUtilsObjectNameEXT
               ? device->dispatch.SetDebugUtilsObjectNameEXT(handle, info)
               : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateSampler(VkDevice handle, const VkSamplerCreateInfo *info,
                                                const VkAllocationCallbacks *allocator,
                                                VkSampler *sampler)
{
    struct pm_device *device = pm_device_of(handle);
    const VkResult result = device->dispatch.CreateSampler(handle, info, allocator, sampler);
    if (result == VK_SUCCESS && device->objects)
        pm_objects_put(device->objects, PM_OBJECT_SAMPLER, PM_BITS(*sampler),
                       pm_objects_remember(device->objects, PM_OBJECT_SAMPLER, false, info));
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
                       pm_objects_remember(device->objects, PM_OBJECT_CONVERSION, false, info));
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

VKAPI_ATTR VkResult VKAPI_CALL
pm_CreateDescriptorSetLayout(VkDevice handle, const VkDescriptorSetLayoutCreateInfo *info,
                             const VkAllocationCallbacks *allocator, VkDescriptorSetLayout *layout)
{
    struct pm_device *device = pm_device_of(handle);
    if (!device->objects)
        return device->dispatch.CreateDescriptorSetLayout(handle, info, allocator, layout);
    struct pm_object *object =
        pm_objects_remember(device->objects, PM_OBJECT_SET_LAYOUT, false, info);
    struct pm_arena *arena = NULL;
    const VkDescriptorSetLayoutCreateInfo *used = pm_object_substitute(object, info, &arena);
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
    if (result != VK_SUCCESS || !device->objects)
        return result;
    pm_push_layouts_put(&device->pipelines->push_layouts, *layout, info);
    pm_objects_put(device->objects, PM_OBJECT_PIPELINE_LAYOUT, PM_BITS(*layout),
                   pm_objects_remember(device->objects, PM_OBJECT_PIPELINE_LAYOUT, false, info));
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
                       pm_objects_remember(device->objects, PM_OBJECT_RENDER_PASS, false, info));
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
                       pm_objects_remember(device->objects, PM_OBJECT_RENDER_PASS, true, info));
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
DESTROY(DestroyRenderPass, VkRenderPass, PM_OBJECT_RENDER_PASS)

VKAPI_ATTR void VKAPI_CALL pm_DestroyPipelineLayout(VkDevice handle, VkPipelineLayout layout,
                                                    const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    if (device->pipelines)
        pm_push_layouts_remove(&device->pipelines->push_layouts, layout);
    pm_objects_remove(device->objects, PM_OBJECT_PIPELINE_LAYOUT, PM_BITS(layout));
    device->dispatch.DestroyPipelineLayout(handle, layout, allocator);
}
