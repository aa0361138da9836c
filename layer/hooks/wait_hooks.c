/* The hooks of calls that may wait: a wait tells something of the frame (cpu_bound.h) and of the
 * device (hang_watch.h), an idle queue is a checkpoint, and any of them may be the first to say
 * that the device was lost, as some calls that do not wait. */
#include "layer/hooks/wait_hooks.h"

#include "base/clock.h"
#include "layer/counts/readback.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"

int64_t pm_wait_begins(const struct pm_device *device)
{
    return device->sampling != NULL ? pm_cpu_watch_wait_begin(&device->sampling->watch) : 0;
}

void pm_wait_ends(struct pm_device *device, int64_t begin, VkResult result)
{
    if (device->sampling != NULL)
        pm_cpu_watch_wait_end(&device->sampling->watch, begin);
    (void)pm_checked(device, result);
}

/* A call that waits for submitted work. */
struct work_wait {
    int64_t begin;
    _Atomic int64_t *watched; /* hang_watch.h */
};

/* All work of a queue or of the device. */
static const struct pm_hang_question all_work;

static struct work_wait work_wait_begins(struct pm_device *device,
                                         const struct pm_hang_question *question)
{
    struct work_wait wait = {0};
    if (device->optimizer != NULL)
        wait.watched = pm_hang_watch_wait_begins(&device->hang_watch, question, pm_now());
    wait.begin = pm_wait_begins(device);
    return wait;
}

static void answered(struct pm_device *device, const struct pm_hang_question *question,
                     VkResult result)
{
    const bool finished = result == VK_SUCCESS;
    if (device->optimizer != NULL && (finished || result == VK_TIMEOUT || result == VK_NOT_READY))
        pm_hang_watch_answer(&device->hang_watch, question, finished, pm_now());
}

static void work_wait_ends(struct pm_device *device, const struct work_wait *wait,
                           const struct pm_hang_question *question, VkResult result)
{
    pm_wait_ends(device, wait->begin, result);
    answered(device, question, result);
    pm_hang_watch_wait_ends(wait->watched);
}

