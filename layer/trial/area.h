/*
 * The render area that a recording is in: of what is timed by itself in a secondary command buffer
 * only what executes that knows how large it is (trial.h). It is noted while trials are awaited, in
 * every recording: one that begins an instance then, and ends it when none is, forgets nothing, so
 * what was noted before they are awaited anew is not believed.
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization.
 */
#pragma once

#include "layer/frame/command.h"

/* It begins a render pass instance of that area (pm_trial_work); and ends it. */
void pm_area_enter(struct pm_device *device, VkCommandBuffer handle, uint64_t work);
void pm_area_leave(struct pm_device *device, VkCommandBuffer handle);

/* It executes secondary command buffers: what was timed in them, and in those that they execute,
 * has its area now. */
void pm_area_give(struct pm_device *device, VkCommandBuffer handle, uint32_t count,
                  const VkCommandBuffer *buffers);
