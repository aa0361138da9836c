#include "tests/null_driver/internal.h"

#include <stdlib.h>
#include <time.h>

struct point {
    VkSemaphore semaphore;
    uint64_t value; /* of a timeline; a binary one's is 1 */
};

/* A submission, from its submit until it is done. */
struct pm_null_work {
    struct pm_null_work *next;
    uint64_t due; /* CLOCK_MONOTONIC nanoseconds when the device is through with it */
    uint32_t wait_count, signal_count, buffer_count;
    struct point *waits, *signals;
    VkCommandBuffer *buffers;
    VkFence fence;
};

/* ---- under the device's mutex ---- */

void pm_null_signal(VkDevice device, VkSemaphore semaphore, uint64_t value)
{
    struct pm_null_semaphore *object = (struct pm_null_semaphore *)PM_NULL_OBJECT(semaphore);
    if (object->timeline && value <= object->value)
        pm_null_error("a timeline semaphore is signaled with a value that is not greater");
    object->value = object->timeline ? value : 1;
    pthread_cond_broadcast(&device->changed);
}

void pm_null_signal_fence(VkDevice device, VkFence fence)
{
    ((struct pm_null_fence *)PM_NULL_OBJECT(fence))->signaled = true;
    pthread_cond_broadcast(&device->changed);
}

static bool is_ready(const struct pm_null_work *work)
{
    if (atomic_load(&pm_null_submissions_held))
        return false;
    for (uint32_t i = 0; i < work->wait_count; i++) {
        const struct pm_null_semaphore *semaphore = PM_NULL_OBJECT(work->waits[i].semaphore);
        if (semaphore->value < (semaphore->timeline ? work->waits[i].value : 1))
            return false;
    }
    return true;
}

static void free_work(struct pm_null_work *work)
{
    for (uint32_t i = 0; i < work->buffer_count; i++)
        pm_null_command_pending(work->buffers[i], -1);
    free(work->waits);
    free(work->signals);
    free(work->buffers);
    free(work);
}

static void finish_first(VkQueue queue)
{
    struct pm_null_work *work = queue->first;
    for (uint32_t i = 0; i < work->wait_count; i++) {
        struct pm_null_semaphore *semaphore =
            (struct pm_null_semaphore *)PM_NULL_OBJECT(work->waits[i].semaphore);
        if (!semaphore->timeline)
            semaphore->value = 0;
    }
    for (uint32_t i = 0; i < work->buffer_count; i++)
        pm_null_execute(work->buffers[i]);
    queue->first = work->next;
    if (!queue->first)
        queue->last = NULL;
    for (uint32_t i = 0; i < work->signal_count; i++)
        pm_null_signal(queue->device, work->signals[i].semaphore, work->signals[i].value);
    VkFence fence = work->fence;
    free_work(work);
    if (fence)
        pm_null_signal_fence(queue->device, fence);
    pthread_cond_broadcast(&queue->device->changed);
}

static void drop_all(VkQueue queue)
{
    while (queue->first) {
        struct pm_null_work *work = queue->first;
        queue->first = work->next;
        free_work(work);
    }
    queue->last = NULL;
}

/* ---- workers ---- */

/* Nobody tells when submissions are held no more. */
#define HOLD_LOOK UINT64_C(1000000) /* nanoseconds */

static void wait_until(VkDevice device, uint64_t nanoseconds)
{
    const struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000),
                                  .tv_nsec = (long)(nanoseconds % 1000000000)};
    pthread_cond_timedwait(&device->changed, &device->mutex, &time);
}

static void *work_loop(void *argument)
{
    VkQueue queue = argument;
    VkDevice device = queue->device;
    pthread_mutex_lock(&device->mutex);
    while (!device->ending) {
        if (atomic_load(&pm_null_submissions_held)) {
            wait_until(device, pm_null_now() + HOLD_LOOK);
        } else if (!queue->first || !is_ready(queue->first)) {
            pthread_cond_wait(&device->changed, &device->mutex);
        } else if (queue->first->due > pm_null_now()) {
            wait_until(device, queue->first->due);
        } else {
            finish_first(queue);
        }
    }
    pthread_mutex_unlock(&device->mutex);
    return NULL;
}

void pm_null_queues_finish(VkDevice device)
{
    pthread_mutex_lock(&device->mutex);
    device->ending = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->mutex);
    for (uint32_t i = 0; i < PM_NULL_FAMILIES * PM_NULL_QUEUES; i++) {
        VkQueue queue = &device->queues[i / PM_NULL_QUEUES][i % PM_NULL_QUEUES];
        if (queue->has_worker)
            pthread_join(queue->worker, NULL);
        if (queue->first)
            pm_null_error("a device is destroyed while a queue is busy");
        drop_all(queue);
    }
}

