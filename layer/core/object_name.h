/*
 * Debug-utils names of the layer's own objects, for debuggers and the validation layer's messages.
 *
 * Thread safety: any thread that holds the object as Vulkan asks for vkSetDebugUtilsObjectNameEXT.
 */
#pragma once

#include "layer/core/layer.h"

/* Gives a thing of ours its name, where the game enabled the extension. */
void pm_name_object(struct pm_device *device, VkObjectType type, uint64_t handle,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));
