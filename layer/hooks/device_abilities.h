/*
 * What is asked of a device beside what the game asks for, and what it can do (HAZARDS 10).
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

/* A copy of info that also asks for what sampling needs, as far as the physical device has it. It
 * is the arena's, and shares with the game's what is not changed. NULL: nothing can be asked for,
 * and *error says why; the game's own info is to be used. */
VkDeviceCreateInfo *pm_device_extend(struct pm_arena *arena, const struct pm_instance *instance,
                                     VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                                     struct pm_error *error);

/* Fills device->abilities of a device that was created with info, where the game had asked for
 * `asked`; what it needs of *device is instance, physical and properties. */
void pm_device_find_abilities(struct pm_device *device, const VkDeviceCreateInfo *info,
                              const VkDeviceCreateInfo *asked);

/* The version that both the device and the game's instance (as the layer made it) have. */
uint32_t pm_device_api_version(const struct pm_instance *instance,
                               const VkPhysicalDeviceProperties *properties);
