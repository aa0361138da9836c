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

/* The callbacks of the game's, for the instance or a device of it, that the driver gets: NULL, so
 * none, unless all is passed through. A driver asks them for its own needs, too, on whatever thread
 * calls it, ours among them; but they need not work on another thread than the game's own (Memory
 * Allocation, Host Memory, in the specification). What the game gives for single objects is passed
 * on.
 */
const VkAllocationCallbacks *pm_instance_callbacks(const struct pm_instance *instance,
                                                   const VkAllocationCallbacks *game);
