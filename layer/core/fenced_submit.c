#include "layer/core/fenced_submit.h"

static bool may_come_late(const struct pm_device *device, VkFence fence)
{
    return device->abilities.driver_id == VK_DRIVER_ID_MESA_LLVMPIPE && fence != VK_NULL_HANDLE;
}

static bool has_timelines(const void *chain)
{
    const VkBaseInStructure *at = chain;
    while (at != NULL && at->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
        at = at->pNext;
    return at != NULL;
}

static bool uses_timelines(uint32_t count, const VkSubmitInfo *infos)
{
    for (uint32_t i = 0; i < count; i++)
        if (has_timelines(infos[i].pNext))
            return true;
    return false;
}

static bool binds_with_timelines(uint32_t count, const VkBindSparseInfo *infos)
{
    for (uint32_t i = 0; i < count; i++)
        if (has_timelines(infos[i].pNext))
            return true;
    return false;
}

/* A timeline has no use for 0, and a binary semaphore, as a rule, no other value. */
static bool has_value(uint32_t count, const VkSemaphoreSubmitInfo *semaphores)
{
    for (uint32_t i = 0; i < count; i++)
        if (semaphores[i].value != 0)
            return true;
    return false;
}

static bool uses_timelines2(uint32_t count, const VkSubmitInfo2 *infos)
{
    for (uint32_t i = 0; i < count; i++)
        if (has_value(infos[i].waitSemaphoreInfoCount, infos[i].pWaitSemaphoreInfos) ||
            has_value(infos[i].signalSemaphoreInfoCount, infos[i].pSignalSemaphoreInfos))
            return true;
    return false;
}

/* Behind what was submitted with that result. A queue of any kind takes a submission of nothing. */
static VkResult fence_behind(const struct pm_device *device, VkQueue queue, VkFence fence,
                             VkResult result)
{
    if (result != VK_SUCCESS)
        return result;
    if (device->dispatch.QueueSubmit(queue, 0, NULL, fence) == VK_SUCCESS)
        return VK_SUCCESS;
    (void)device->dispatch.QueueWaitIdle(queue);
    return VK_ERROR_DEVICE_LOST;
}

VkResult pm_fenced_submit(const struct pm_device *device, VkQueue queue, uint32_t count,
                          const VkSubmitInfo *infos, VkFence fence)
{
    if (!may_come_late(device, fence) || !uses_timelines(count, infos))
        return device->dispatch.QueueSubmit(queue, count, infos, fence);
    return fence_behind(device, queue, fence,
                        device->dispatch.QueueSubmit(queue, count, infos, VK_NULL_HANDLE));
}

VkResult pm_fenced_submit2(const struct pm_device *device, PFN_vkQueueSubmit2 next, VkQueue queue,
                           uint32_t count, const VkSubmitInfo2 *infos, VkFence fence)
{
    if (!may_come_late(device, fence) || !uses_timelines2(count, infos))
        return next(queue, count, infos, fence);
    return fence_behind(device, queue, fence, next(queue, count, infos, VK_NULL_HANDLE));
}

VkResult pm_fenced_bind_sparse(const struct pm_device *device, VkQueue queue, uint32_t count,
                               const VkBindSparseInfo *infos, VkFence fence)
{
    if (!may_come_late(device, fence) || !binds_with_timelines(count, infos))
        return device->dispatch.QueueBindSparse(queue, count, infos, fence);
    return fence_behind(device, queue, fence,
                        device->dispatch.QueueBindSparse(queue, count, infos, VK_NULL_HANDLE));
}
