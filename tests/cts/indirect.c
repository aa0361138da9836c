/* Whether something is drawn, and how often, is in a buffer. */
#include "tests/cts/ways.h"

#include <string.h>

enum { TRIANGLES = CTS_VERTICES / 3, GROUPS = CTS_WORDS / 32 };

/* ---- conditional rendering: what shall not be is not, and what shall be is ---- */

static void open_conditional(struct cts *cts, const struct cts_case *of)
{
    (void)of;
    pm_gpu_buffer_create_for(&cts->gpu, 16, VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT,
                             &cts->way_buffers[0]);
    ((uint32_t *)cts->way_buffers[0].data)[1] = 1;
}

static void plainly(const struct cts_case *of, VkCommandBuffer commands)
{
    if (of->compute)
        vkCmdDispatch(commands, GROUPS, 1, 1);
    else
        vkCmdDraw(commands, CTS_VERTICES, 1, 0, 0);
}

static void push(const struct cts *cts, VkCommandBuffer commands, uint32_t added)
{
    vkCmdPushConstants(commands, cts->gpu.layout, VK_SHADER_STAGE_ALL, 0, sizeof added, &added);
}

static void call_conditionally(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                               VkCommandBuffer commands)
{
    (void)pipeline;
    for (uint32_t wanted = 0; wanted < 2; wanted++) {
        const VkConditionalRenderingBeginInfoEXT info = {
            .sType = VK_STRUCTURE_TYPE_CONDITIONAL_RENDERING_BEGIN_INFO_EXT,
            .buffer = cts->way_buffers[0].buffer,
            .offset = wanted * sizeof(uint32_t)};
        push(cts, commands, wanted ? 1 : 9); /* seen, were it drawn */
        cts->vk.CmdBeginConditionalRenderingEXT(commands, &info);
        plainly(of, commands);
        cts->vk.CmdEndConditionalRenderingEXT(commands);
    }
}

const struct cts_way_of cts_conditional = {
    .extensions = {"VK_EXT_conditional_rendering"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CONDITIONAL_RENDERING_FEATURES_EXT},
    .open = open_conditional,
    .call = call_conditionally};

/* ---- a count of indirect draws: a triangle each, of more that there would be ---- */

enum { COUNT_AT = 256, MOST = 2 * TRIANGLES };

static void open_counted(struct cts *cts, const struct cts_case *of)
{
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    (void)of;
    vkGetPhysicalDeviceFeatures2(cts->gpu.physical, &features);
    if (!features12.drawIndirectCount)
        cts_unsupported("a count of indirect draws");
    pm_gpu_buffer_create(&cts->gpu, COUNT_AT + 16, &cts->way_buffers[0]);
    VkDrawIndirectCommand *const draws = cts->way_buffers[0].data;
    for (uint32_t i = 0; i < MOST; i++)
        draws[i] = (VkDrawIndirectCommand){
            .vertexCount = 3, .instanceCount = 1, .firstVertex = i % TRIANGLES * 3};
    const uint32_t count = TRIANGLES;
    memcpy((char *)cts->way_buffers[0].data + COUNT_AT, &count, sizeof count);
}

static void draw_counted(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                         VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    VkBuffer buffer = cts->way_buffers[0].buffer;
    vkCmdDrawIndirectCount(commands, buffer, 0, buffer, COUNT_AT, MOST,
                           sizeof(VkDrawIndirectCommand));
}

const struct cts_way_of cts_counted = {.open = open_counted, .call = draw_counted};
