/*
 * The layer names itself to who asks which tools are at work (vkGetPhysicalDeviceToolProperties).
 *
 * Thread safety: any thread.
 */
#pragma once

#include <vulkan/vulkan.h>

VKAPI_ATTR VkResult VKAPI_CALL pm_GetPhysicalDeviceToolProperties(VkPhysicalDevice, uint32_t *,
                                                                  VkPhysicalDeviceToolProperties *);
VKAPI_ATTR VkResult VKAPI_CALL pm_GetPhysicalDeviceToolPropertiesEXT(
    VkPhysicalDevice, uint32_t *, VkPhysicalDeviceToolProperties *);
