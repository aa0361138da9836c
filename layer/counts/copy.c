#include "layer/counts/copy.h"

#include "layer/core/device_lost.h"
#include "layer/core/object_name.h"
#include "layer/core/timeline.h"
#include "layer/counts/count_state.h"
#include "layer/memory/counters.h"
#include <stdlib.h>

#define SMALLEST_COPY UINT64_C(65536) /* bytes */

static bool reserve_buffer(struct pm_copy *copy, uint64_t bytes)
{
    if (bytes <= copy->host.bytes)
        return true;
    struct pm_device *device = copy->queue->device;
    uint64_t capacity = SMALLEST_COPY;
    while (capacity < bytes)
        capacity *= 2;
    pm_mapped_buffer_destroy(device, &copy->host);
    if (!pm_mapped_buffer_create(device, capacity, VK_BUFFER_USAGE_TRANSFER_DST_BIT,
                                 VK_MEMORY_PROPERTY_HOST_CACHED_BIT, false, &copy->host))
        return false;
    pm_name_object(device, VK_OBJECT_TYPE_BUFFER, PM_KEY(copy->host.buffer), "counter readback");
    pm_name_object(device, VK_OBJECT_TYPE_DEVICE_MEMORY, PM_KEY(copy->host.memory),
                   "counter readback");
    return true;
}

/* The queue's pool, and its timeline where the device has them. */
static bool prepare_queue(struct pm_queue *queue)
{
    struct pm_device *device = queue->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    if (queue->pool == VK_NULL_HANDLE) {
        const VkCommandPoolCreateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
            .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT |
                     VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
            .queueFamilyIndex = queue->family,
        };
        if (dispatch->CreateCommandPool(device->handle, &info, NULL, &queue->pool) != VK_SUCCESS)
            return false;
        pm_name_object(device, VK_OBJECT_TYPE_COMMAND_POOL, PM_KEY(queue->pool),
                       "counter readback");
    }
    if (device->abilities.timeline_semaphore && queue->timeline == VK_NULL_HANDLE) {
        queue->timeline = pm_timeline_create(device, "counter readback");
        return queue->timeline != VK_NULL_HANDLE;
    }
    return true;
}

/* A copy that is not under way, complete but for its buffer; NULL: all are, or the driver refused.
 */
static struct pm_copy *free_copy(struct pm_queue *queue)
{
    struct pm_device *device = queue->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    struct pm_copy **slot = NULL;
    for (int i = 0; i < PM_QUEUE_COPIES && slot == NULL; i++) {
        if (queue->copies[i] == NULL || !queue->copies[i]->under_way)
            slot = &queue->copies[i];
    }
    if (slot == NULL || !prepare_queue(queue))
        return NULL;
    if (*slot == NULL)
        *slot = calloc(1, sizeof **slot);
    struct pm_copy *copy = *slot;
    if (copy == NULL)
        return NULL;
    copy->queue = queue;
    if (copy->commands == VK_NULL_HANDLE) {
        const VkCommandBufferAllocateInfo info = {
            .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
            .commandPool = queue->pool,
            .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
            .commandBufferCount = 1,
        };
        VkCommandBuffer commands;
        if (dispatch->AllocateCommandBuffers(device->handle, &info, &commands) != VK_SUCCESS)
            return NULL;
        if (device->set_loader_data(device->handle, commands) != VK_SUCCESS) {
            dispatch->FreeCommandBuffers(device->handle, queue->pool, 1, &commands);
            return NULL;
        }
        copy->commands = commands;
        pm_name_object(device, VK_OBJECT_TYPE_COMMAND_BUFFER, PM_KEY(commands), "counter readback");
    }
    if (queue->timeline == VK_NULL_HANDLE && copy->fence == VK_NULL_HANDLE) {
        const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
        if (dispatch->CreateFence(device->handle, &info, NULL, &copy->fence) != VK_SUCCESS)
            return NULL;
        pm_name_object(device, VK_OBJECT_TYPE_FENCE, PM_KEY(copy->fence), "counter readback");
    }
    return copy;
}

/* Fills the copy's entries from the dirty list, leaving the list as it is. *bytes: how many are to
 * be copied. false: out of memory. */
static bool list_entries(struct pm_queue *queue, struct pm_copy *copy, uint64_t *bytes)
{
    copy->entry_count = 0;
    *bytes = 0;
    if (copy->entry_capacity < queue->dirty_count) {
        struct pm_copy_entry *entries =
            realloc(copy->entries, queue->dirty_count * sizeof *entries);
        if (entries == NULL)
            return false;
        copy->entries = entries;
        copy->entry_capacity = queue->dirty_count;
    }
    for (uint32_t i = 0; i < queue->dirty_count; i++) {
        struct pm_variant *variant = queue->dirty[i];
        /* Its earlier copies on this queue may be under way: they come out in order. */
        bool data = !pm_count_elsewhere(queue, variant);
        copy->entries[copy->entry_count++] = (struct pm_copy_entry){
            .variant = variant,
            .offset = *bytes,
            .user_changes = variant->counted.user_changes,
            .data = data,
        };
        if (data)
            *bytes += variant->block.bytes;
    }
    return true;
}

