#include "tests/gpu/gpu_objects.h"

#include "tests/gpu/gpu.h"
#include <stddef.h>

static void set_input(const struct pm_device_dispatch *vk, VkCommandBuffer c)
{
    const VkVertexInputBindingDescription2EXT binding = {
        VK_STRUCTURE_TYPE_VERTEX_INPUT_BINDING_DESCRIPTION_2_EXT,
        NULL,
        0,
        sizeof(struct pm_gpu_vertex),
        VK_VERTEX_INPUT_RATE_VERTEX,
        1};
    const VkVertexInputAttributeDescription2EXT attributes[2] = {
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, NULL, 0, 0,
         VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct pm_gpu_vertex, position)},
        {VK_STRUCTURE_TYPE_VERTEX_INPUT_ATTRIBUTE_DESCRIPTION_2_EXT, NULL, 1, 0,
         VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(struct pm_gpu_vertex, color)}};
    vk->CmdSetVertexInputEXT(c, 1, &binding, 2, attributes);
    vk->CmdSetPrimitiveTopology(c, VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST);
    vk->CmdSetPrimitiveRestartEnable(c, VK_FALSE);
}

static void set_output(const struct pm_device_dispatch *vk, VkCommandBuffer c,
                       const struct gpu_object_state *state)
{
    const VkSampleMask samples = UINT32_MAX;
    const VkBool32 blends = state->blend_add;
    const VkColorComponentFlags all = 0xf;
    const VkColorBlendEquationEXT add = {VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD,
                                         VK_BLEND_FACTOR_ONE, VK_BLEND_FACTOR_ONE, VK_BLEND_OP_ADD};
    vk->CmdSetRasterizationSamplesEXT(c, (VkSampleCountFlagBits)state->samples);
    vk->CmdSetSampleMaskEXT(c, (VkSampleCountFlagBits)state->samples, &samples);
    vk->CmdSetAlphaToCoverageEnableEXT(c, VK_FALSE);
    vk->CmdSetAlphaToOneEnableEXT(c, VK_FALSE);
    vk->CmdSetLogicOpEnableEXT(c, VK_FALSE);
    vk->CmdSetColorBlendEnableEXT(c, 0, 1, &blends);
    vk->CmdSetColorBlendEquationEXT(c, 0, 1, &add);
    vk->CmdSetColorWriteMaskEXT(c, 0, 1, &all);
}

void gpu_objects_set_state(const struct pm_device_dispatch *vk, VkCommandBuffer c,
                           const struct gpu_object_state *state)
{
    const VkViewport viewport = {0, 0, (float)state->width, (float)state->height, 0, 1};
    const VkRect2D scissor = {{0, 0}, {state->width, state->height}};
    set_input(vk, c);
    vk->CmdSetViewportWithCount(c, 1, &viewport);
    vk->CmdSetScissorWithCount(c, 1, &scissor);
    vk->CmdSetRasterizerDiscardEnable(c, VK_FALSE);
    vk->CmdSetPolygonModeEXT(c, VK_POLYGON_MODE_FILL);
    vk->CmdSetCullMode(c, VK_CULL_MODE_NONE);
    vk->CmdSetFrontFace(c, VK_FRONT_FACE_COUNTER_CLOCKWISE);
    vk->CmdSetDepthBiasEnable(c, VK_FALSE);
    vk->CmdSetDepthClampEnableEXT(c, VK_FALSE);
    vk->CmdSetDepthTestEnable(c, state->depth_test);
    vk->CmdSetDepthWriteEnable(c, state->depth_test);
    vk->CmdSetDepthCompareOp(c, VK_COMPARE_OP_LESS_OR_EQUAL);
    vk->CmdSetDepthBoundsTestEnable(c, VK_FALSE);
    vk->CmdSetStencilTestEnable(c, VK_FALSE);
    set_output(vk, c, state);
}
