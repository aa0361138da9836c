#include "layer/frame/queue.h"

#include <stdlib.h>

struct pm_queue *pm_queue_of(struct pm_device *device, VkQueue handle)
{
    return device->sampling != NULL ? pm_lookup_find(&device->sampling->queues, PM_KEY(handle))
                                    : NULL;
}

static void destroy(struct pm_queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

/* Flags that the headers do not have may say that the driver synchronizes it, as
 * VK_DEVICE_QUEUE_CREATE_INTERNALLY_SYNCHRONIZED_BIT_KHR does. */
static bool may_be_synchronized(VkDeviceQueueCreateFlags flags)
{
    return (flags & ~(VkDeviceQueueCreateFlags)VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT) != 0;
}

void pm_queue_add(struct pm_device *device, VkQueue handle, uint32_t family,
                  VkDeviceQueueCreateFlags flags)
{
    struct pm_sampling *sampling = device->sampling;
    if (sampling == NULL || handle == VK_NULL_HANDLE)
        return;
    pthread_mutex_lock(&sampling->lock);
    if (pm_queue_of(device, handle) == NULL && sampling->queue_count < PM_QUEUES) {
        struct pm_queue *queue = calloc(1, sizeof *queue);
        if (queue != NULL) {
            queue->device = device;
            queue->handle = handle;
            queue->family = family;
            queue->index = sampling->queue_count;
            queue->bit = 1u << queue->index;
            queue->synchronized = may_be_synchronized(flags);
            pthread_mutex_init(&queue->lock, NULL);
            if (pm_lookup_put(&sampling->queues, PM_KEY(handle), queue)) {
                sampling->queue_list[sampling->queue_count] = queue;
                atomic_fetch_add(&sampling->queue_count, 1);
            } else {
                destroy(queue);
            }
        }
    }
    pthread_mutex_unlock(&sampling->lock);
}

void pm_queues_destroy(struct pm_sampling *sampling)
{
    for (uint32_t i = 0; i < sampling->queue_count; i++)
        destroy(sampling->queue_list[i]);
}

void pm_queue_hold(struct pm_queue *queue)
{
    if (queue->synchronized)
        pthread_mutex_lock(&queue->lock);
}

void pm_queue_let_go(struct pm_queue *queue)
{
    if (queue->synchronized)
        pthread_mutex_unlock(&queue->lock);
}
