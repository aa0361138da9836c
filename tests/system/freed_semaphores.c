/*
 * A program for freed_semaphores.sh: timeline semaphores, each used by a submission and destroyed
 * as soon as that submission's fence is signaled, as a game may. They are allocated by the program,
 * which keeps what was freed, and says of how many the driver wrote to it later.
 *
 * usage: freed_semaphores ROUNDS signals|waits|binds
 *
 * signals: the submission signals the semaphore. waits: it waits for it, and the submission that
 * signals it has no fence. binds: as signals, but it is one of vkQueueBindSparse, without a bind.
 */
#include "tests/gpu/gpu_private.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was allocated. */
struct block {
    struct block *next; /* NULL: the first one */
    void *freed;        /* as it was then; NULL: it was not freed */
    size_t size;        /* bytes */
    alignas(max_align_t) unsigned char bytes[];
};

static void *allocate(void *user, size_t size, size_t alignment, VkSystemAllocationScope scope)
{
    (void)scope;
    struct block **last = user, *block = calloc(1, sizeof *block + size);
    if (block == NULL || alignment > alignof(max_align_t))
        return NULL;
    block->next = *last;
    block->size = size;
    *last = block;
    return block->bytes;
}

static void keep(void *user, void *memory)
{
    (void)user;
    if (memory == NULL)
        return;
    struct block *block = (void *)((unsigned char *)memory - offsetof(struct block, bytes));
    block->freed = malloc(block->size);
    memcpy(block->freed, memory, block->size);
}

static void *allocate_again(void *user, void *memory, size_t size, size_t alignment,
                            VkSystemAllocationScope scope)
{
    (void)user, (void)memory, (void)size, (void)alignment, (void)scope;
    return NULL;
}

/* What is submitted, and by which of vkQueueSubmit and vkQueueSubmit2. */
struct round {
    const struct pm_gpu *gpu;
    VkCommandBuffer commands;
    VkSemaphore semaphore;
    bool second;
};

static void submit(const struct round *round, bool waits, VkFence fence)
{
    static const uint64_t value = 1;
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = waits,
        .pWaitSemaphoreValues = &value,
        .signalSemaphoreValueCount = !waits,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = waits,
        .pWaitSemaphores = &round->semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &round->commands,
        .signalSemaphoreCount = !waits,
        .pSignalSemaphores = &round->semaphore,
    };
    CHECK(vkQueueSubmit(round->gpu->queue, 1, &info, fence));
}

static void submit2(const struct round *round, bool waits, VkFence fence)
{
    const VkCommandBufferSubmitInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = round->commands,
    };
    const VkSemaphoreSubmitInfo point = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = round->semaphore,
        .value = 1,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .waitSemaphoreInfoCount = waits,
        .pWaitSemaphoreInfos = &point,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &buffer,
        .signalSemaphoreInfoCount = !waits,
        .pSignalSemaphoreInfos = &point,
    };
    CHECK(vkQueueSubmit2(round->gpu->queue, 1, &info, fence));
}

static void by_either(const struct round *round, bool waits, VkFence fence)
{
    (round->second ? submit2 : submit)(round, waits, fence);
}

static void use_signals(const struct round *round, VkFence fence)
{
    by_either(round, false, fence);
}

static void use_waits(const struct round *round, VkFence fence)
{
    by_either(round, false, VK_NULL_HANDLE);
    by_either(round, true, fence);
}

static void use_binds(const struct round *round, VkFence fence)
{
    static const uint64_t value = 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
        .pNext = &values,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &round->semaphore,
    };
    CHECK(vkQueueBindSparse(round->gpu->queue, 1, &info, fence));
}

typedef void (*use_fn)(const struct round *round, VkFence fence);

/* NULL: there is no such. */
static use_fn use_of(const char *name)
{
    static const struct {
        const char *name;
        use_fn use;
    } uses[] = {{"signals", use_signals}, {"waits", use_waits}, {"binds", use_binds}};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (strcmp(name, uses[i].name) == 0)
            return uses[i].use;
    return NULL;
}

/* Of an empty buffer the driver is done soonest: the worst case. */
static VkCommandBuffer empty_commands(const struct pm_gpu *gpu)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = gpu->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(gpu->device, &info, &commands));
    CHECK(vkBeginCommandBuffer(commands, &begin));
    CHECK(vkEndCommandBuffer(commands));
    return commands;
}

/* Of how many semaphores the driver wrote to what was freed; frees all. */
static int count_written(struct block *blocks)
{
    int written = 0;
    while (blocks != NULL) {
        struct block *block = blocks;
        blocks = block->next;
        written += block->freed != NULL && memcmp(block->freed, block->bytes, block->size) != 0;
        free(block->freed);
        free(block);
    }
    return written;
}

int main(int argc, char **argv)
{
    const int rounds = argc == 3 ? atoi(argv[1]) : 0;
    const use_fn use = argc == 3 ? use_of(argv[2]) : NULL;
    if (rounds <= 0 || use == NULL) {
        fputs("usage: freed_semaphores ROUNDS signals|waits|binds\n", stderr);
        return 2;
    }
    struct block *blocks = NULL;
    const VkAllocationCallbacks allocator = {.pUserData = &blocks,
                                             .pfnAllocation = allocate,
                                             .pfnReallocation = allocate_again,
                                             .pfnFree = keep};
    static struct pm_gpu gpu;
    pm_gpu_create(&gpu);
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    CHECK(vkCreateFence(gpu.device, &fence_info, NULL, &fence));
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    struct round round = {.gpu = &gpu, .commands = empty_commands(&gpu)};
    for (int i = 0; i < rounds; i++) {
        CHECK(vkCreateSemaphore(gpu.device, &info, &allocator, &round.semaphore));
        use(&round, fence);
        CHECK(vkWaitForFences(gpu.device, 1, &fence, VK_TRUE, UINT64_MAX));
        vkDestroySemaphore(gpu.device, round.semaphore, &allocator);
        CHECK(vkResetFences(gpu.device, 1, &fence));
        round.second = !round.second;
    }
    vkDestroyFence(gpu.device, fence, NULL);
    pm_gpu_destroy(&gpu);
    printf("%d of %d semaphores were written to after they were freed\n", count_written(blocks),
           rounds);
    return 0;
}