static bool record(struct pm_queue *queue, struct pm_copy *copy)
{
    const struct pm_device_dispatch *dispatch = &queue->device->dispatch;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (dispatch->BeginCommandBuffer(copy->commands, &begin) != VK_SUCCESS)
        return false;
    /* lavapipe 22 leaves out a barrier that is the first command, as if the command buffers before
     * were through, while they still rasterize: copies then hold a part of what a call counted. So
     * there is a command before it, whose four bytes are copied over. */
    if (copy->host.buffer != VK_NULL_HANDLE)
        dispatch->CmdFillBuffer(copy->commands, copy->host.buffer, 0, sizeof(uint32_t), 0);
    const VkMemoryBarrier before = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    dispatch->CmdPipelineBarrier(copy->commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                 VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &before, 0, NULL, 0, NULL);
    for (uint32_t i = 0; i < copy->entry_count; i++) {
        const struct pm_copy_entry *entry = &copy->entries[i];
        const VkBufferCopy region = {
            .srcOffset = entry->variant->block.offset,
            .dstOffset = entry->offset,
            .size = entry->variant->block.bytes,
        };
        if (entry->data)
            dispatch->CmdCopyBuffer(copy->commands, pm_counters_buffer(queue->device->counters),
                                    copy->host.buffer, 1, &region);
    }
    /* To the host; and what follows on the queue counts only when the copy is through, so that it
     * holds whole calls. */
    const VkMemoryBarrier after = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    dispatch->CmdPipelineBarrier(copy->commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                 VK_PIPELINE_STAGE_HOST_BIT | VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0,
                                 1, &after, 0, NULL, 0, NULL);
    return dispatch->EndCommandBuffer(copy->commands) == VK_SUCCESS;
}

struct pm_copy *pm_copy_prepare(struct pm_queue *queue)
{
    struct pm_copy *copy = queue->dirty_count > 0 ? free_copy(queue) : NULL;
    uint64_t bytes;
    return copy != NULL && list_entries(queue, copy, &bytes) && reserve_buffer(copy, bytes) &&
                   record(queue, copy)
               ? copy
               : NULL;
}

bool pm_copy_submit(struct pm_copy *copy)
{
    struct pm_queue *queue = copy->queue;
    struct pm_device *device = queue->device;
    copy->value = queue->timeline_value + 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &copy->value,
    };
    bool timeline = queue->timeline != VK_NULL_HANDLE;
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = timeline ? &values : NULL,
        .commandBufferCount = 1,
        .pCommandBuffers = &copy->commands,
        .signalSemaphoreCount = timeline ? 1 : 0,
        .pSignalSemaphores = &queue->timeline,
    };
    VkResult result = device->dispatch.QueueSubmit(queue->handle, 1, &info, copy->fence);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    if (result != VK_SUCCESS)
        return false;
    queue->timeline_value = copy->value;
    return true;
}

VkResult pm_copy_result(const struct pm_copy *copy)
{
    const struct pm_queue *queue = copy->queue;
    const struct pm_device *device = queue->device;
    if (queue->timeline == VK_NULL_HANDLE)
        return device->dispatch.GetFenceStatus(device->handle, copy->fence);
    uint64_t value = 0;
    const VkResult result =
        device->dispatch.GetSemaphoreCounterValue(device->handle, queue->timeline, &value);
    return result == VK_SUCCESS && value < copy->value ? VK_NOT_READY : result;
}

void pm_copy_reuse(struct pm_copy *copy)
{
    const struct pm_device *device = copy->queue->device;
    if (copy->fence != VK_NULL_HANDLE)
        device->dispatch.ResetFences(device->handle, 1, &copy->fence);
    copy->under_way = false;
}

void pm_copies_release(struct pm_queue *queue)
{
    struct pm_device *device = queue->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    for (uint32_t i = 0; i < queue->dirty_count; i++)
        pm_variant_release(queue->dirty[i]);
    free(queue->dirty);
    for (int i = 0; i < PM_QUEUE_COPIES; i++) {
        struct pm_copy *copy = queue->copies[i];
        if (copy == NULL)
            continue;
        pm_mapped_buffer_destroy(device, &copy->host);
        if (copy->fence != VK_NULL_HANDLE)
            dispatch->DestroyFence(device->handle, copy->fence, NULL);
        free(copy->entries);
        free(copy);
    }
    if (queue->timeline != VK_NULL_HANDLE)
        dispatch->DestroySemaphore(device->handle, queue->timeline, NULL);
    if (queue->pool != VK_NULL_HANDLE)
        dispatch->DestroyCommandPool(device->handle, queue->pool, NULL);
}
