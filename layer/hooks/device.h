/*
 * Devices: what the layer does for one begins and ends with it.
 *
 * Thread safety: as the Vulkan specification says of vkCreateDevice; abandoning, any thread.
 */
#pragma once

#include "layer/core/layer.h"

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateDevice(VkPhysicalDevice, const VkDeviceCreateInfo *,
                                               const VkAllocationCallbacks *, VkDevice *);

/* Ends what the layer does for a device that the game never destroyed, before its instance goes. */
void pm_device_abandon(struct pm_device *device);
