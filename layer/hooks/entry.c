/*
 * The one exported symbol, and which of the layer's functions answers to which name.
 *
 * A name is answered with a hook only where the next layer or the driver has a function of that
 * name, so that what the game sees to be there is there; the one exception is our own function for
 * games (piecemeal.h). A device that samples nothing gets the
 * next layer's own functions.
 */
#include "layer/core/layer.h"
#include "layer/hooks/device.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/instance.h"
#include "layer/hooks/registry.h"
#include "layer/hooks/scene_hooks.h"
#include "layer/hooks/tool_properties.h"
#include "layer/public/piecemeal.h"
#include <string.h>
#include <vulkan/vk_layer.h>

#define EXPORTED __attribute__((visibility("default")))

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL pm_GetInstanceProcAddr(VkInstance, const char *);
static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL pm_GetDeviceProcAddr(VkDevice, const char *);

#define ENTRY(name) {"vk" #name, (PFN_vkVoidFunction)pm_##name},

static const struct pm_hook object_hooks[] = {
    PM_FRAME_HOOKS(ENTRY) PM_OBJECT_HOOKS(ENTRY) ENTRY(CmdEndRendering2KHR)
        ENTRY(CmdEndRendering2EXT) ENTRY(CmdBeginTransformFeedback2EXT)
            ENTRY(CmdEndTransformFeedback2EXT) ENTRY(WaitForPresent2KHR)
#define NEWER_ENTRY(name, index, point, parameters, arguments) ENTRY(name)
                PM_NEWER_DRAWS(NEWER_ENTRY)};

static const struct pm_hook label_hooks[] = {PM_LABEL_HOOKS(ENTRY)};

/* Functions of the instance's level. */
static const struct pm_hook instance_hooks[] = {ENTRY(GetInstanceProcAddr) ENTRY(
    CreateInstance) ENTRY(DestroyInstance) ENTRY(CreateDevice) ENTRY(GetDeviceProcAddr)};

/* Functions of the instance's level that the next layer or the driver may lack. */
static const struct pm_hook physical_hooks[] = {ENTRY(GetPhysicalDeviceToolProperties)
                                                    ENTRY(GetPhysicalDeviceToolPropertiesEXT)};

static PFN_vkVoidFunction find(const struct pm_hook *hooks, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(hooks[i].name, name) == 0)
            return hooks[i].function;
    }
    return NULL;
}

static PFN_vkVoidFunction device_hook(const struct pm_instance *instance, const char *name)
{
    PFN_vkVoidFunction hook =
        find(object_hooks, sizeof object_hooks / sizeof object_hooks[0], name);
    if (hook == NULL && instance->config.game_scene_labels != NULL)
        hook = find(label_hooks, sizeof label_hooks / sizeof label_hooks[0], name);
    return hook != NULL ? hook : find(pm_draw_hooks, pm_draw_hook_count, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL pm_GetDeviceProcAddr(VkDevice handle,
                                                                     const char *name)
{
    struct pm_device *device = pm_device_of(handle);
    if (device == NULL || name == NULL)
        return NULL;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)pm_GetDeviceProcAddr;
    if (strcmp(name, "vkDestroyDevice") == 0)
        return (PFN_vkVoidFunction)pm_DestroyDevice;
    if (device->sampling != NULL && strcmp(name, PIECEMEAL_SET_SCENE_NAME) == 0)
        return (PFN_vkVoidFunction)pm_SetScenePIECEMEAL;
    PFN_vkVoidFunction next = device->dispatch.GetDeviceProcAddr(handle, name);
    if (next == NULL || device->sampling == NULL)
        return next;
    /* Of an extension that the game has not enabled. */
    if (device->abilities.conditional_rendering &&
        (strcmp(name, "vkCmdBeginConditionalRenderingEXT") == 0 ||
         strcmp(name, "vkCmdBeginConditionalRendering2EXT") == 0 ||
         strcmp(name, "vkCmdEndConditionalRenderingEXT") == 0))
        return NULL;
    PFN_vkVoidFunction hook = device_hook(device->instance, name);
    return hook != NULL ? hook : next;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL pm_GetInstanceProcAddr(VkInstance handle,
                                                                       const char *name)
{
    if (name == NULL)
        return NULL;
    /* These whatever the handle: the loader asks for vkCreateInstance with an instance that is only
     * coming into being, and some layers ask for vkCreateDevice without any. */
    PFN_vkVoidFunction hook =
        find(instance_hooks, sizeof instance_hooks / sizeof instance_hooks[0], name);
    if (hook != NULL)
        return hook;
    struct pm_instance *instance = handle != VK_NULL_HANDLE ? pm_instance_of(handle) : NULL;
    if (instance == NULL)
        return NULL;
    PFN_vkVoidFunction next = instance->dispatch.GetInstanceProcAddr(handle, name);
    if (next == NULL)
        return NULL;
    hook = find(physical_hooks, sizeof physical_hooks / sizeof physical_hooks[0], name);
    if (hook == NULL)
        hook = device_hook(instance, name);
    return hook != NULL ? hook : next;
}

/* The loader's documentation, "Layer Interface", version 2. */
EXPORTED VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *interface)
{
    if (interface == NULL || interface->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
        interface->loaderLayerInterfaceVersion < 2)
        return VK_ERROR_INITIALIZATION_FAILED;
    interface->loaderLayerInterfaceVersion = 2;
    interface->pfnGetInstanceProcAddr = pm_GetInstanceProcAddr;
    interface->pfnGetDeviceProcAddr = pm_GetDeviceProcAddr;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
