#include "tests/layer/hooks/every_call.h"

#include <stdlib.h>

void every_call_enable(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
}

uint32_t every_call_sampled(struct pm_harness *h, VkPipeline graphics, VkPipeline dispatch)
{
    VkCommandBuffer buffer = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h->driver->position();
    pm_harness_begin(h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(h, buffer);
    h->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch);
    h->vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_begin_pass(h, buffer);
    h->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics);
    h->vk.CmdDraw(buffer, 3, 1, 0, 0);
    h->vk.CmdEndRenderPass(buffer);
    PM_CHECK(h->vk.EndCommandBuffer(buffer));
    const uint32_t binds = pm_calls_of(h->driver, position, "vkCmdBindPipeline");
    pm_harness_submit(h, h->queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h->vk.QueueWaitIdle(h->queue));
    h->vk.FreeCommandBuffers(h->device, h->pool, 1, &buffer);
    return (binds - 2) / 2;
}
