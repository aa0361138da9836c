#include "tests/layer/trial/secondary_frames.h"

static struct frame {
    VkCommandBuffer secondary, primary;
    bool draws;      /* or it dispatches */
    uint32_t height; /* of the render area */
    bool beside, alone;
} frame;

void secondary_allocate(bool draws)
{
    frame = (struct frame){
        .secondary = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_SECONDARY),
        .primary = pm_harness_allocate(&trying.h, VK_COMMAND_BUFFER_LEVEL_PRIMARY),
        .draws = draws,
        .height = 64,
    };
}

void secondary_set_height(uint32_t height)
{
    frame.height = height;
}

void secondary_draw_beside(bool beside, bool alone)
{
    frame.beside = beside;
    frame.alone = alone;
}

void secondary_record(VkCommandBufferUsageFlags flags)
{
    pm_harness_begin(&trying.h, frame.secondary,
                     flags | (frame.draws ? VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT : 0));
    pm_harness_bind_set(&trying.h, frame.secondary);
    if (frame.draws && !frame.alone) {
        trying.h.vk.CmdBindPipeline(frame.secondary, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    trying.graphics);
        trying.h.vk.CmdDraw(frame.secondary, 3, 1, 0, 0);
        trying.h.vk.CmdDraw(frame.secondary, 3, 1, 0, 0);
    } else if (!frame.draws) {
        trying_dispatch(frame.secondary);
    }
    PM_CHECK(trying.h.vk.EndCommandBuffer(frame.secondary));
}

void secondary_record_rendering(VkCommandBufferUsageFlags flags)
{
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .renderArea = {.extent = {64, 64}},
                                  .layerCount = 1};
    pm_harness_begin(&trying.h, frame.secondary, flags);
    pm_harness_bind_set(&trying.h, frame.secondary);
    trying.h.vk.CmdBeginRendering(frame.secondary, &info);
    trying.h.vk.CmdBindPipeline(frame.secondary, VK_PIPELINE_BIND_POINT_GRAPHICS, trying.graphics);
    trying.h.vk.CmdDraw(frame.secondary, 3, 1, 0, 0);
    trying.h.vk.CmdEndRendering(frame.secondary);
    PM_CHECK(trying.h.vk.EndCommandBuffer(frame.secondary));
}

void secondary_record_primary(VkCommandBufferUsageFlags flags)
{
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = trying.h.render_pass,
                                        .framebuffer = trying.h.framebuffer,
                                        .renderArea = {{0, 0}, {64, frame.height}}};
    pm_harness_begin(&trying.h, frame.primary, flags);
    if (frame.draws)
        trying.h.vk.CmdBeginRenderPass(
            frame.primary, &info,
            frame.beside ? VK_SUBPASS_CONTENTS_INLINE_AND_SECONDARY_COMMAND_BUFFERS_EXT
                         : VK_SUBPASS_CONTENTS_SECONDARY_COMMAND_BUFFERS);
    if (frame.beside) {
        pm_harness_bind_set(&trying.h, frame.primary);
        trying.h.vk.CmdBindPipeline(frame.primary, VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    trying.graphics);
        trying.h.vk.CmdDraw(frame.primary, 3, 1, 0, 0);
    }
    trying.h.vk.CmdExecuteCommands(frame.primary, 1, &frame.secondary);
    if (frame.draws)
        trying.h.vk.CmdEndRenderPass(frame.primary);
    PM_CHECK(trying.h.vk.EndCommandBuffer(frame.primary));
}

void secondary_submit_with(VkFence fence)
{
    pm_harness_submit(&trying.h, trying.h.queue, frame.primary, fence);
}

void secondary_submit(void)
{
    secondary_submit_with(VK_NULL_HANDLE);
    PM_CHECK(trying.h.vk.QueueWaitIdle(trying.h.queue));
}
