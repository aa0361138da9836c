/* Several draws in one call: in an array of the game's, or of indices in a buffer. */
#include "tests/cts/ways.h"

#include <string.h>

enum { TRIANGLES = CTS_VERTICES / 3, COUNT_AT = 256 };

/* ---- VK_EXT_multi_draw: all triangles but one, and that one ---- */

static void draw_multi(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                       VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    struct {
        VkMultiDrawInfoEXT info;
        uint32_t games; /* between them may be what is no matter of ours */
    } draws[TRIANGLES];
    for (uint32_t i = 0; i < TRIANGLES; i++) {
        draws[i].info = (VkMultiDrawInfoEXT){i * 3, 3};
        draws[i].games = UINT32_MAX;
    }
    const uint32_t last = TRIANGLES - 1;
    cts->vk.CmdDrawMultiEXT(commands, last, &draws[0].info, 1, 0, sizeof draws[0]);
    cts->vk.CmdDrawMultiEXT(commands, 1, &draws[last].info, 1, 0, sizeof draws[0]);
}

const struct cts_way_of cts_multi = {
    .extensions = {"VK_EXT_multi_draw"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT},
    .call = draw_multi};

static void draw_multi_indexed(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                               VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    VkMultiDrawIndexedInfoEXT draws[TRIANGLES];
    for (uint32_t i = 0; i < TRIANGLES; i++)
        draws[i] = (VkMultiDrawIndexedInfoEXT){i * 3, 3, 0};
    const uint32_t last = TRIANGLES - 1;
    /* The last one by the first's indices, with an offset for all in the place of its own. */
    const int32_t offset = 3 * (int32_t)last;
    draws[last] = (VkMultiDrawIndexedInfoEXT){0, 3, 1000};
    cts->vk.CmdDrawMultiIndexedEXT(commands, last, draws, 1, 0, sizeof draws[0], NULL);
    cts->vk.CmdDrawMultiIndexedEXT(commands, 1, &draws[last], 1, 0, sizeof draws[0], &offset);
}

const struct cts_way_of cts_multi_indexed = {
    .extensions = {"VK_EXT_multi_draw"},
    .features = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTI_DRAW_FEATURES_EXT},
    .call = draw_multi_indexed};

/* ---- indexed, in a buffer ---- */

static void open_indexed(struct cts *cts, const struct cts_case *of)
{
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    vkGetPhysicalDeviceFeatures2(cts->gpu.physical, &features);
    if (!features.features.multiDrawIndirect)
        cts_unsupported("several indirect draws");
    if (of->way == CTS_INDEXED_COUNTED && !features12.drawIndirectCount)
        cts_unsupported("a count of indirect draws");
    pm_gpu_buffer_create(&cts->gpu, COUNT_AT + 16, &cts->way_buffers[0]);
    VkDrawIndexedIndirectCommand *const draws = cts->way_buffers[0].data;
    for (uint32_t i = 0; i < TRIANGLES; i++)
        draws[i] = (VkDrawIndexedIndirectCommand){
            .indexCount = 3, .instanceCount = 1, .vertexOffset = 3 * (int32_t)i};
    const uint32_t count = TRIANGLES;
    memcpy((char *)cts->way_buffers[0].data + COUNT_AT, &count, sizeof count);
}

static void draw_indexed(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                         VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    VkBuffer buffer = cts->way_buffers[0].buffer;
    const uint32_t size = sizeof(VkDrawIndexedIndirectCommand);
    vkCmdDrawIndexedIndirect(commands, buffer, 0, TRIANGLES - 1, size);
    vkCmdDrawIndexedIndirect(commands, buffer, (TRIANGLES - 1) * size, 1, size);
}

const struct cts_way_of cts_indexed_indirect = {.open = open_indexed, .call = draw_indexed};

static void draw_indexed_counted(struct cts *cts, const struct cts_case *of, VkPipeline pipeline,
                                 VkCommandBuffer commands)
{
    (void)of, (void)pipeline;
    VkBuffer buffer = cts->way_buffers[0].buffer;
    vkCmdDrawIndexedIndirectCount(commands, buffer, 0, buffer, COUNT_AT, 2 * TRIANGLES,
                                  sizeof(VkDrawIndexedIndirectCommand));
}

const struct cts_way_of cts_indexed_counted = {.open = open_indexed, .call = draw_indexed_counted};
