/* Transform feedback: what the first half of the triangles is captured as must not depend on the
 * layer either. */
#include "tests/cts/ways.h"

enum { CAPTURED = CTS_VERTICES / 2, STRIDE = 20 };

static void open_captured(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    pm_gpu_buffer_create_for(&cts->gpu, CTS_VERTICES * STRIDE,
                             VK_BUFFER_USAGE_TRANSFORM_FEEDBACK_BUFFER_BIT_EXT,
                             &cts->way_buffers[0]);
    cts->way_modules[0] = cts_load(cts, "captured.vert");
}

static void describe_captured(const struct cts *cts, struct cts_description *d)
{
    d->stages[0].module = cts->way_modules[0];
}

static void draw_captured(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                          VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    const VkDeviceSize offset = 0, size = CAPTURED * STRIDE;
    cts->vk.CmdBindTransformFeedbackBuffersEXT(commands, 0, 1, &cts->way_buffers[0].buffer, &offset,
                                               &size);
    cts->vk.CmdBeginTransformFeedbackEXT(commands, 0, 0, NULL, NULL);
    vkCmdDraw(commands, CAPTURED, 1, 0, 0);
    cts->vk.CmdEndTransformFeedbackEXT(commands, 0, 0, NULL, NULL);
    vkCmdDraw(commands, CTS_VERTICES - CAPTURED, 1, CAPTURED, 0);
}

static void look_at_captured(struct cts *cts)
{
    const struct pm_gpu_vertex *given = cts->vertices.data;
    for (uint32_t i = 0; i < CAPTURED; i++) {
        const float *position = (const void *)((const char *)cts->way_buffers[0].data + i * STRIDE);
        if (position[0] != given[i].position[0] || position[1] != given[i].position[1])
            cts_fail("vertex %u is captured at %g, %g", i, position[0], position[1]);
    }
    cts->queried[0] = cts_hash(CTS_HASH, cts->way_buffers[0].data, cts->way_buffers[0].size);
}

const struct cts_way_of cts_captured = {
    .extensions = {"VK_EXT_transform_feedback"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TRANSFORM_FEEDBACK_FEATURES_EXT},
    .open = open_captured,
    .describe = describe_captured,
    .call = draw_captured,
    .finish = look_at_captured};
