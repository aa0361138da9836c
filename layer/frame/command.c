#include "layer/frame/command.h"

#include "layer/hooks/hooks.h"
#include "layer/trial/ab.h"
#include <stdlib.h>

/* The recording, if there is one, is over or given up: stops following it and lets go of its
 * variants. Vulkan allows what leads here only when the GPU is done with the command buffer. */
static void drop_recording(struct pm_command *command)
{
    struct pm_sampling *sampling = command->device->sampling;
    command->countdown = PM_NEVER;
    command->trying = false;
    if (command->chosen) {
        command->chosen = false;
        pm_sampling_end(sampling);
    }
    pm_timing_drop(command);
    if (command->use_count == 0)
        return;
    for (uint32_t i = 0; i < command->use_count; i++)
        pm_variant_release(command->uses[i].variant);
    command->use_count = 0;
    atomic_fetch_sub(&sampling->tracked, 1);
}

static void unlink_command(struct pm_command *command)
{
    if (command->previous != NULL)
        command->previous->next = command->next;
    else
        command->pool->first = command->next;
    if (command->next != NULL)
        command->next->previous = command->previous;
}

static void free_command(struct pm_command *command)
{
    drop_recording(command);
    free(command->uses);
    free(command);
}

static struct pm_command_pool *pool_of(struct pm_sampling *sampling, VkCommandPool handle)
{
    return sampling != NULL && handle != VK_NULL_HANDLE
               ? pm_lookup_find(&sampling->pools, PM_KEY(handle))
               : NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_CreateCommandPool(VkDevice handle,
                                                    const VkCommandPoolCreateInfo *info,
                                                    const VkAllocationCallbacks *allocator,
                                                    VkCommandPool *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.CreateCommandPool(handle, info, allocator, out);
    if (result != VK_SUCCESS || device->sampling == NULL)
        return result;
    /* Without a record the pool's buffers are unknown and pass through. */
    struct pm_command_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return result;
    pool->handle = *out;
    pool->family = info->queueFamilyIndex;
    pool->is_protected = (info->flags & VK_COMMAND_POOL_CREATE_PROTECTED_BIT) != 0;
    if (pool->is_protected)
        atomic_store_explicit(&device->sampling->careful, true, memory_order_relaxed);
    if (!pm_lookup_put(&device->sampling->pools, PM_KEY(*out), pool))
        free(pool);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_DestroyCommandPool(VkDevice handle, VkCommandPool pool_handle,
                                                 const VkAllocationCallbacks *allocator)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command_pool *pool = pool_of(device->sampling, pool_handle);
    if (pool != NULL) {
        /* Before the driver may give the handles to someone else. */
        pm_lookup_remove(&device->sampling->pools, PM_KEY(pool_handle));
        for (struct pm_command *command = pool->first; command != NULL; command = command->next)
            pm_lookup_remove(&device->sampling->commands, PM_KEY(command->handle));
    }
    device->dispatch.DestroyCommandPool(handle, pool_handle, allocator);
    if (pool == NULL)
        return;
    for (struct pm_command *command = pool->first, *next; command != NULL; command = next) {
        next = command->next;
        free_command(command);
    }
    free(pool);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_ResetCommandPool(VkDevice handle, VkCommandPool pool_handle,
                                                   VkCommandPoolResetFlags flags)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.ResetCommandPool(handle, pool_handle, flags);
    struct pm_sampling *sampling = device->sampling;
    /* A buffer of this pool can only have something to drop when there is something at all. */
    if (result != VK_SUCCESS || sampling == NULL ||
        (atomic_load(&sampling->tracked) == 0 && atomic_load(&sampling->recording) == 0))
        return result;
    struct pm_command_pool *pool = pool_of(sampling, pool_handle);
    for (struct pm_command *command = pool != NULL ? pool->first : NULL; command != NULL;
         command = command->next)
        drop_recording(command);
    return result;
}

static void add_command(struct pm_device *device, struct pm_command_pool *pool,
                        VkCommandBuffer handle, bool secondary)
{
    struct pm_command *command = calloc(1, sizeof *command);
    if (command == NULL)
        return;
    command->countdown = PM_NEVER;
    command->timings = PM_TIMING_NONE;
    command->device = device;
    command->handle = handle;
    command->pool = pool;
    command->secondary = secondary;
    if (!pm_lookup_put(&device->sampling->commands, PM_KEY(handle), command)) {
        free(command);
        return;
    }
    command->next = pool->first;
    if (pool->first != NULL)
        pool->first->previous = command;
    pool->first = command;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_AllocateCommandBuffers(VkDevice handle,
                                                         const VkCommandBufferAllocateInfo *info,
                                                         VkCommandBuffer *out)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.AllocateCommandBuffers(handle, info, out);
    struct pm_command_pool *pool = pool_of(device->sampling, info->commandPool);
    if (result != VK_SUCCESS || pool == NULL)
        return result;
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        add_command(device, pool, out[i], info->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    return result;
}

VKAPI_ATTR void VKAPI_CALL pm_FreeCommandBuffers(VkDevice handle, VkCommandPool pool_handle,
                                                 uint32_t count, const VkCommandBuffer *buffers)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_command *freed = NULL;
    for (uint32_t i = 0; device->sampling != NULL && i < count; i++) {
        struct pm_command *command = NULL;
        if (buffers[i] != VK_NULL_HANDLE)
            command = pm_lookup_remove(&device->sampling->commands, PM_KEY(buffers[i]));
        if (command != NULL) {
            unlink_command(command);
            command->next = freed;
            freed = command;
        }
    }
    device->dispatch.FreeCommandBuffers(handle, pool_handle, count, buffers);
    for (struct pm_command *command = freed, *next; command != NULL; command = next) {
        next = command->next;
        free_command(command);
    }
}

/* Whether a recording that begins may be timed. One that is repeated as it is cannot alternate. */
static bool takes_part(const struct pm_command *command, bool may_repeat)
{
    const struct pm_device *device = command->device;
    return device->trials != NULL && pm_sampling_is_trying(device->sampling) &&
           !command->secondary && !may_repeat && !command->pool->is_protected &&
           pm_timing_is_possible(device->timing, command->pool->family);
}

static void begin_recording(struct pm_command *command, const VkCommandBufferBeginInfo *info)
{
    struct pm_sampling *sampling = command->device->sampling;
    uint32_t submits = atomic_load_explicit(&command->submits, memory_order_relaxed);
    bool may_repeat = (info->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) == 0 &&
                      (!command->begun || submits > 1);
    atomic_store_explicit(&command->submits, 0, memory_order_relaxed);
    command->begun = true;
    command->obstacles = command->pool->is_protected ? PM_OBSTACLE_PROTECTED : 0;
    if (command->secondary && info->pInheritanceInfo != NULL &&
        info->pInheritanceInfo->pipelineStatistics != 0)
        command->obstacles |= PM_OBSTACLE_INHERITED_QUERY;
    command->active_queries = 0;
    command->scene = PM_SCENE_NONE;
    for (int i = 0; i < PM_BIND_POINTS; i++) {
        command->bound[i] = VK_NULL_HANDLE;
        command->pipeline[i] = NULL;
    }
    command->pass = (struct pm_pass){.measurement = PM_TIMING_NONE};
    command->once = (info->flags & VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT) != 0;
    const bool sampled = pm_sampling_begin(sampling, may_repeat);
    const bool awaited =
        takes_part(command, may_repeat) && (sampled || pm_sampling_follow(sampling));
    if (!sampled && !awaited)
        return;
    if (command->random.state[0] == 0 && command->random.state[1] == 0)
        pm_random_init(&command->random, pm_sampling_seed(sampling));
    command->chosen = true;
    /* One thing at a time: what is sampled takes longer. */
    command->trying = awaited && (!sampled || (pm_random_next(&command->random) & 1) != 0);
    command->countdown =
        command->trying ? PM_NEVER : pm_geometric(&command->random, sampling->probability);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_BeginCommandBuffer(VkCommandBuffer handle,
                                                     const VkCommandBufferBeginInfo *info)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.BeginCommandBuffer(handle, info);
    struct pm_command *command =
        device->sampling != NULL ? pm_command_of(device->sampling, handle) : NULL;
    if (command == NULL)
        return result;
    drop_recording(command);
    pm_ab_recording(device->ab);
    if (result == VK_SUCCESS)
        begin_recording(command, info);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL pm_EndCommandBuffer(VkCommandBuffer handle)
{
    struct pm_device *device = pm_device_of(handle);
    struct pm_sampling *sampling = device->sampling;
    if (sampling != NULL && atomic_load_explicit(&sampling->recording, memory_order_relaxed) != 0) {
        struct pm_command *command = pm_command_of(sampling, handle);
        if (command != NULL && command->chosen) {
            command->chosen = false;
            command->trying = false;
            command->countdown = PM_NEVER;
            pm_sampling_end(sampling);
        }
    }
    return device->dispatch.EndCommandBuffer(handle);
}

VKAPI_ATTR VkResult VKAPI_CALL pm_ResetCommandBuffer(VkCommandBuffer handle,
                                                     VkCommandBufferResetFlags flags)
{
    struct pm_device *device = pm_device_of(handle);
    VkResult result = device->dispatch.ResetCommandBuffer(handle, flags);
    struct pm_command *command =
        device->sampling != NULL ? pm_command_of(device->sampling, handle) : NULL;
    if (command != NULL && result == VK_SUCCESS)
        drop_recording(command);
    return result;
}

static void free_pool(void *user, void *value)
{
    (void)user;
    struct pm_command_pool *pool = value;
    for (struct pm_command *command = pool->first, *next; command != NULL; command = next) {
        next = command->next;
        free_command(command);
    }
    free(pool);
}

void pm_commands_destroy(struct pm_sampling *sampling)
{
    pm_lookup_each(&sampling->pools, free_pool, NULL);
}
