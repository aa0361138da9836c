/* The hooks of calls that may wait: a wait tells something of the frame (cpu_bound.h), an idle
 * queue is a checkpoint, and any of them may be the first to say that the device was lost. */
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

VKAPI_ATTR VkResult VKAPI_CALL pm_QueueWaitIdle(VkQueue handle)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_queue *queue = pm_queue_of(device, handle);
    if (queue != NULL)
        pm_readback_follow(queue, true);
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.QueueWaitIdle(handle);
    pm_wait_ends(device, begin, result);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_DeviceWaitIdle(VkDevice handle)
{
    struct pm_device *device = pm_device_of(handle);
    /* The game holds all queues (Vulkan, vkDeviceWaitIdle, host synchronization). */
    struct pm_sampling *sampling = device->sampling;
    for (uint32_t i = 0; sampling != NULL && i < atomic_load(&sampling->queue_count); i++)
        pm_readback_follow(sampling->queue_list[i], true);
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.DeviceWaitIdle(handle);
    pm_wait_ends(device, begin, result);
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

VKAPI_ATTR VkResult VKAPI_CALL pm_GetFenceStatus(VkDevice handle, VkFence fence)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.GetFenceStatus(handle, fence);
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
    int64_t begin = pm_wait_begins(device);
    VkResult result = device->dispatch.WaitForFences(handle, count, fences, all, timeout);
    pm_wait_ends(device, begin, result);
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
