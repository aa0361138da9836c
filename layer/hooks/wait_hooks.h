/*
 * What a call of the game's that may wait tells of the frame and of the device; the hooks of most
 * such calls are in wait_hooks.c.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/device_lost.h"
#include "layer/core/layer.h"

/* Around the call. begins returns what belongs to its end. */
int64_t pm_wait_begins(const struct pm_device *device);
void pm_wait_ends(struct pm_device *device, int64_t begin, VkResult result);

/* The result of a call that does not wait, but may say that the device was lost. */
static inline VkResult pm_checked(struct pm_device *device, VkResult result)
{
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    return result;
}
