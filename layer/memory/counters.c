#include "layer/memory/counters.h"

#include "layer/core/lookup.h"
#include "layer/core/object_name.h"
#include "layer/memory/device_buffer.h"
#include "layer/memory/ranges.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT UINT64_C(64)
#define CLEAR_TIMEOUT UINT64_C(1000000000) /* nanoseconds */

#define HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

struct pm_counters {
    struct pm_device *device;
    struct pm_device_buffer
        buffer;            /* without a map it is not host-visible, and cleared by the GPU */
    uint64_t bytes, first; /* first: the first offset that may be used */
    uint64_t *seen;
    pthread_mutex_t lock; /* all below */
    struct pm_range *free;
    uint64_t unused; /* all from this offset on was never handed out: it is zero, and `seen` says
                        nothing of it */
    bool named;
    /* of the GPU's clearing; null once it is done */
    VkCommandPool pool;
    VkFence cleared;
};

static bool create_buffer(struct pm_counters *counters, struct pm_error *error)
{
    static const VkMemoryPropertyFlags preferred[] = {
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | HOST,
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        HOST,
    };
    const struct pm_device_buffer_info info = {
        .what = "counters",
        .bytes = counters->bytes,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .preferred = preferred,
        .preferred_count = sizeof preferred / sizeof preferred[0],
        .mapped = true,
    };
    return pm_device_buffer_create(counters->device, &info, &counters->buffer, error);
}

/* The first of the queues that can clear; VK_NULL_HANDLE: the driver gives none. */
static VkQueue clear_queue(const struct pm_device *device)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkDeviceQueueInfo2 info = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
                                     .flags = device->clear_flags,
                                     .queueFamilyIndex = device->clear_family};
    VkQueue queue = VK_NULL_HANDLE;
    if (info.flags == 0)
        dispatch->GetDeviceQueue(device->handle, info.queueFamilyIndex, 0, &queue);
    else if (dispatch->GetDeviceQueue2 != NULL)
        dispatch->GetDeviceQueue2(device->handle, &info, &queue);
    return queue;
}

/* Clears memory that the host cannot reach. This happens inside vkCreateDevice, when nobody else
 * can have a queue; nothing waits for it, blocks are handed out once it is done. */
static bool clear(struct pm_counters *counters, struct pm_error *error)
{
    struct pm_device *device = counters->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    VkDevice handle = device->handle;
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = device->clear_family,
    };
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkResult result = dispatch->CreateCommandPool(handle, &pool_info, NULL, &counters->pool);
    if (result == VK_SUCCESS)
        result = dispatch->CreateFence(handle, &fence_info, NULL, &counters->cleared);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = counters->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands = VK_NULL_HANDLE;
    if (result == VK_SUCCESS)
        result = dispatch->AllocateCommandBuffers(handle, &allocate, &commands);
    if (result == VK_SUCCESS)
        result = device->set_loader_data(handle, commands);
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (result == VK_SUCCESS)
        result = dispatch->BeginCommandBuffer(commands, &begin);
    if (result != VK_SUCCESS)
        return pm_fail(error, PM_ERROR_DEVICE, "counters cannot be cleared (VkResult %d)", result);
    dispatch->CmdFillBuffer(commands, counters->buffer.buffer, 0, VK_WHOLE_SIZE, 0);
    /* Other queues find it cleared because they are given blocks only after the fence was seen. */
    result = dispatch->EndCommandBuffer(commands);
    const VkQueue queue = clear_queue(device);
    if (result == VK_SUCCESS)
        result = queue != VK_NULL_HANDLE ? VK_SUCCESS : VK_ERROR_INITIALIZATION_FAILED;
    if (result == VK_SUCCESS)
        result = device->set_loader_data(handle, queue);
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    if (result == VK_SUCCESS)
        result = dispatch->QueueSubmit(queue, 1, &submit, counters->cleared);
    if (result != VK_SUCCESS)
        return pm_fail(error, PM_ERROR_DEVICE, "counters cannot be cleared (VkResult %d)", result);
    return true;
}

struct pm_counters *pm_counters_create(struct pm_device *device, struct pm_error *error)
{
    struct pm_counters *counters = calloc(1, sizeof *counters);
    if (counters == NULL) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for counters");
        return NULL;
    }
    counters->device = device;
    pthread_mutex_init(&counters->lock, NULL);
    counters->bytes = (uint64_t)device->instance->config.limits.counter_memory_mib << 20;
    /* Not zero yet, for which memory that the game has freed before would have to be written. */
    counters->seen = counters->bytes <= PTRDIFF_MAX ? malloc((size_t)counters->bytes) : NULL;
    if (counters->bytes == 0 || counters->seen == NULL) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for counters");
        goto failed;
    }
    if (!create_buffer(counters, error))
        goto failed;
    if (counters->buffer.map == NULL && !clear(counters, error))
        goto failed;
    /* The buffer's alignment is at least that of its memory; blocks need 64 bytes in the address
     * itself. */
    counters->first = (ALIGNMENT - counters->buffer.address % ALIGNMENT) % ALIGNMENT;
    pm_ranges_give(&counters->free, counters->first,
                   (counters->bytes - counters->first) & ~(ALIGNMENT - 1));
    return counters;

