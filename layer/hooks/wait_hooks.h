/*
 * What a call of the game's that may wait tells of the frame and of the device; the hooks of most
 * such calls are in wait_hooks.c.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

/* Around the call. begins returns what belongs to its end. */
int64_t pm_wait_begins(const struct pm_device *device);
void pm_wait_ends(struct pm_device *device, int64_t begin, VkResult result);
