#include "tests/null_driver/internal.h"

#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

/* ---- what exists ---- */

static const struct pm_null_entry *find_entry(const char *name)
{
    size_t low = 0, high = PM_NULL_COMMAND_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, pm_null_entries[middle].name);
        if (order == 0)
            return &pm_null_entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static uint32_t extension_properties(const char *const *names, VkExtensionProperties **out)
{
    uint32_t total = 0, count = 0;
    while (names[total])
        total++;
    *out = calloc(total, sizeof(**out));
    for (uint32_t i = 0; *out && i < total; i++) {
        if (pm_null_listed(pm_null_config.without_extensions, names[i]))
            continue;
        snprintf((*out)[count].extensionName, sizeof((*out)[count].extensionName), "%s", names[i]);
        (*out)[count++].specVersion = 1;
    }
    return count;
}

static VkResult enumerate_extensions(const char *const *names, uint32_t *count,
                                     VkExtensionProperties *out)
{
    VkExtensionProperties *all;
    uint32_t available = extension_properties(names, &all);
    VkResult result = pm_null_enumerate(all, available, sizeof(*all), count, out);
    free(all);
    return result;
}

static bool has_extension(const char *const *names, const char *name)
{
    for (; *names; names++) {
        if (strcmp(*names, name) == 0)
            return !pm_null_listed(pm_null_config.without_extensions, name);
    }
    return false;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkEnumerateInstanceExtensionProperties(
    const char *pLayerName, uint32_t *pPropertyCount, VkExtensionProperties *pProperties)
{
    (void)pLayerName;
    pm_null_config_load();
    return enumerate_extensions(pm_null_instance_extensions, pPropertyCount, pProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkEnumerateDeviceExtensionProperties(
    VkPhysicalDevice physicalDevice, const char *pLayerName, uint32_t *pPropertyCount,
    VkExtensionProperties *pProperties)
{
    (void)physicalDevice;
    (void)pLayerName;
    return enumerate_extensions(pm_null_device_extensions, pPropertyCount, pProperties);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkEnumerateInstanceVersion(uint32_t *pApiVersion)
{
    pm_null_config_load();
    *pApiVersion = pm_null_config.api_version;
    return VK_SUCCESS;
}

/* ---- instances ---- */

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateInstance(const VkInstanceCreateInfo *pCreateInfo,
                                                        const VkAllocationCallbacks *pAllocator,
                                                        VkInstance *pInstance)
{
    (void)pAllocator;
    pm_null_config_load();
    for (uint32_t i = 0; i < pCreateInfo->enabledExtensionCount; i++) {
        if (!has_extension(pm_null_instance_extensions, pCreateInfo->ppEnabledExtensionNames[i]))
            return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    VkInstance instance = calloc(1, sizeof(*instance));
    if (!instance)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    const VkApplicationInfo *application = pCreateInfo->pApplicationInfo;
    instance->api_version =
        application && application->apiVersion ? application->apiVersion : VK_API_VERSION_1_0;
    set_loader_magic_value(instance);
    set_loader_magic_value(&instance->physical);
    instance->physical.instance = instance;
    pm_null_object_count(VK_OBJECT_TYPE_INSTANCE, 1);
    *pInstance = instance;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkDestroyInstance(VkInstance instance,
                                                     const VkAllocationCallbacks *pAllocator)
{
    (void)pAllocator;
    if (!instance)
        return;
    pm_null_object_count(VK_OBJECT_TYPE_INSTANCE, -1);
    free(instance);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkEnumeratePhysicalDevices(
    VkInstance instance, uint32_t *pPhysicalDeviceCount, VkPhysicalDevice *pPhysicalDevices)
{
    VkPhysicalDevice physical = &instance->physical;
    return pm_null_enumerate(&physical, 1, sizeof(physical), pPhysicalDeviceCount,
                             pPhysicalDevices);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkEnumeratePhysicalDeviceGroups(
    VkInstance instance, uint32_t *pPhysicalDeviceGroupCount,
    VkPhysicalDeviceGroupProperties *pPhysicalDeviceGroupProperties)
{
    if (!pPhysicalDeviceGroupProperties) {
        *pPhysicalDeviceGroupCount = 1;
        return VK_SUCCESS;
    }
    if (*pPhysicalDeviceGroupCount == 0)
        return VK_INCOMPLETE;
    *pPhysicalDeviceGroupCount = 1;
    pm_null_clear(pPhysicalDeviceGroupProperties, sizeof(*pPhysicalDeviceGroupProperties));
    pPhysicalDeviceGroupProperties->physicalDeviceCount = 1;
    pPhysicalDeviceGroupProperties->physicalDevices[0] = &instance->physical;
    return VK_SUCCESS;
}

/* ---- devices ---- */

static VkResult init_queues(VkDevice device, const VkDeviceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *queues = &info->pQueueCreateInfos[i];
        if (queues->queueFamilyIndex >= PM_NULL_FAMILIES ||
            queues->queueCount > pm_null_families[queues->queueFamilyIndex].queueCount)
            return VK_ERROR_INITIALIZATION_FAILED;
        device->plain[queues->queueFamilyIndex] |= queues->flags == 0;
    }
    for (uint32_t i = 0; i < PM_NULL_FAMILIES; i++) {
        for (uint32_t j = 0; j < PM_NULL_QUEUES; j++) {
            set_loader_magic_value(&device->queues[i][j]);
            device->queues[i][j].device = device;
        }
    }
    return VK_SUCCESS;
}

static VkResult keep_extensions(VkDevice device, const VkDeviceCreateInfo *info)
{
    size_t size = 2;
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (!has_extension(pm_null_device_extensions, info->ppEnabledExtensionNames[i]))
            return VK_ERROR_EXTENSION_NOT_PRESENT;
        size += strlen(info->ppEnabledExtensionNames[i]) + 1;
    }
    device->extensions = malloc(size);
    if (!device->extensions)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    char *at = stpcpy(device->extensions, " ");
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
        at = stpcpy(stpcpy(at, info->ppEnabledExtensionNames[i]), " ");
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateDevice(VkPhysicalDevice physicalDevice,
                                                      const VkDeviceCreateInfo *pCreateInfo,
                                                      const VkAllocationCallbacks *pAllocator,
                                                      VkDevice *pDevice)
{
    (void)pAllocator;
    VkResult result = pm_null_check_features(pCreateInfo);
    if (result != VK_SUCCESS)
        return result;
    VkDevice device = calloc(1, sizeof(*device));
    if (!device)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    set_loader_magic_value(device);
    device->physical = physicalDevice;
    uint32_t asked = physicalDevice->instance->api_version;
    device->api_version = asked < pm_null_config.api_version ? asked : pm_null_config.api_version;
    if ((result = init_queues(device, pCreateInfo)) != VK_SUCCESS ||
        (result = keep_extensions(device, pCreateInfo)) != VK_SUCCESS) {
        free(device->extensions);
        free(device);
        return result;
    }
    pthread_mutex_init(&device->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&device->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pm_null_object_count(VK_OBJECT_TYPE_DEVICE, 1);
    *pDevice = device;
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkDestroyDevice(VkDevice device,
                                                   const VkAllocationCallbacks *pAllocator)
{
    (void)pAllocator;
    if (!device)
        return;
    pm_null_queues_finish(device);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->mutex);
    pm_null_object_count(VK_OBJECT_TYPE_DEVICE, -1);
    free(device->extensions);
    free(device);
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetDeviceQueue(VkDevice device, uint32_t queueFamilyIndex,
                                                    uint32_t queueIndex, VkQueue *pQueue)
{
    if (!device->plain[queueFamilyIndex])
        pm_null_error("vkGetDeviceQueue is asked for a queue with flags");
    *pQueue = &device->queues[queueFamilyIndex][queueIndex];
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkGetDeviceQueue2(VkDevice device,
                                                     const VkDeviceQueueInfo2 *pQueueInfo,
                                                     VkQueue *pQueue)
{
    /* Those with flags from behind: they are others than those without. */
    const uint32_t index = pQueueInfo->flags == 0 ? pQueueInfo->queueIndex
                                                  : PM_NULL_QUEUES - 1 - pQueueInfo->queueIndex;
    *pQueue = &device->queues[pQueueInfo->queueFamilyIndex][index];
}

/* ---- finding commands ---- */

/* Whether one of the entry's extensions is in enabled (" A B "). */
static bool brought_by(const struct pm_null_entry *entry, const char *enabled)
{
    for (const char *at = entry->owners; at[0] == ' ' && at[1] != '\0'; at = strchr(at + 1, ' ')) {
        char name[256];
        size_t length = (size_t)(strchr(at + 1, ' ') - at) + 1;
        if (length >= sizeof(name))
            continue;
        memcpy(name, at, length);
        name[length] = '\0';
        if (strstr(enabled, name))
            return true;
    }
    return false;
}

/* A command that is newer than the headers; recorded as the older one that it stands for. */
static VKAPI_ATTR void VKAPI_CALL end_rendering2(VkCommandBuffer buffer, const void *info)
{
    (void)info;
    ((PFN_vkCmdEndRendering)find_entry("vkCmdEndRendering")->function)(buffer);
}

static VKAPI_ATTR void VKAPI_CALL begin_feedback2(VkCommandBuffer buffer, uint32_t first,
                                                  uint32_t count, const void *infos)
{
    (void)infos;
    ((PFN_vkCmdBeginTransformFeedbackEXT)find_entry("vkCmdBeginTransformFeedbackEXT")->function)(
        buffer, first, count, NULL, NULL);
}

static VKAPI_ATTR void VKAPI_CALL end_feedback2(VkCommandBuffer buffer, uint32_t first,
                                                uint32_t count, const void *infos)
{
    (void)infos;
    ((PFN_vkCmdEndTransformFeedbackEXT)find_entry("vkCmdEndTransformFeedbackEXT")->function)(
        buffer, first, count, NULL, NULL);
}

static const char *const indirect2[] = {
    "vkCmdDrawIndirect2KHR",          "vkCmdDrawIndexedIndirect2KHR",
    "vkCmdDrawIndirectCount2KHR",     "vkCmdDrawIndexedIndirectCount2KHR",
    "vkCmdDrawMeshTasksIndirect2EXT", "vkCmdDrawMeshTasksIndirectCount2EXT",
};

static VKAPI_ATTR void VKAPI_CALL draw_indirect2(VkCommandBuffer buffer, const void *info)
{
    (void)info;
    ((PFN_vkCmdDrawIndirect)find_entry("vkCmdDrawIndirect")->function)(buffer, VK_NULL_HANDLE, 0, 0,
                                                                       0);
}

static VKAPI_ATTR void VKAPI_CALL dispatch_indirect2(VkCommandBuffer buffer, const void *info)
{
    (void)info;
    ((PFN_vkCmdDispatchIndirect)find_entry("vkCmdDispatchIndirect")->function)(buffer,
                                                                               VK_NULL_HANDLE, 0);
}

static VKAPI_ATTR void VKAPI_CALL draw_byte_count2(VkCommandBuffer buffer, uint32_t instances,
                                                   uint32_t first, const void *info,
                                                   uint32_t offset, uint32_t stride)
{
    (void)info;
    ((PFN_vkCmdDrawIndirectByteCountEXT)find_entry("vkCmdDrawIndirectByteCountEXT")->function)(
        buffer, instances, first, VK_NULL_HANDLE, 0, offset, stride);
}

static VKAPI_ATTR VkResult VKAPI_CALL wait_for_present2(VkDevice device, VkSwapchainKHR swapchain,
                                                        const void *info)
{
    (void)info;
    return ((PFN_vkWaitForPresentKHR)find_entry("vkWaitForPresentKHR")->function)(device, swapchain,
                                                                                  0, 0);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL pm_null_vkGetDeviceProcAddr(VkDevice device,
                                                                     const char *pName)
{
    if (strcmp(pName, "vkCmdEndRendering2KHR") == 0)
        return (PFN_vkVoidFunction)end_rendering2;
    if (strcmp(pName, "vkCmdBeginTransformFeedback2EXT") == 0)
        return (PFN_vkVoidFunction)begin_feedback2;
    if (strcmp(pName, "vkCmdEndTransformFeedback2EXT") == 0)
        return (PFN_vkVoidFunction)end_feedback2;
    if (strcmp(pName, "vkCmdDrawIndirectByteCount2EXT") == 0)
        return (PFN_vkVoidFunction)draw_byte_count2;
    for (size_t i = 0; i < sizeof indirect2 / sizeof indirect2[0]; i++)
        if (strcmp(pName, indirect2[i]) == 0)
            return (PFN_vkVoidFunction)draw_indirect2;
    if (strcmp(pName, "vkCmdDispatchIndirect2KHR") == 0)
        return (PFN_vkVoidFunction)dispatch_indirect2;
    if (strcmp(pName, "vkWaitForPresent2KHR") == 0)
        return (PFN_vkVoidFunction)wait_for_present2;
    const struct pm_null_entry *entry = find_entry(pName);
    if (!entry || entry->level != PM_NULL_LEVEL_DEVICE)
        return NULL;
    bool core = entry->version && entry->version <= device->api_version;
    /* The loader gives commands of an instance's extensions (debug utils) to devices that did not
     * enable it. */
    bool instance = strstr(entry->owners, " VK_EXT_debug_utils ") != NULL;
    return core || instance || brought_by(entry, device->extensions) ? entry->function : NULL;
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
                                                                          const char *pName)
{
    const struct pm_null_entry *entry = find_entry(pName);
    if (strcmp(pName, "vk_icdNegotiateLoaderICDInterfaceVersion") == 0)
        return (PFN_vkVoidFunction)vk_icdNegotiateLoaderICDInterfaceVersion;
    if (strcmp(pName, "vk_icdGetPhysicalDeviceProcAddr") == 0)
        return (PFN_vkVoidFunction)vk_icdGetPhysicalDeviceProcAddr;
    if (!entry || (!instance && entry->level != PM_NULL_LEVEL_GLOBAL))
        return NULL;
    return entry->function;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL pm_null_vkGetInstanceProcAddr(VkInstance instance,
                                                                       const char *pName)
{
    return vk_icdGetInstanceProcAddr(instance, pName);
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetPhysicalDeviceProcAddr(VkInstance instance,
                                                                                const char *pName)
{
    (void)instance;
    const struct pm_null_entry *entry = find_entry(pName);
    return entry && entry->level == PM_NULL_LEVEL_PHYSICAL ? entry->function : NULL;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *pVersion)
{
    if (*pVersion > 5)
        *pVersion = 5;
    return VK_SUCCESS;
}
