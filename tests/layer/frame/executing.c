#include "tests/layer/frame/executing.h"

#include <stdlib.h>

struct executing executing;

static uint64_t count_executed(void *user, VkPipeline pipeline)
{
    (void)user;
    if (pipeline == executing.h.dispatch || pipeline == executing.h.graphics)
        executing.game++;
    else
        executing.other++;
    return 0;
}

void executing_open_as_it_is(const struct pm_harness_options *options)
{
    pm_harness_open(&executing.h, options);
    executing.h.driver->set_cost(count_executed, NULL);
    executing.game = executing.other = 0;
}

void executing_open(const char *window, const char *frames, const char *probability,
                    const struct pm_harness_options *options)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all(probability);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", window, 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", frames, 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    executing_open_as_it_is(options);
}

void executing_close(void)
{
    PM_CHECK(executing.h.vk.DeviceWaitIdle(executing.h.device));
    pm_harness_close(&executing.h);
    pm_harness_driver()->set_cost(NULL, NULL);
}

void executing_record(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags, uint32_t dispatches)
{
    pm_harness_begin(&executing.h, buffer, flags);
    pm_harness_bind_set(&executing.h, buffer);
    executing.h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, executing.h.dispatch);
    for (uint32_t i = 0; i < dispatches; i++)
        executing.h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(executing.h.vk.EndCommandBuffer(buffer));
}

VkCommandBuffer executing_recorded(VkCommandBufferUsageFlags flags, uint32_t dispatches)
{
    VkCommandBuffer buffer = pm_harness_allocate(&executing.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    executing_record(buffer, flags, dispatches);
    return buffer;
}

void executing_submit(VkCommandBuffer buffer, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++)
        pm_harness_submit(&executing.h, executing.h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(executing.h.vk.QueueWaitIdle(executing.h.queue));
}
