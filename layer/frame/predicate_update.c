#include "layer/frame/predicate_update.h"

#include "layer/core/device_lost.h"
#include "layer/core/object_name.h"
#include "layer/frame/predicated.h"
#include "layer/memory/predicates.h"
#include <stdlib.h>

/* Submissions that may be pending at a time, each with its update; while all are, words stay as
 * they are. */
enum { UPDATES = 16 };

/* Where command buffers read predicates, and these write them. */
#define READ_STAGE VK_PIPELINE_STAGE_CONDITIONAL_RENDERING_BIT_EXT
#define WRITE_STAGE VK_PIPELINE_STAGE_TRANSFER_BIT

struct update {
    VkCommandBuffer commands;
    VkFence fence;
    bool submitted; /* the fence says when it is through */
};

struct pm_predicate_updates {
    VkCommandPool pool;
    struct update updates[UPDATES];
    struct update *open; /* that is being recorded; NULL: none */
    uint64_t number;     /* of vkQueueSubmits; no other queue's is the same, and none 0 */
    /* recordings whose words change with the open one */
    struct pm_command **commands;
    uint32_t count, capacity;
};

static struct pm_predicate_updates *updates_of(struct pm_queue *queue)
{
    if (queue->updates != NULL)
        return queue->updates;
    struct pm_device *device = queue->device;
    struct pm_predicate_updates *updates = calloc(1, sizeof *updates);
    if (updates == NULL)
        return NULL;
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags =
            VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = queue->family,
    };
    if (device->dispatch.CreateCommandPool(device->handle, &info, NULL, &updates->pool) !=
        VK_SUCCESS) {
        free(updates);
        return NULL;
    }
    pm_name_object(device, VK_OBJECT_TYPE_COMMAND_POOL, PM_KEY(updates->pool), "predicates");
    updates->number = queue->index + 1;
    queue->updates = updates;
    return updates;
}

/* Whether the update has all that it needs, which is made when it is used first. */
static bool is_made(struct pm_device *device, struct pm_predicate_updates *updates,
                    struct update *update)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (update->fence == VK_NULL_HANDLE) {
        if (dispatch->CreateFence(device->handle, &fence, NULL, &update->fence) != VK_SUCCESS) {
            update->fence = VK_NULL_HANDLE;
            return false;
        }
        pm_name_object(device, VK_OBJECT_TYPE_FENCE, PM_KEY(update->fence), "predicates");
    }
    if (update->commands != VK_NULL_HANDLE)
        return true;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = updates->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands;
    if (dispatch->AllocateCommandBuffers(device->handle, &info, &commands) != VK_SUCCESS)
        return false;
    if (device->set_loader_data(device->handle, commands) != VK_SUCCESS) {
        dispatch->FreeCommandBuffers(device->handle, updates->pool, 1, &commands);
        return false;
    }
    pm_name_object(device, VK_OBJECT_TYPE_COMMAND_BUFFER, PM_KEY(commands), "predicates");
    update->commands = commands;
    return true;
}

/* One that is not pending; NULL: all are, or the driver refused. */
static struct update *free_update(struct pm_device *device, struct pm_predicate_updates *updates)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    for (int i = 0; i < UPDATES; i++) {
        struct update *update = &updates->updates[i];
        if (!is_made(device, updates, update))
            return NULL;
        if (!update->submitted)
            return update;
        if (dispatch->GetFenceStatus(device->handle, update->fence) != VK_SUCCESS)
            continue;
        if (dispatch->ResetFences(device->handle, 1, &update->fence) != VK_SUCCESS)
            return NULL;
        update->submitted = false;
        return update;
    }
    return NULL;
}

/* Earlier writes come before, and earlier reads; what an earlier command buffer reads is not what
 * this one writes. */
static bool begin(struct pm_device *device, const struct update *update)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (dispatch->BeginCommandBuffer(update->commands, &info) != VK_SUCCESS)
        return false;
    /* lavapipe 22 leaves out a barrier that is the first command (counts/copy.c). */
    dispatch->CmdFillBuffer(update->commands, pm_predicates_buffer(device->predicates),
                            PM_PREDICATE_SCRATCH, sizeof(uint32_t), 0);
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    dispatch->CmdPipelineBarrier(update->commands, READ_STAGE | WRITE_STAGE, WRITE_STAGE, 0, 1,
                                 &barrier, 0, NULL, 0, NULL);
    return true;
}

