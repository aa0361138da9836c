/* The hooks of calls that may wait: a wait tells something of the frame (cpu_bound.h) and of the
 * device (hang_watch.h), an idle queue is a checkpoint, and any of them may be the first to say
 * that the device was lost. */
#include "base/clock.h"
#include "layer/hooks.h"
#include "layer/optimize.h"
#include "layer/queue.h"
#include "layer/readback.h"
#include "layer/registry.h"

void pm_device_was_lost(struct pm_device *device)
{
    if (atomic_exchange(&device->lost, true))
        return;
    pm_log_warning(device->instance->log, "the device was lost; sampling ends");
    pm_optimize_lost(device);
}

int64_t pm_wait_begins(const struct pm_device *device)
{
    return device->sampling != NULL ? pm_cpu_watch_wait_begin(&device->sampling->watch) : 0;
}

void pm_wait_ends(struct pm_device *device, int64_t begin, VkResult result)
{
    if (device->sampling != NULL)
        pm_cpu_watch_wait_end(&device->sampling->watch, begin);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
}

/* The same of a call that waits for the device. */
static int64_t device_wait_begins(struct pm_device *device)
{
    if (device->optimizer != NULL)
        pm_hang_watch_wait_begins(&device->hang_watch, pm_now());
    return pm_wait_begins(device);
}

static void device_wait_ends(struct pm_device *device, int64_t begin, VkResult result)
{
    pm_wait_ends(device, begin, result);
    if (device->optimizer != NULL)
        pm_hang_watch_wait_ends(&device->hang_watch, pm_now(), result == VK_SUCCESS);
}

/* The same of a call that waits for an image: the display gives none back that is still drawn to,
 * but may keep them all as long as it likes. */
static void image_wait_ends(struct pm_device *device, int64_t begin, VkResult result)
{
    pm_wait_ends(device, begin, result);
    if (device->optimizer != NULL && (result == VK_SUCCESS || result == VK_SUBOPTIMAL_KHR))
        pm_hang_watch_answer(&device->hang_watch, pm_now(), true);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_QueueWaitIdle(VkQueue handle)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_queue *queue = pm_queue_of(device, handle);
    if (queue != NULL)
        pm_readback_follow(queue, true);
    int64_t begin = device_wait_begins(device);
    VkResult result = device->dispatch.QueueWaitIdle(handle);
    device_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_DeviceWaitIdle(VkDevice handle)
{
    struct pm_device *device = pm_device_of(handle);
    /* The game holds all queues (Vulkan, vkDeviceWaitIdle, host synchronization). */
    struct pm_sampling *sampling = device->sampling;
    for (uint32_t i = 0; sampling != NULL && i < atomic_load(&sampling->queue_count); i++)
        pm_readback_follow(sampling->queue_list[i], true);
    int64_t begin = device_wait_begins(device);
    VkResult result = device->dispatch.DeviceWaitIdle(handle);
    device_wait_ends(device, begin, result);
    if (result == VK_SUCCESS)
        pm_hang_watch_idle(&device->hang_watch);
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
    image_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_AcquireNextImage2KHR(VkDevice handle,
                                                       const VkAcquireNextImageInfoKHR *info,
                                                       uint32_t *index)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.AcquireNextImage2KHR(handle, info, index);
    image_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_GetFenceStatus(VkDevice handle, VkFence fence)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.GetFenceStatus(handle, fence);
    if (device->optimizer != NULL)
        pm_hang_watch_answer(&device->hang_watch, pm_now(), result == VK_SUCCESS);
    if (result == VK_NOT_READY && device->sampling != NULL)
        pm_cpu_watch_spin(&device->sampling->watch);
    else if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_WaitForFences(VkDevice handle, uint32_t count,
                                                const VkFence *fences, VkBool32 all,
                                                uint64_t timeout)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = device_wait_begins(device);
    VkResult result = device->dispatch.WaitForFences(handle, count, fences, all, timeout);
    device_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_WaitSemaphores(VkDevice handle, const VkSemaphoreWaitInfo *info,
                                                 uint64_t timeout)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = device_wait_begins(device);
    VkResult result = device->dispatch.WaitSemaphores(handle, info, timeout);
    device_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_WaitSemaphoresKHR(VkDevice handle,
                                                    const VkSemaphoreWaitInfo *info,
                                                    uint64_t timeout)
{
    struct pm_device *device = pm_device_of(handle);
    int64_t begin = device_wait_begins(device);
    VkResult result = device->dispatch.WaitSemaphoresKHR(handle, info, timeout);
    device_wait_ends(device, begin, result);
    return result;
}
