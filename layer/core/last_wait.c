#include "layer/core/last_wait.h"

#define LAST_WAIT UINT64_C(2000000000) /* nanoseconds */

static bool is_through(const struct pm_device *device, VkResult result)
{
    return result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST || atomic_load(&device->lost);
}

bool pm_last_wait_fence(struct pm_device *device, VkFence fence)
{
    return atomic_load(&device->lost) ||
           is_through(device, device->dispatch.WaitForFences(device->handle, 1, &fence, VK_TRUE,
                                                             LAST_WAIT));
}

bool pm_last_wait_timeline(struct pm_device *device, VkSemaphore semaphore, uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &semaphore,
        .pValues = &value,
    };
    return atomic_load(&device->lost) ||
           is_through(device, device->dispatch.WaitSemaphores(device->handle, &info, LAST_WAIT));
}
