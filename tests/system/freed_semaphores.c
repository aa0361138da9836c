/*
 * A program for freed_semaphores.sh: timeline semaphores, each signaled by one submission and
 * destroyed as soon as that submission's fence is signaled, as a game may. They are allocated by
 * the program, which keeps what was freed, and says of how many the driver wrote to it later.
 *
 * usage: freed_semaphores ROUNDS
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

static void submit(const struct pm_gpu *gpu, VkCommandBuffer commands, VkSemaphore semaphore,
                   VkFence fence)
{
    const uint64_t value = 1;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &semaphore,
    };
    CHECK(vkQueueSubmit(gpu->queue, 1, &info, fence));
}

static void submit2(const struct pm_gpu *gpu, VkCommandBuffer commands, VkSemaphore semaphore,
                    VkFence fence)
{
    const VkCommandBufferSubmitInfo buffer = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
        .commandBuffer = commands,
    };
    const VkSemaphoreSubmitInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
        .semaphore = semaphore,
        .value = 1,
        .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
    };
    const VkSubmitInfo2 info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
        .commandBufferInfoCount = 1,
        .pCommandBufferInfos = &buffer,
        .signalSemaphoreInfoCount = 1,
        .pSignalSemaphoreInfos = &signal,
    };
    CHECK(vkQueueSubmit2(gpu->queue, 1, &info, fence));
}

int main(int argc, char **argv)
{
    const int rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds <= 0) {
        fputs("usage: freed_semaphores ROUNDS\n", stderr);
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
    const VkCommandBufferAllocateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu.pool,
        .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(gpu.device, &buffer_info, &commands));
    CHECK(vkBeginCommandBuffer(commands, &begin));
    CHECK(vkEndCommandBuffer(commands));
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    for (int i = 0; i < rounds; i++) {
        VkSemaphore semaphore;
        CHECK(vkCreateSemaphore(gpu.device, &info, &allocator, &semaphore));
        (i % 2 == 0 ? submit : submit2)(&gpu, commands, semaphore, fence);
        CHECK(vkWaitForFences(gpu.device, 1, &fence, VK_TRUE, UINT64_MAX));
        vkDestroySemaphore(gpu.device, semaphore, &allocator);
        CHECK(vkResetFences(gpu.device, 1, &fence));
    }
    vkDestroyFence(gpu.device, fence, NULL);
    pm_gpu_destroy(&gpu);
    int written = 0;
    while (blocks != NULL) {
        struct block *block = blocks;
        blocks = block->next;
        written += block->freed != NULL && memcmp(block->freed, block->bytes, block->size) != 0;
        free(block->freed);
        free(block);
    }
    printf("%d of %d semaphores were written to after they were freed\n", written, rounds);
    return 0;
}
