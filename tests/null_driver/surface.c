#include "tests/null_driver/internal.h"

enum { MAX_IMAGES = 8 };

struct swapchain {
    struct pm_null_object object;
    uint32_t count, next;
    VkImage images[MAX_IMAGES];
};

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceSurfaceSupportKHR(
    VkPhysicalDevice physicalDevice, uint32_t queueFamilyIndex, VkSurfaceKHR surface,
    VkBool32 *pSupported)
{
    (void)physicalDevice;
    (void)surface;
    *pSupported = queueFamilyIndex == 0;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(
    VkPhysicalDevice physicalDevice, VkSurfaceKHR surface,
    VkSurfaceCapabilitiesKHR *pSurfaceCapabilities)
{
    (void)physicalDevice;
    (void)surface;
    *pSurfaceCapabilities = (VkSurfaceCapabilitiesKHR){
        .minImageCount = 2,
        .maxImageCount = MAX_IMAGES,
        .currentExtent = {UINT32_MAX, UINT32_MAX},
        .minImageExtent = {1, 1},
        .maxImageExtent = {16384, 16384},
        .maxImageArrayLayers = 1,
        .supportedTransforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .currentTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .supportedCompositeAlpha = VK_COMPOSITE_ALPHA_OPAQUE_BIT_KHR,
        .supportedUsageFlags = 0xff,
    };
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceSurfaceCapabilities2KHR(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceSurfaceInfo2KHR *pSurfaceInfo,
    VkSurfaceCapabilities2KHR *pSurfaceCapabilities)
{
    pm_null_clear(pSurfaceCapabilities, sizeof(*pSurfaceCapabilities));
    return pm_null_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(
        physicalDevice, pSurfaceInfo->surface, &pSurfaceCapabilities->surfaceCapabilities);
}

static const VkSurfaceFormatKHR formats[] = {
    {VK_FORMAT_B8G8R8A8_UNORM, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
    {VK_FORMAT_B8G8R8A8_SRGB, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
};

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceSurfaceFormatsKHR(
    VkPhysicalDevice physicalDevice, VkSurfaceKHR surface, uint32_t *pSurfaceFormatCount,
    VkSurfaceFormatKHR *pSurfaceFormats)
{
    (void)physicalDevice;
    (void)surface;
    return pm_null_enumerate(formats, 2, sizeof(formats[0]), pSurfaceFormatCount, pSurfaceFormats);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceSurfaceFormats2KHR(
    VkPhysicalDevice physicalDevice, const VkPhysicalDeviceSurfaceInfo2KHR *pSurfaceInfo,
    uint32_t *pSurfaceFormatCount, VkSurfaceFormat2KHR *pSurfaceFormats)
{
    (void)physicalDevice;
    (void)pSurfaceInfo;
    VkResult result = VK_SUCCESS;
    if (pSurfaceFormats && *pSurfaceFormatCount < 2)
        result = VK_INCOMPLETE;
    else
        *pSurfaceFormatCount = 2;
    for (uint32_t i = 0; pSurfaceFormats && i < *pSurfaceFormatCount; i++) {
        pm_null_clear(&pSurfaceFormats[i], sizeof(pSurfaceFormats[i]));
        pSurfaceFormats[i].surfaceFormat = formats[i];
    }
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetPhysicalDeviceSurfacePresentModesKHR(
    VkPhysicalDevice physicalDevice, VkSurfaceKHR surface, uint32_t *pPresentModeCount,
    VkPresentModeKHR *pPresentModes)
{
    (void)physicalDevice;
    (void)surface;
    const VkPresentModeKHR modes[] = {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_IMMEDIATE_KHR};
    return pm_null_enumerate(modes, 2, sizeof(modes[0]), pPresentModeCount, pPresentModes);
}

/* ---- swapchains ---- */

VKAPI_ATTR VkResult VKAPI_CALL
pm_null_vkCreateSwapchainKHR(VkDevice device, const VkSwapchainCreateInfoKHR *pCreateInfo,
                             const VkAllocationCallbacks *pAllocator, VkSwapchainKHR *pSwapchain)
{
    (void)device;
    (void)pAllocator;
    if (pCreateInfo->minImageCount > MAX_IMAGES)
        return VK_ERROR_INITIALIZATION_FAILED;
    struct swapchain *swapchain =
        pm_null_object_create(VK_OBJECT_TYPE_SWAPCHAIN_KHR, sizeof(*swapchain));
    if (!swapchain)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    swapchain->count = pCreateInfo->minImageCount;
    for (uint32_t i = 0; i < swapchain->count; i++)
        swapchain->images[i] =
            PM_NULL_HANDLE(VkImage, pm_null_object_create(VK_OBJECT_TYPE_IMAGE, 64));
    *pSwapchain = PM_NULL_HANDLE(VkSwapchainKHR, swapchain);
    return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL pm_null_vkDestroySwapchainKHR(VkDevice device, VkSwapchainKHR swapchain,
                                                         const VkAllocationCallbacks *pAllocator)
{
    (void)device;
    (void)pAllocator;
    struct swapchain *object = PM_NULL_OBJECT(swapchain);
    for (uint32_t i = 0; object && i < object->count; i++)
        pm_null_object_destroy(PM_NULL_OBJECT(object->images[i]), VK_OBJECT_TYPE_IMAGE);
    pm_null_object_destroy(object, VK_OBJECT_TYPE_SWAPCHAIN_KHR);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetSwapchainImagesKHR(VkDevice device,
                                                               VkSwapchainKHR swapchain,
                                                               uint32_t *pSwapchainImageCount,
                                                               VkImage *pSwapchainImages)
{
    (void)device;
    struct swapchain *object = PM_NULL_OBJECT(swapchain);
    return pm_null_enumerate(object->images, object->count, sizeof(VkImage), pSwapchainImageCount,
                             pSwapchainImages);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkAcquireNextImageKHR(VkDevice device,
                                                             VkSwapchainKHR swapchain,
                                                             uint64_t timeout,
                                                             VkSemaphore semaphore, VkFence fence,
                                                             uint32_t *pImageIndex)
{
    (void)timeout;
    struct swapchain *object = PM_NULL_OBJECT(swapchain);
    pthread_mutex_lock(&device->mutex);
    *pImageIndex = object->next;
    object->next = (object->next + 1) % object->count;
    if (semaphore)
        pm_null_signal(device, semaphore, 1);
    if (fence)
        pm_null_signal_fence(device, fence);
    VkResult result = device->lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
    pthread_mutex_unlock(&device->mutex);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkAcquireNextImage2KHR(
    VkDevice device, const VkAcquireNextImageInfoKHR *pAcquireInfo, uint32_t *pImageIndex)
{
    return pm_null_vkAcquireNextImageKHR(device, pAcquireInfo->swapchain, pAcquireInfo->timeout,
                                         pAcquireInfo->semaphore, pAcquireInfo->fence, pImageIndex);
}