failed:
    pm_counters_destroy(counters);
    return NULL;
}

/* Under the lock, or when no other thread is left. Waits only where the caller may. */
static bool is_cleared(struct pm_counters *counters, bool wait)
{
    struct pm_device *device = counters->device;
    if (counters->cleared == VK_NULL_HANDLE)
        return true;
    if (wait)
        device->dispatch.WaitForFences(device->handle, 1, &counters->cleared, VK_TRUE,
                                       CLEAR_TIMEOUT);
    if (device->dispatch.GetFenceStatus(device->handle, counters->cleared) != VK_SUCCESS)
        return false;
    device->dispatch.DestroyFence(device->handle, counters->cleared, NULL);
    device->dispatch.DestroyCommandPool(device->handle, counters->pool, NULL);
    counters->cleared = VK_NULL_HANDLE;
    counters->pool = VK_NULL_HANDLE;
    return true;
}

void pm_counters_destroy(struct pm_counters *counters)
{
    if (counters == NULL)
        return;
    struct pm_device *device = counters->device;
    is_cleared(counters, true);
    if (counters->cleared != VK_NULL_HANDLE)
        device->dispatch.DestroyFence(device->handle, counters->cleared, NULL);
    if (counters->pool != VK_NULL_HANDLE)
        device->dispatch.DestroyCommandPool(device->handle, counters->pool, NULL);
    pm_device_buffer_destroy(device, &counters->buffer);
    pm_ranges_finish(&counters->free);
    free(counters->seen);
    pthread_mutex_destroy(&counters->lock);
    free(counters);
}

/* For debuggers. Not when the objects are made: the loader drops names that are given inside
 * vkCreateDevice. Under the lock. */
static void name_objects(struct pm_counters *counters)
{
    struct pm_device *device = counters->device;
    counters->named = true;
    pm_name_object(device, VK_OBJECT_TYPE_BUFFER, PM_KEY(counters->buffer.buffer), "counters");
    pm_name_object(device, VK_OBJECT_TYPE_DEVICE_MEMORY, PM_KEY(counters->buffer.memory),
                   "counters");
    if (counters->pool != VK_NULL_HANDLE)
        pm_name_object(device, VK_OBJECT_TYPE_COMMAND_POOL, PM_KEY(counters->pool),
                       "counter clearing");
    if (counters->cleared != VK_NULL_HANDLE)
        pm_name_object(device, VK_OBJECT_TYPE_FENCE, PM_KEY(counters->cleared), "counter clearing");
}

/* Under the lock. */
static bool take(struct pm_counters *counters, uint64_t bytes, bool zero, uint64_t *offset)
{
    const uint64_t from = zero && counters->buffer.map == NULL ? counters->unused : 0;
    if (!pm_ranges_take(&counters->free, from, bytes, offset))
        return false;
    const uint64_t end = *offset + bytes;
    if (counters->unused < end) {
        memset(counters->seen + counters->unused / 8, 0, (size_t)(end - counters->unused));
        counters->unused = end;
    }
    return true;
}

bool pm_counters_allocate(struct pm_counters *counters, uint64_t bytes, bool zero,
                          struct pm_counter_block *block, struct pm_error *error)
{
    if (bytes == 0 || bytes > counters->bytes)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "%" PRIu64 " bytes of counters do not fit",
                       bytes);
    bytes = (bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    pthread_mutex_lock(&counters->lock);
    if (!counters->named)
        name_objects(counters);
    bool cleared = is_cleared(counters, counters->device->instance->config.debug.synchronous);
    uint64_t offset = 0;
    bool taken = cleared && take(counters, bytes, zero, &offset);
    pthread_mutex_unlock(&counters->lock);
    if (!cleared)
        return pm_fail(error, PM_ERROR_STATE, "counter memory is not cleared yet");
    if (!taken && zero && counters->buffer.map == NULL)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "counter memory that is still zero is used up");
    if (!taken)
        return pm_fail(error, PM_ERROR_LIMIT, "counter memory is used up");
    if (counters->buffer.map != NULL) {
        memset((unsigned char *)counters->buffer.map + offset, 0, (size_t)bytes);
        memset(counters->seen + offset / 8, 0, (size_t)bytes);
    }
    *block = (struct pm_counter_block){counters->buffer.address + offset, offset, bytes};
    return true;
}

void pm_counters_free(struct pm_counters *counters, const struct pm_counter_block *block)
{
    if (block->bytes == 0)
        return;
    pthread_mutex_lock(&counters->lock);
    pm_ranges_give(&counters->free, block->offset, block->bytes);
    pthread_mutex_unlock(&counters->lock);
}

VkBuffer pm_counters_buffer(const struct pm_counters *counters)
{
    return counters->buffer.buffer;
}

uint64_t *pm_counters_seen(struct pm_counters *counters, uint64_t offset)
{
    return counters->seen + offset / 8;
}