void pm_null_lose(VkDevice device)
{
    pthread_mutex_lock(&device->mutex);
    device->lost = true;
    for (uint32_t i = 0; i < PM_NULL_FAMILIES * PM_NULL_QUEUES; i++)
        drop_all(&device->queues[i / PM_NULL_QUEUES][i % PM_NULL_QUEUES]);
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->mutex);
}

/* Takes the work; what can be done at once is done when it returns. */
static VkResult enqueue(VkQueue queue, struct pm_null_work *work)
{
    VkDevice device = queue->device;
    uint64_t delay = atomic_load(&pm_null_delay_us) * 1000, now = delay ? pm_null_now() : 0;
    for (uint32_t i = 0; i < work->buffer_count; i++) {
        if (work->buffers[i]->recording)
            pm_null_error("a command buffer is submitted that was not ended");
        pm_null_command_pending(work->buffers[i], 1);
    }
    pthread_mutex_lock(&device->mutex);
    if (device->lost) {
        pthread_mutex_unlock(&device->mutex);
        free_work(work);
        return VK_ERROR_DEVICE_LOST;
    }
    if (delay)
        work->due = (queue->last && queue->last->due > now ? queue->last->due : now) + delay;
    if (queue->last)
        queue->last->next = work;
    else
        queue->first = work;
    queue->last = work;
    while (queue->first && queue->first->due == 0 && is_ready(queue->first))
        finish_first(queue);
    if (queue->first && !queue->has_worker)
        queue->has_worker = pthread_create(&queue->worker, NULL, work_loop, queue) == 0;
    if (queue->first && !queue->has_worker)
        pm_null_error("no thread for a queue");
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->mutex);
    return VK_SUCCESS;
}

/* ---- submitting ---- */

static struct pm_null_work *make_work(uint32_t waits, uint32_t signals, uint32_t buffers)
{
    struct pm_null_work *work = calloc(1, sizeof(*work));
    if (!work)
        return NULL;
    work->waits = calloc(waits ? waits : 1, sizeof(*work->waits));
    work->signals = calloc(signals ? signals : 1, sizeof(*work->signals));
    work->buffers = calloc(buffers ? buffers : 1, sizeof(VkCommandBuffer));
    if (!work->waits || !work->signals || !work->buffers) {
        free_work(work);
        return NULL;
    }
    work->wait_count = waits;
    work->signal_count = signals;
    work->buffer_count = buffers;
    return work;
}

