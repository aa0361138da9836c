/*
 * A program without a test of its own (docs/results/drivers.md): a thread asks for the result of a
 * query of statistics until it is there, while another submits what begins and ends it. Says how
 * often the driver had a result before that submission was over.
 *
 * usage: early_queries ROUNDS
 */
#include "tests/gpu/gpu_private.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER_BYTES = 16 << 20, FILLS = 2, MOST_MICROSECONDS = 300 };

/* What both threads use. */
struct query {
    const struct pm_gpu *gpu;
    VkQueryPool pool;
    VkFence fence; /* of the submission */
    atomic_bool asked;
    bool early;
};

static void *ask(void *argument)
{
    struct query *query = argument;
    VkDevice device = query->gpu->device;
    VkResult result = VK_NOT_READY;
    uint64_t invocations;
    while (result == VK_NOT_READY) {
        result = vkGetQueryPoolResults(device, query->pool, 0, 1, sizeof invocations, &invocations,
                                       sizeof invocations, VK_QUERY_RESULT_64_BIT);
        atomic_store(&query->asked, true);
    }
    query->early = vkGetFenceStatus(device, query->fence) == VK_NOT_READY;
    CHECK(result);
    return NULL;
}

static VkQueryPool create_pool(const struct pm_gpu *gpu)
{
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
        .queryCount = 1,
        .pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT};
    VkQueryPool pool;
    CHECK(vkCreateQueryPool(gpu->device, &info, NULL, &pool));
    return pool;
}

/* What takes the driver a while, with a query around it. */
static VkCommandBuffer record(const struct query *query, VkBuffer buffer)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = query->gpu->pool,
                                              .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer commands;
    CHECK(vkAllocateCommandBuffers(query->gpu->device, &info, &commands));
    CHECK(vkBeginCommandBuffer(commands, &begin));
    vkCmdBeginQuery(commands, query->pool, 0, 0);
    for (uint32_t i = 0; i < FILLS; i++)
        vkCmdFillBuffer(commands, buffer, 0, VK_WHOLE_SIZE, i);
    vkCmdEndQuery(commands, query->pool, 0);
    CHECK(vkEndCommandBuffer(commands));
    return commands;
}

static void run(struct query *query, VkCommandBuffer commands)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands};
    VkDevice device = query->gpu->device;
    pthread_t thread;
    vkResetQueryPool(device, query->pool, 0, 1);
    CHECK(vkResetFences(device, 1, &query->fence));
    atomic_store(&query->asked, false);
    assert_int_equal(pthread_create(&thread, NULL, ask, query), 0);
    while (!atomic_load(&query->asked)) {
    }
    usleep((useconds_t)(rand() % MOST_MICROSECONDS));
    CHECK(vkQueueSubmit(query->gpu->queue, 1, &info, query->fence));
    assert_int_equal(pthread_join(thread, NULL), 0);
    CHECK(vkWaitForFences(device, 1, &query->fence, VK_TRUE, UINT64_MAX));
}

int main(int argc, char **argv)
{
    const int rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds <= 0) {
        fputs("usage: early_queries ROUNDS\n", stderr);
        return 2;
    }
    static struct pm_gpu gpu;
    pm_gpu_create(&gpu);
    struct pm_gpu_buffer buffer;
    pm_gpu_buffer_create(&gpu, BUFFER_BYTES, &buffer);
    struct query query = {.gpu = &gpu, .pool = create_pool(&gpu)};
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    CHECK(vkCreateFence(gpu.device, &fence_info, NULL, &query.fence));
    VkCommandBuffer commands = record(&query, buffer.buffer);
    int early = 0;
    for (int i = 0; i < rounds; i++) {
        run(&query, commands);
        early += query.early;
    }
    vkDestroyFence(gpu.device, query.fence, NULL);
    vkDestroyQueryPool(gpu.device, query.pool, NULL);
    pm_gpu_buffer_destroy(&gpu, &buffer);
    pm_gpu_destroy(&gpu);
    printf("%d of %d queries had a result before their submission was over\n", early, rounds);
    return 0;
}
