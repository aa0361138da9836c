#include "layer/memory/counters.h"

#include "layer/core/lookup.h"
#include "layer/core/object_name.h"
#include "layer/memory/ranges.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT UINT64_C(64)
#define CLEAR_TIMEOUT UINT64_C(1000000000) /* nanoseconds */

#define HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

struct pm_counters {
    struct pm_device *device;
    VkBuffer buffer;
    VkDeviceMemory memory;
    unsigned char *map; /* NULL: not host-visible, and cleared by the GPU */
    VkDeviceAddress address;
    uint64_t bytes, first; /* first: the first offset that may be used */
    uint64_t *seen;
    pthread_mutex_t lock; /* all below */
    struct pm_range *free;
    bool named;
    /* of the GPU's clearing; null once it is done */
    VkCommandPool pool;
    VkFence cleared;
};

static uint32_t memory_type(const struct pm_device *device, uint32_t allowed,
                            VkMemoryPropertyFlags wanted)
{
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
        if ((allowed & (1u << i)) != 0 &&
            (device->memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    }
    return UINT32_MAX;
}

static bool create_buffer(struct pm_counters *counters, struct pm_error *error)
{
    struct pm_device *device = counters->device;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = counters->bytes,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
        .sharingMode =
            device->queue_family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = device->queue_family_count,
        .pQueueFamilyIndices = device->queue_families,
    };
    VkResult result = device->dispatch.CreateBuffer(device->handle, &info, NULL, &counters->buffer);
    if (result != VK_SUCCESS)
        return pm_fail(error, PM_ERROR_DEVICE, "no buffer for counters (VkResult %d)", result);
    return true;
}

static bool allocate(struct pm_counters *counters, uint32_t type, uint64_t bytes, VkResult *result)
{
    struct pm_device *device = counters->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = bytes,
        .memoryTypeIndex = type,
    };
    *result = dispatch->AllocateMemory(device->handle, &info, NULL, &counters->memory);
    if (*result != VK_SUCCESS)
        return false;
    void *map = NULL;
    if ((device->memory.memoryTypes[type].propertyFlags & HOST) == HOST)
        *result = dispatch->MapMemory(device->handle, counters->memory, 0, VK_WHOLE_SIZE, 0, &map);
    if (*result == VK_SUCCESS) {
        counters->map = map;
        return true;
    }
    dispatch->FreeMemory(device->handle, counters->memory, NULL);
    counters->memory = VK_NULL_HANDLE;
    return false;
}

static bool allocate_memory(struct pm_counters *counters, struct pm_error *error)
{
    static const VkMemoryPropertyFlags preferred[] = {
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | HOST,
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        HOST,
    };
    struct pm_device *device = counters->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    VkMemoryRequirements needs;
    dispatch->GetBufferMemoryRequirements(device->handle, counters->buffer, &needs);
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    bool found = false;
    for (size_t i = 0; !found && i < sizeof preferred / sizeof preferred[0]; i++) {
        const uint32_t type = memory_type(device, needs.memoryTypeBits, preferred[i]);
        found = type != UINT32_MAX && allocate(counters, type, needs.size, &result);
    }
    if (!found)
        return pm_fail(error, PM_ERROR_DEVICE, "no memory for counters (VkResult %d)", result);
    result = dispatch->BindBufferMemory(device->handle, counters->buffer, counters->memory, 0);
    if (result != VK_SUCCESS)
        return pm_fail(error, PM_ERROR_DEVICE, "counters cannot be bound (VkResult %d)", result);
    return true;
}

static void free_memory(struct pm_counters *counters)
{
    struct pm_device *device = counters->device;
    if (counters->buffer != VK_NULL_HANDLE)
        device->dispatch.DestroyBuffer(device->handle, counters->buffer, NULL);
    if (counters->memory != VK_NULL_HANDLE)
        device->dispatch.FreeMemory(device->handle, counters->memory, NULL);
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
    dispatch->CmdFillBuffer(commands, counters->buffer, 0, VK_WHOLE_SIZE, 0);
    /* Other queues find it cleared because they are given blocks only after the fence was seen. */
    result = dispatch->EndCommandBuffer(commands);
    VkQueue queue = VK_NULL_HANDLE;
    dispatch->GetDeviceQueue(handle, device->clear_family, 0, &queue);
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
    counters->seen = calloc((size_t)(counters->bytes / 8), 8); /* bytes: 4 GiB at most */
    if (counters->bytes == 0 || counters->seen == NULL) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for counters");
        goto failed;
    }
    if (!create_buffer(counters, error) || !allocate_memory(counters, error))
        goto failed;
    if (counters->map == NULL && !clear(counters, error))
        goto failed;
    const VkBufferDeviceAddressInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = counters->buffer,
    };
    counters->address = device->dispatch.GetBufferDeviceAddress(device->handle, &info);
    /* The buffer's alignment is at least that of its memory; blocks need 64 bytes in the address
     * itself. */
    counters->first = (ALIGNMENT - counters->address % ALIGNMENT) % ALIGNMENT;
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
    free_memory(counters);
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
    pm_name_object(device, VK_OBJECT_TYPE_BUFFER, PM_KEY(counters->buffer), "counters");
    pm_name_object(device, VK_OBJECT_TYPE_DEVICE_MEMORY, PM_KEY(counters->memory), "counters");
    if (counters->pool != VK_NULL_HANDLE)
        pm_name_object(device, VK_OBJECT_TYPE_COMMAND_POOL, PM_KEY(counters->pool),
                       "counter clearing");
    if (counters->cleared != VK_NULL_HANDLE)
        pm_name_object(device, VK_OBJECT_TYPE_FENCE, PM_KEY(counters->cleared), "counter clearing");
}

bool pm_counters_allocate(struct pm_counters *counters, uint64_t bytes,
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
    bool taken = cleared && pm_ranges_take(&counters->free, bytes, &offset);
    pthread_mutex_unlock(&counters->lock);
    if (!cleared)
        return pm_fail(error, PM_ERROR_STATE, "counter memory is not cleared yet");
    if (!taken)
        return pm_fail(error, PM_ERROR_LIMIT, "counter memory is used up");
    if (counters->map != NULL) {
        memset(counters->map + offset, 0, (size_t)bytes);
        memset(counters->seen + offset / 8, 0, (size_t)bytes);
    }
    *block = (struct pm_counter_block){counters->address + offset, offset, bytes};
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
    return counters->buffer;
}

uint64_t *pm_counters_seen(struct pm_counters *counters, uint64_t offset)
{
    return counters->seen + offset / 8;
}
