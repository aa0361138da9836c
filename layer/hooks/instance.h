/*
 * Instances.
 *
 * Thread safety: as the Vulkan specification says of each of its functions; the others, any thread.
 */
#pragma once

#include "layer/core/layer.h"

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateInstance(const VkInstanceCreateInfo *,
                                                 const VkAllocationCallbacks *, VkInstance *);
VKAPI_ATTR void VKAPI_CALL pm_DestroyInstance(VkInstance, const VkAllocationCallbacks *);

struct pm_instance *pm_instance_reference(struct pm_instance *instance);
/* The last release frees it. NULL is allowed. */
void pm_instance_release(struct pm_instance *instance);