/* What is behind it reads what it wrote, and the next update writes after it. */
static bool end(struct pm_device *device, const struct update *update)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask =
            VK_ACCESS_CONDITIONAL_RENDERING_READ_BIT_EXT | VK_ACCESS_TRANSFER_WRITE_BIT,
    };
    dispatch->CmdPipelineBarrier(update->commands, WRITE_STAGE, READ_STAGE | WRITE_STAGE, 0, 1,
                                 &barrier, 0, NULL, 0, NULL);
    return dispatch->EndCommandBuffer(update->commands) == VK_SUCCESS;
}

/* The first call of the picks, from the given one on, and past the last of a block. */
static uint32_t block_of(const struct pm_picks *picks, uint32_t at)
{
    return at < picks->count ? picks->calls[at] / PM_PREDICATE_BLOCK : UINT32_MAX;
}

/* Writes the blocks in which a word is 1 or becomes so. */
static void write_words(struct pm_device *device, const struct update *update,
                        const struct pm_predicated *predicated)
{
    const struct pm_picks *before = &predicated->picked, *after = &predicated->next;
    uint32_t i = 0, j = 0;
    while (i < before->count || j < after->count) {
        const uint32_t a = block_of(before, i), b = block_of(after, j), block = a < b ? a : b;
        uint32_t words[PM_PREDICATE_BLOCK] = {0};
        while (block_of(before, i) == block)
            i++;
        while (block_of(after, j) == block)
            words[after->calls[j++] % PM_PREDICATE_BLOCK] = 1;
        device->dispatch.CmdUpdateBuffer(update->commands, pm_predicates_buffer(device->predicates),
                                         predicated->blocks[block], sizeof words, words);
    }
}

static bool remember(struct pm_predicate_updates *updates, struct pm_command *command)
{
    if (updates->count == updates->capacity) {
        const uint32_t capacity = updates->capacity > 0 ? updates->capacity * 2 : 8;
        struct pm_command **commands =
            realloc(updates->commands, capacity * sizeof(struct pm_command *));
        if (commands == NULL)
            return false;
        updates->commands = commands;
        updates->capacity = capacity;
    }
    updates->commands[updates->count++] = command;
    return true;
}

static bool is_open(struct pm_device *device, struct pm_predicate_updates *updates)
{
    if (updates->open != NULL)
        return true;
    struct update *update = free_update(device, updates);
    if (update == NULL || !begin(device, update))
        return false;
    updates->open = update;
    return true;
}

void pm_predicate_update_add(struct pm_queue *queue, struct pm_command *command)
{
    struct pm_predicated *predicated = command->predicated;
    struct pm_device *device = queue->device;
    const bool elsewhere = predicated->written != 0 && predicated->written != queue->index + 1;
    if (predicated->picked.count == 0 && !elsewhere && !pm_sampling_is_on(device->sampling))
        return;
    struct pm_predicate_updates *updates = updates_of(queue);
    if (updates == NULL || predicated->update == updates->number)
        return;
    predicated->update = updates->number;
    pm_predicated_pick(command);
    const bool changes = predicated->picked.count > 0 || predicated->next.count > 0;
    if ((!changes && !elsewhere) || !is_open(device, updates))
        return;
    if (changes && remember(updates, command)) {
        pm_predicated_allow(command);
        write_words(device, updates->open, predicated);
    }
    predicated->written = queue->index + 1;
}

void pm_predicate_update_submit(struct pm_queue *queue)
{
    struct pm_predicate_updates *updates = queue->updates;
    if (updates == NULL)
        return;
    updates->number += PM_QUEUES;
    struct update *update = updates->open;
    if (update == NULL)
        return;
    struct pm_device *device = queue->device;
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &update->commands,
    };
    VkResult result = end(device, update) ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS)
        result = device->dispatch.QueueSubmit(queue->handle, 1, &info, update->fence);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    update->submitted = result == VK_SUCCESS;
    for (uint32_t i = 0; i < updates->count; i++) {
        if (update->submitted)
            pm_predicated_picked(updates->commands[i]);
        else
            pm_predicated_not_picked(updates->commands[i]);
    }
    updates->open = NULL;
    updates->count = 0;
}

void pm_predicate_update_release(struct pm_queue *queue)
{
    struct pm_predicate_updates *updates = queue->updates;
    if (updates == NULL)
        return;
    const struct pm_device *device = queue->device;
    for (int i = 0; i < UPDATES; i++) {
        if (updates->updates[i].fence != VK_NULL_HANDLE)
            device->dispatch.DestroyFence(device->handle, updates->updates[i].fence, NULL);
    }
    device->dispatch.DestroyCommandPool(device->handle, updates->pool, NULL);
    free(updates->commands);
    free(updates);
    queue->updates = NULL;
}
