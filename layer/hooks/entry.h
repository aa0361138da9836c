/*
 * The functions of the instance's level, and the two that look functions up.
 *
 * Thread safety: as the Vulkan specification says of each.
 */
#pragma once

#include <vulkan/vulkan.h>

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL pm_GetInstanceProcAddr(VkInstance, const char *);
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL pm_GetDeviceProcAddr(VkDevice, const char *);
VKAPI_ATTR VkResult VKAPI_CALL pm_CreateInstance(const VkInstanceCreateInfo *,
                                                 const VkAllocationCallbacks *, VkInstance *);
VKAPI_ATTR void VKAPI_CALL pm_DestroyInstance(VkInstance, const VkAllocationCallbacks *);
VKAPI_ATTR VkResult VKAPI_CALL pm_CreateDevice(VkPhysicalDevice, const VkDeviceCreateInfo *,
                                               const VkAllocationCallbacks *, VkDevice *);
