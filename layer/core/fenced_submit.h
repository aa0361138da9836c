/*
 * The game's submissions that end with a fence, as the driver is given them.
 *
 * Mesa's runtime emulates timeline semaphores by lists of points where a driver has none of its
 * own. A thread that submits for the game signals the fence of a submission first, and only then
 * puts the points that the submission signals into their lists, and lets go of those that it waited
 * for (22.3.6, vk_queue_submit_final in src/vulkan/runtime/vk_queue.c; 25.0.7 has it too). A game
 * that waits for the fence may destroy these semaphores by then: the thread writes to what was
 * freed, and may crash there (seen on lavapipe: mpv, and more often with everything sampled;
 * docs/results/drivers.md). So on lavapipe the fence comes behind, by a submission of its own,
 * which the thread begins when it is done with the other. By 22.3.6's source Broadcom's driver has
 * such timelines and such a thread too; it was not seen there, and is left alone.
 *
 * The hooks ask for queues that they have a record of: on others (of a device on which nothing is
 * sampled, or protected ones) the fence stays where it was.
 *
 * Thread safety: called by who holds the VkQueue, or, for one that the driver synchronizes, by any
 * thread: what comes between the submission and its fence is waited for as well.
 */
#pragma once

#include "layer/core/layer.h"

/* As vkQueueSubmit of the device's driver. What was submitted cannot be taken back: where the fence
 * alone is refused, all of the queue is waited for, so that nothing that is destroyed from then on
 * is in use, and it is VK_ERROR_DEVICE_LOST. (That wait has no end where the queue waits for what
 * this very thread is yet to signal.) */
VkResult pm_fenced_submit(const struct pm_device *device, VkQueue queue, uint32_t count,
                          const VkSubmitInfo *infos, VkFence fence);
/* Likewise; next is vkQueueSubmit2 under the name that the game calls. */
VkResult pm_fenced_submit2(const struct pm_device *device, PFN_vkQueueSubmit2 next, VkQueue queue,
                           uint32_t count, const VkSubmitInfo2 *infos, VkFence fence);
/* Likewise, vkQueueBindSparse. */
VkResult pm_fenced_bind_sparse(const struct pm_device *device, VkQueue queue, uint32_t count,
                               const VkBindSparseInfo *infos, VkFence fence);