/* Before a wait for all work of the queue. */
static void follow_idle(struct pm_queue *queue)
{
    pm_queue_hold(queue);
    pm_readback_follow(queue, true);
    pm_queue_let_go(queue);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_QueueWaitIdle(VkQueue handle)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_queue *queue = pm_queue_of(device, handle);
    if (queue != NULL)
        follow_idle(queue);
    const struct work_wait wait = work_wait_begins(device, &all_work);
    VkResult result = device->dispatch.QueueWaitIdle(handle);
    work_wait_ends(device, &wait, &all_work, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_DeviceWaitIdle(VkDevice handle)
{
    struct pm_device *device = pm_device_of(handle);
    /* The game holds all queues (Vulkan, vkDeviceWaitIdle, host synchronization). */
    struct pm_sampling *sampling = device->sampling;
    for (uint32_t i = 0; sampling != NULL && i < atomic_load(&sampling->queue_count); i++)
        follow_idle(sampling->queue_list[i]);
    const struct work_wait wait = work_wait_begins(device, &all_work);
    VkResult result = device->dispatch.DeviceWaitIdle(handle);
    work_wait_ends(device, &wait, &all_work, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_AcquireNextImageKHR(VkDevice handle, VkSwapchainKHR swapchain,
                                                      uint64_t timeout, VkSemaphore semaphore,
                                                      VkFence fence, uint32_t *index)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = pm_wait_begins(device);
    VkResult result =
        device->dispatch.AcquireNextImageKHR(handle, swapchain, timeout, semaphore, fence, index);
    pm_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_AcquireNextImage2KHR(VkDevice handle,
                                                       const VkAcquireNextImageInfoKHR *info,
                                                       uint32_t *index)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.AcquireNextImage2KHR(handle, info, index);
    pm_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_WaitForPresentKHR(VkDevice handle, VkSwapchainKHR swapchain,
                                                    uint64_t id, uint64_t timeout)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.WaitForPresentKHR(handle, swapchain, id, timeout);
    pm_wait_ends(device, begin, result);
    return result;
}

/* Newer than the headers (hooks.h). */
VKAPI_ATTR VkResult VKAPI_CALL pm_WaitForPresent2KHR(VkDevice handle, VkSwapchainKHR swapchain,
                                                     const void *info)
{
    struct pm_device *device = pm_device_of(handle);
    const pm_wait_for_present2 next =
        (pm_wait_for_present2)(device->sampling != NULL ? device->sampling->wait_for_present2
                                                        : device->dispatch.GetDeviceProcAddr(
                                                              handle, "vkWaitForPresent2KHR"));
    if (next == NULL)
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    int64_t begin = pm_wait_begins(device);
    VkResult result = next(handle, swapchain, info);
    pm_wait_ends(device, begin, result);
    return result;
}

/* It sleeps until the game is to read its input. */
VKAPI_ATTR void VKAPI_CALL pm_AntiLagUpdateAMD(VkDevice handle, const VkAntiLagDataAMD *data)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = pm_wait_begins(device);
    device->dispatch.AntiLagUpdateAMD(handle, data);
    pm_wait_ends(device, begin, VK_SUCCESS);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_GetQueryPoolResults(VkDevice handle, VkQueryPool pool,
                                                      uint32_t first, uint32_t count, size_t size,
                                                      void *data, VkDeviceSize stride,
                                                      VkQueryResultFlags flags)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = (flags & VK_QUERY_RESULT_WAIT_BIT) != 0 ? pm_wait_begins(device) : 0;
    VkResult result =
        device->dispatch.GetQueryPoolResults(handle, pool, first, count, size, data, stride, flags);
    pm_wait_ends(device, begin, result);
    return result;
}

/* Calls that wait for nothing. */
#define ASK(name, parameters, arguments)                                                           \
    VKAPI_ATTR VkResult VKAPI_CALL pm_##name parameters                                            \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        return pm_checked(device, device->dispatch.name arguments);                                \
    }

ASK(GetEventStatus, (VkDevice handle, VkEvent event), (handle, event))
ASK(GetSemaphoreCounterValue, (VkDevice handle, VkSemaphore semaphore, uint64_t *value),
    (handle, semaphore, value))
ASK(GetSemaphoreCounterValueKHR, (VkDevice handle, VkSemaphore semaphore, uint64_t *value),
    (handle, semaphore, value))
ASK(GetSwapchainStatusKHR, (VkDevice handle, VkSwapchainKHR swapchain), (handle, swapchain))
ASK(GetSwapchainCounterEXT,
    (VkDevice handle, VkSwapchainKHR swapchain, VkSurfaceCounterFlagBitsEXT which, uint64_t *value),
    (handle, swapchain, which, value))
ASK(GetRefreshCycleDurationGOOGLE,
    (VkDevice handle, VkSwapchainKHR swapchain, VkRefreshCycleDurationGOOGLE *duration),
    (handle, swapchain, duration))
ASK(GetPastPresentationTimingGOOGLE,
    (VkDevice handle, VkSwapchainKHR swapchain, uint32_t *count,
     VkPastPresentationTimingGOOGLE *timings),
    (handle, swapchain, count, timings))

VKAPI_ATTR VkResult VKAPI_CALL pm_GetFenceStatus(VkDevice handle, VkFence fence)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.GetFenceStatus(handle, fence);
    answered(device, &(struct pm_hang_question){1, &fence, false}, result);
    if (result == VK_NOT_READY && device->sampling != NULL)
        pm_cpu_watch_spin(&device->sampling->watch);
    return pm_checked(device, result);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_ResetFences(VkDevice handle, uint32_t count,
                                              const VkFence *fences)
{
    struct pm_device *device = pm_device_of(handle);
    if (device->optimizer != NULL)
        pm_hang_watch_reset(&device->hang_watch, count, fences);
    return device->dispatch.ResetFences(handle, count, fences);
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyFence(VkDevice handle, VkFence fence,
                                           const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    if (device->optimizer != NULL)
        pm_hang_watch_reset(&device->hang_watch, 1, &fence);
    device->dispatch.DestroyFence(handle, fence, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_WaitForFences(VkDevice handle, uint32_t count,
                                                const VkFence *fences, VkBool32 all,
                                                uint64_t timeout)
{
    struct pm_device *device = pm_device_of(handle);
    const struct pm_hang_question question = {count, fences, !all};
    const struct work_wait wait = work_wait_begins(device, &question);
    VkResult result = device->dispatch.WaitForFences(handle, count, fences, all, timeout);
    work_wait_ends(device, &wait, &question, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_WaitSemaphores(VkDevice handle, const VkSemaphoreWaitInfo *info,
                                                 uint64_t timeout)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.WaitSemaphores(handle, info, timeout);
    pm_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_WaitSemaphoresKHR(VkDevice handle,
                                                    const VkSemaphoreWaitInfo *info,
                                                    uint64_t timeout)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.WaitSemaphoresKHR(handle, info, timeout);
    pm_wait_ends(device, begin, result);
    return result;
}
