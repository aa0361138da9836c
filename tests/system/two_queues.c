/*
 * A Vulkan layer that stands between ours and a driver whose first queue family has one queue, and
 * says that it has two, which are that one: so that what a game with several queues meets can be
 * met on drivers that have one. For one instance and one device.
 */
#include <string.h>
#include <vulkan/vk_layer.h>

static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static VkInstance instance;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties next_families;
static PFN_vkGetPhysicalDeviceQueueFamilyProperties2 next_families2;
static PFN_vkGetDeviceQueue next_queue;

static void *link_of(const void *chain, VkStructureType type)
{
    for (const VkBaseInStructure *at = chain; at != NULL; at = at->pNext)
        if (at->sType == type &&
            ((const VkLayerInstanceCreateInfo *)(const void *)at)->function == VK_LAYER_LINK_INFO)
            return (void *)(uintptr_t)at;
    return NULL;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo *info,
                                                      const VkAllocationCallbacks *allocator,
                                                      VkInstance *out)
{
    VkLayerInstanceCreateInfo *link =
        link_of(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)next_instance(NULL, "vkCreateInstance");
    const VkResult result = create(info, allocator, out);
    instance = *out;
    /* Now: later the loader gives its own, which come here again. */
    next_families = (PFN_vkGetPhysicalDeviceQueueFamilyProperties)next_instance(
        instance, "vkGetPhysicalDeviceQueueFamilyProperties");
    next_families2 = (PFN_vkGetPhysicalDeviceQueueFamilyProperties2)next_instance(
        instance, "vkGetPhysicalDeviceQueueFamilyProperties2");
    return result;
}

static VKAPI_ATTR void VKAPI_CALL queue_families(VkPhysicalDevice physical, uint32_t *count,
                                                 VkQueueFamilyProperties *properties)
{
    next_families(physical, count, properties);
    if (properties != NULL && *count > 0)
        properties[0].queueCount = 2;
}

static VKAPI_ATTR void VKAPI_CALL queue_families2(VkPhysicalDevice physical, uint32_t *count,
                                                  VkQueueFamilyProperties2 *properties)
{
    next_families2(physical, count, properties);
    if (properties != NULL && *count > 0)
        properties[0].queueFamilyProperties.queueCount = 2;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical,
                                                    const VkDeviceCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkDevice *out)
{
    VkLayerDeviceCreateInfo *link =
        link_of(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    const PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)link->u.pLayerInfo->pfnNextGetInstanceProcAddr(instance,
                                                                           "vkCreateDevice");
    next_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkDeviceCreateInfo one = *info;
    VkDeviceQueueCreateInfo queue = *info->pQueueCreateInfos;
    queue.queueCount = 1;
    one.queueCreateInfoCount = 1;
    one.pQueueCreateInfos = &queue;
    const VkResult result = create(physical, &one, allocator, out);
    if (result == VK_SUCCESS)
        next_queue = (PFN_vkGetDeviceQueue)next_device(*out, "vkGetDeviceQueue");
    return result;
}

static VKAPI_ATTR void VKAPI_CALL get_queue(VkDevice device, uint32_t family, uint32_t index,
                                            VkQueue *queue)
{
    (void)index;
    next_queue(device, family, 0, queue);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char *name)
{
    if (strcmp(name, "vkGetDeviceQueue") == 0)
        return (PFN_vkVoidFunction)get_queue;
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)device_address;
    return next_device(device, name);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL instance_address(VkInstance of, const char *name)
{
    static const struct {
        const char *name;
        PFN_vkVoidFunction function;
    } own[] = {
        {"vkGetInstanceProcAddr", (PFN_vkVoidFunction)instance_address},
        {"vkCreateInstance", (PFN_vkVoidFunction)create_instance},
        {"vkCreateDevice", (PFN_vkVoidFunction)create_device},
        {"vkGetDeviceProcAddr", (PFN_vkVoidFunction)device_address},
        {"vkGetDeviceQueue", (PFN_vkVoidFunction)get_queue},
        {"vkGetPhysicalDeviceQueueFamilyProperties", (PFN_vkVoidFunction)queue_families},
        {"vkGetPhysicalDeviceQueueFamilyProperties2", (PFN_vkVoidFunction)queue_families2},
        {"vkGetPhysicalDeviceQueueFamilyProperties2KHR", (PFN_vkVoidFunction)queue_families2},
    };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i].name) == 0)
            return own[i].function;
    return next_instance != NULL && of != VK_NULL_HANDLE ? next_instance(of, name) : NULL;
}

__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface *wanted)
{
    wanted->loaderLayerInterfaceVersion = 2;
    wanted->pfnGetInstanceProcAddr = instance_address;
    wanted->pfnGetDeviceProcAddr = device_address;
    wanted->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