static const VkTimelineSemaphoreSubmitInfo *timeline_of(const void *chain)
{
    const VkBaseInStructure *item = chain;
    while (item && item->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
        item = item->pNext;
    return (const void *)item;
}

static void set_points(struct point *points, uint32_t count, const VkSemaphore *semaphores,
                       const uint64_t *values, uint32_t value_count)
{
    for (uint32_t i = 0; i < count; i++)
        points[i] = (struct point){semaphores[i], i < value_count ? values[i] : 1};
}

static VkResult submit_fence(VkQueue queue, VkFence fence)
{
    struct pm_null_work *work = make_work(0, 0, 0);
    if (!work)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    work->fence = fence;
    return enqueue(queue, work);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkQueueSubmit(VkQueue queue, uint32_t submitCount,
                                                     const VkSubmitInfo *pSubmits, VkFence fence)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i < submitCount; i++) {
        const VkSubmitInfo *info = &pSubmits[i];
        const VkTimelineSemaphoreSubmitInfo none = {0}, *timeline = timeline_of(info->pNext);
        if (!timeline)
            timeline = &none;
        struct pm_null_work *work = make_work(info->waitSemaphoreCount, info->signalSemaphoreCount,
                                              info->commandBufferCount);
        if (!work)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        set_points(work->waits, work->wait_count, info->pWaitSemaphores,
                   timeline->pWaitSemaphoreValues, timeline->waitSemaphoreValueCount);
        set_points(work->signals, work->signal_count, info->pSignalSemaphores,
                   timeline->pSignalSemaphoreValues, timeline->signalSemaphoreValueCount);
        for (uint32_t j = 0; j < work->buffer_count; j++)
            work->buffers[j] = info->pCommandBuffers[j];
        work->fence = i + 1 == submitCount ? fence : VK_NULL_HANDLE;
        result = enqueue(queue, work);
    }
    return submitCount || !fence ? result : submit_fence(queue, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkQueueSubmit2(VkQueue queue, uint32_t submitCount,
                                                      const VkSubmitInfo2 *pSubmits, VkFence fence)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i < submitCount; i++) {
        const VkSubmitInfo2 *info = &pSubmits[i];
        struct pm_null_work *work =
            make_work(info->waitSemaphoreInfoCount, info->signalSemaphoreInfoCount,
                      info->commandBufferInfoCount);
        if (!work)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        for (uint32_t j = 0; j < work->wait_count; j++)
            work->waits[j] = (struct point){info->pWaitSemaphoreInfos[j].semaphore,
                                            info->pWaitSemaphoreInfos[j].value};
        for (uint32_t j = 0; j < work->signal_count; j++)
            work->signals[j] = (struct point){info->pSignalSemaphoreInfos[j].semaphore,
                                              info->pSignalSemaphoreInfos[j].value};
        for (uint32_t j = 0; j < work->buffer_count; j++)
            work->buffers[j] = info->pCommandBufferInfos[j].commandBuffer;
        work->fence = i + 1 == submitCount ? fence : VK_NULL_HANDLE;
        result = enqueue(queue, work);
    }
    return submitCount || !fence ? result : submit_fence(queue, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkQueueBindSparse(VkQueue queue, uint32_t bindInfoCount,
                                                         const VkBindSparseInfo *pBindInfo,
                                                         VkFence fence)
{
    VkResult result = VK_SUCCESS;
    for (uint32_t i = 0; result == VK_SUCCESS && i < bindInfoCount; i++) {
        const VkTimelineSemaphoreSubmitInfo none = {0}, *timeline = timeline_of(pBindInfo[i].pNext);
        if (!timeline)
            timeline = &none;
        struct pm_null_work *work =
            make_work(pBindInfo[i].waitSemaphoreCount, pBindInfo[i].signalSemaphoreCount, 0);
        if (!work)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        set_points(work->waits, work->wait_count, pBindInfo[i].pWaitSemaphores,
                   timeline->pWaitSemaphoreValues, timeline->waitSemaphoreValueCount);
        set_points(work->signals, work->signal_count, pBindInfo[i].pSignalSemaphores,
                   timeline->pSignalSemaphoreValues, timeline->signalSemaphoreValueCount);
        work->fence = i + 1 == bindInfoCount ? fence : VK_NULL_HANDLE;
        result = enqueue(queue, work);
    }
    return bindInfoCount || !fence ? result : submit_fence(queue, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkQueuePresentKHR(VkQueue queue,
                                                         const VkPresentInfoKHR *pPresentInfo)
{
    struct pm_null_work *work = make_work(pPresentInfo->waitSemaphoreCount, 0, 0);
    if (!work)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    set_points(work->waits, work->wait_count, pPresentInfo->pWaitSemaphores, NULL, 0);
    VkResult result = enqueue(queue, work);
    const VkBaseInStructure *item = pPresentInfo->pNext;
    while (item && item->sType != VK_STRUCTURE_TYPE_SWAPCHAIN_PRESENT_FENCE_INFO_EXT)
        item = item->pNext;
    const VkSwapchainPresentFenceInfoEXT *fences = (const void *)item;
    for (uint32_t i = 0; fences && result == VK_SUCCESS && i < fences->swapchainCount; i++) {
        if (fences->pFences[i])
            result = submit_fence(queue, fences->pFences[i]);
    }
    for (uint32_t i = 0; pPresentInfo->pResults && i < pPresentInfo->swapchainCount; i++)
        pPresentInfo->pResults[i] = result;
    return result;
}

/* ---- waiting ---- */

static VkResult wait_idle(VkDevice device, VkQueue first, size_t count)
{
    pthread_mutex_lock(&device->mutex);
    for (size_t i = 0; i < count; i++) {
        while (first[i].first && !device->lost)
            pthread_cond_wait(&device->changed, &device->mutex);
    }
    VkResult result = device->lost ? VK_ERROR_DEVICE_LOST : VK_SUCCESS;
    pthread_mutex_unlock(&device->mutex);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkQueueWaitIdle(VkQueue queue)
{
    return wait_idle(queue->device, queue, 1);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_null_vkDeviceWaitIdle(VkDevice device)
{
    return wait_idle(device, &device->queues[0][0], PM_NULL_FAMILIES * PM_NULL_QUEUES);
}
