/*
 * Waiting for what a queue of the game's still does for us when the device is about to go: the game
 * has waited for its own alone. A device that hangs is not waited for for ever, and what it may
 * still use is not destroyed.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

/* Whether a fence that was submitted, or a timeline that a submission signals with the value, may
 * be destroyed: it is through, or the device is lost. Waits for two seconds at most. */
bool pm_last_wait_fence(struct pm_device *device, VkFence fence);
bool pm_last_wait_timeline(struct pm_device *device, VkSemaphore semaphore, uint64_t value);
