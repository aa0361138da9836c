/*
 * Timeline semaphores of ours. Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

/* At 0, on a device that has them; name: for debug_utils. VK_NULL_HANDLE: the driver refused. Who
 * makes one destroys it. */
VkSemaphore pm_timeline_create(struct pm_device *device, const char *name);
