#include "tests/null_driver/internal.h"

#include <errno.h>
#include <time.h>

/* CLOCK_MONOTONIC after `timeout` nanoseconds; the far future where that does not fit. */
static struct timespec deadline(uint64_t timeout)
{
    uint64_t now = pm_null_now(), end = now + timeout;
    if (end < now || end > INT64_MAX)
        end = INT64_MAX;
    return (struct timespec){.tv_sec = (time_t)(end / 1000000000),
                             .tv_nsec = (long)(end % 1000000000)};
}

/* ---- fences ---- */

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateFence(VkDevice device,
                                                     const VkFenceCreateInfo *pCreateInfo,
                                                     const VkAllocationCallbacks *pAllocator,
                                                     VkFence *pFence)
{
    (void)device;
    (void)pAllocator;
    struct pm_null_fence *fence = pm_null_object_create(VK_OBJECT_TYPE_FENCE, sizeof(*fence));
    if (!fence)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    fence->signaled = pCreateInfo->flags & VK_FENCE_CREATE_SIGNALED_BIT;
    *pFence = PM_NULL_HANDLE(VkFence, fence);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkResetFences(VkDevice device, uint32_t fenceCount,
                                                     const VkFence *pFences)
{
    pthread_mutex_lock(&device->mutex);
    for (uint32_t i = 0; i < fenceCount; i++)
        ((struct pm_null_fence *)PM_NULL_OBJECT(pFences[i]))->signaled = false;
    pthread_mutex_unlock(&device->mutex);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetFenceStatus(VkDevice device, VkFence fence)
{
    pthread_mutex_lock(&device->mutex);
    VkResult result = device->lost ? VK_ERROR_DEVICE_LOST
                      : ((struct pm_null_fence *)PM_NULL_OBJECT(fence))->signaled ? VK_SUCCESS
                                                                                  : VK_NOT_READY;
    pthread_mutex_unlock(&device->mutex);
    return result;
}

/* What a wait is for, and whether it is there; under the device's mutex. */
typedef bool (*condition)(const void *what);

static VkResult wait(VkDevice device, condition there, const void *what, uint64_t timeout)
{
    struct timespec end = deadline(timeout);
    VkResult result = VK_SUCCESS;
    pthread_mutex_lock(&device->mutex);
    while (!there(what)) {
        if (device->lost) {
            result = VK_ERROR_DEVICE_LOST;
            break;
        }
        if (timeout == 0 ||
            pthread_cond_timedwait(&device->changed, &device->mutex, &end) == ETIMEDOUT) {
            result = there(what) ? VK_SUCCESS : VK_TIMEOUT;
            break;
        }
    }
    pthread_mutex_unlock(&device->mutex);
    return result;
}

struct fences {
    uint32_t count;
    const VkFence *fences;
    bool all;
};

static bool fences_there(const void *what)
{
    const struct fences *fences = what;
    for (uint32_t i = 0; i < fences->count; i++) {
        bool signaled = ((const struct pm_null_fence *)PM_NULL_OBJECT(fences->fences[i]))->signaled;
        if (signaled != fences->all)
            return signaled;
    }
    return fences->all;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkWaitForFences(VkDevice device, uint32_t fenceCount,
                                                       const VkFence *pFences, VkBool32 waitAll,
                                                       uint64_t timeout)
{
    struct fences fences = {fenceCount, pFences, waitAll};
    return wait(device, fences_there, &fences, timeout);
}

/* ---- semaphores ---- */

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateSemaphore(VkDevice device,
                                                         const VkSemaphoreCreateInfo *pCreateInfo,
                                                         const VkAllocationCallbacks *pAllocator,
                                                         VkSemaphore *pSemaphore)
{
    (void)device;
    (void)pAllocator;
    struct pm_null_semaphore *semaphore =
        pm_null_object_create(VK_OBJECT_TYPE_SEMAPHORE, sizeof(*semaphore));
    if (!semaphore)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    for (const VkBaseInStructure *item = pCreateInfo->pNext; item; item = item->pNext) {
        if (item->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO) {
            const VkSemaphoreTypeCreateInfo *type = (const void *)item;
            semaphore->timeline = type->semaphoreType == VK_SEMAPHORE_TYPE_TIMELINE;
            semaphore->value = semaphore->timeline ? type->initialValue : 0;
        }
    }
    *pSemaphore = PM_NULL_HANDLE(VkSemaphore, semaphore);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetSemaphoreCounterValue(VkDevice device,
                                                                  VkSemaphore semaphore,
                                                                  uint64_t *pValue)
{
    pthread_mutex_lock(&device->mutex);
    *pValue = ((struct pm_null_semaphore *)PM_NULL_OBJECT(semaphore))->value;
    VkResult result = device->lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
    pthread_mutex_unlock(&device->mutex);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkSignalSemaphore(VkDevice device,
                                                         const VkSemaphoreSignalInfo *pSignalInfo)
{
    pthread_mutex_lock(&device->mutex);
    pm_null_signal(device, pSignalInfo->semaphore, pSignalInfo->value);
    pthread_mutex_unlock(&device->mutex);
    return VK_SUCCESS;
}

static bool semaphores_there(const void *what)
{
    const VkSemaphoreWaitInfo *info = what;
    bool any = info->flags & VK_SEMAPHORE_WAIT_ANY_BIT;
    for (uint32_t i = 0; i < info->semaphoreCount; i++) {
        const struct pm_null_semaphore *semaphore = PM_NULL_OBJECT(info->pSemaphores[i]);
        bool reached = semaphore->value >= info->pValues[i];
        if (reached == any)
            return reached;
    }
    return !any;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkWaitSemaphores(VkDevice device,
                                                        const VkSemaphoreWaitInfo *pWaitInfo,
                                                        uint64_t timeout)
{
    return wait(device, semaphores_there, pWaitInfo, timeout);
}

/* ---- events ---- */

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkCreateEvent(VkDevice device,
                                                     const VkEventCreateInfo *pCreateInfo,
                                                     const VkAllocationCallbacks *pAllocator,
                                                     VkEvent *pEvent)
{
    (void)device;
    (void)pCreateInfo;
    (void)pAllocator;
    *pEvent = PM_NULL_HANDLE(
        VkEvent, pm_null_object_create(VK_OBJECT_TYPE_EVENT, sizeof(struct pm_null_event)));
    return *pEvent ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkGetEventStatus(VkDevice device, VkEvent event)
{
    (void)device;
    return atomic_load(&((struct pm_null_event *)PM_NULL_OBJECT(event))->set) ? VK_EVENT_SET
                                                                              : VK_EVENT_RESET;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkSetEvent(VkDevice device, VkEvent event)
{
    (void)device;
    atomic_store(&((struct pm_null_event *)PM_NULL_OBJECT(event))->set, true);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkResetEvent(VkDevice device, VkEvent event)
{
    (void)device;
    atomic_store(&((struct pm_null_event *)PM_NULL_OBJECT(event))->set, false);
    return VK_SUCCESS;
}
