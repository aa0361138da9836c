#include "layer/trial/submission_marks.h"

#include "layer/core/device_lost.h"
#include "layer/core/last_wait.h"
#include "layer/core/timeline.h"
#include <stdlib.h>

struct timeline {
    _Atomic(VkSemaphore) semaphore; /* VK_NULL_HANDLE: not made yet, or refused */
    bool wanted;                    /* a submission since the last mark holds timestamps */
    _Atomic uint64_t made;          /* the last value that a submission of ours signals */
    uint64_t done;                  /* as the driver said when asked last; the poller's */
};

struct pm_marks {
    struct pm_device *device;
    struct timeline timelines[PM_QUEUES];
};

struct pm_marks *pm_marks_create(struct pm_device *device)
{
    const struct pm_device_abilities *abilities = &device->abilities;
    if (abilities->driver_id != VK_DRIVER_ID_MESA_LLVMPIPE || !abilities->timeline_semaphore)
        return NULL;
    struct pm_marks *marks = calloc(1, sizeof *marks);
    if (marks != NULL)
        marks->device = device;
    return marks;
}

void pm_marks_destroy(struct pm_marks *marks)
{
    if (marks == NULL)
        return;
    struct pm_device *device = marks->device;
    for (uint32_t i = 0; i < PM_QUEUES; i++) {
        const VkSemaphore semaphore = atomic_load(&marks->timelines[i].semaphore);
        const uint64_t made = atomic_load(&marks->timelines[i].made);
        if (semaphore != VK_NULL_HANDLE && pm_last_wait_timeline(device, semaphore, made))
            device->dispatch.DestroySemaphore(device->handle, semaphore, NULL);
    }
    free(marks);
}

struct pm_mark pm_marks_next(struct pm_marks *marks, const struct pm_queue *queue)
{
    if (marks == NULL)
        return (struct pm_mark){0};
    struct timeline *timeline = &marks->timelines[queue->index];
    timeline->wanted = true;
    return (struct pm_mark){queue->index, atomic_load(&timeline->made) + 1};
}

/* Where the driver refuses, the next one is for this one, too. */
void pm_marks_submitted(struct pm_marks *marks, const struct pm_queue *queue)
{
    struct timeline *timeline = marks != NULL ? &marks->timelines[queue->index] : NULL;
    if (timeline == NULL || !timeline->wanted)
        return;
    struct pm_device *device = marks->device;
    VkSemaphore semaphore = atomic_load(&timeline->semaphore);
    if (semaphore == VK_NULL_HANDLE) {
        semaphore = pm_timeline_create(device, "trial timestamps");
        atomic_store(&timeline->semaphore, semaphore);
        if (semaphore == VK_NULL_HANDLE)
            return;
    }
    const uint64_t value = atomic_load(&timeline->made) + 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &semaphore,
    };
    const VkResult result = device->dispatch.QueueSubmit(queue->handle, 1, &info, VK_NULL_HANDLE);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    if (result != VK_SUCCESS)
        return;
    atomic_store(&timeline->made, value);
    timeline->wanted = false;
}

void pm_marks_look(struct pm_marks *marks)
{
    for (uint32_t i = 0; marks != NULL && i < PM_QUEUES; i++) {
        const struct pm_device *device = marks->device;
        const VkSemaphore semaphore = atomic_load(&marks->timelines[i].semaphore);
        uint64_t value;
        if (semaphore != VK_NULL_HANDLE && device->dispatch.GetSemaphoreCounterValue(
                                               device->handle, semaphore, &value) == VK_SUCCESS)
            marks->timelines[i].done = value;
    }
}

bool pm_marks_done(const struct pm_marks *marks, struct pm_mark mark)
{
    return marks == NULL || mark.value <= marks->timelines[mark.queue].done;
}

bool pm_marks_was_made(const struct pm_marks *marks, struct pm_mark mark)
{
    return marks == NULL || mark.value <= atomic_load(&marks->timelines[mark.queue].made);
}
