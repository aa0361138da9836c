/*
 * The game's submissions that end with a fence, as the driver is given them.
 *
 * lavapipe's timeline semaphores are lists of points. Its submitting thread signals the fence of a
 * submission first, and only then puts the points that the submission signals into their lists, and
 * lets go of those that it waited for (Mesa 22.3.6, vk_queue_submit_final in
 * src/vulkan/runtime/vk_queue.c; 25.0.7 has it too). A game that waits for the fence may destroy
 * these semaphores by then: the thread writes to what was freed, and may crash there (seen: mpv,
 * and more often with everything sampled; docs/results/drivers.md). So on lavapipe the fence comes
 * behind, by a submission of its own, which the thread begins when it is done with the other.
 *
 * Thread safety: called by who holds the VkQueue.
 */
#pragma once

#include "layer/core/layer.h"

/* As vkQueueSubmit of the device's driver. What was submitted cannot be taken back: where the fence
 * alone is refused, VK_ERROR_DEVICE_LOST. */
VkResult pm_fenced_submit(const struct pm_device *device, VkQueue queue, uint32_t count,
                          const VkSubmitInfo *infos, VkFence fence);
/* Likewise; next is vkQueueSubmit2 under the name that the game calls. */
VkResult pm_fenced_submit2(const struct pm_device *device, PFN_vkQueueSubmit2 next, VkQueue queue,
                           uint32_t count, const VkSubmitInfo2 *infos, VkFence fence);
