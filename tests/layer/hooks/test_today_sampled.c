/* Vulkan 1.4 and its kin: what it adds reaches the driver as it is, and the calls beside it are
 * sampled. (Where specialized shaders are in use: tests/layer/shader/test_today.c.) */
#include "tests/layer/hooks/every_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

static void open_1_4(const char *const *extensions)
{
    const struct pm_harness_options options = {.api_version = VK_API_VERSION_1_4,
                                               .device_extensions = extensions};
    every_call_enable();
    setenv("PM_NULL_API_VERSION", "1.4", 1);
    pm_harness_open(&h, &options);
    unsetenv("PM_NULL_API_VERSION");
}

/* A pipeline for dynamic rendering with local reads, its SPIR-V in the stages, its flags of 64
 * bits, that uses descriptor buffers. */
static VkPipeline make_1_4(void)
{
    static const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    static const uint32_t location = 0;
    struct pm_harness_pipeline of;
    pm_harness_describe(&h, &of);
    const VkRenderingInputAttachmentIndexInfo inputs = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentInputIndices = &location};
    const VkRenderingAttachmentLocationInfo locations = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO,
        .pNext = &inputs,
        .colorAttachmentCount = 1,
        .pColorAttachmentLocations = &location};
    const VkPipelineRobustnessCreateInfo robustness = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_ROBUSTNESS_CREATE_INFO, .pNext = &locations};
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .pNext = &robustness,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format};
    const VkPipelineCreateFlags2CreateInfo flags = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO,
        .pNext = &rendering,
        .flags = VK_PIPELINE_CREATE_2_DESCRIPTOR_BUFFER_BIT_EXT};
    of.info.pNext = &flags;
    of.info.renderPass = VK_NULL_HANDLE;
    VkPipeline pipeline;
    PM_CHECK(h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, &of.info, NULL, &pipeline));
    return pipeline;
}

/* What core 1.4 and extensions of today add around a draw reaches the driver as it is, and the draw
 * is sampled. */
static void calls_of_today(void **state)
{
    (void)state;
    static const uint32_t one = 0;
    const char *const extensions[] = {"VK_EXT_descriptor_buffer", "VK_EXT_mesh_shader", NULL};
    open_1_4(extensions);
    const VkPipeline pipeline = make_1_4();
    const VkBindDescriptorSetsInfo sets = {.sType = VK_STRUCTURE_TYPE_BIND_DESCRIPTOR_SETS_INFO,
                                           .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
                                           .layout = h.layout,
                                           .descriptorSetCount = 1,
                                           .pDescriptorSets = &h.set};
    const VkPushConstantsInfo constants = {.sType = VK_STRUCTURE_TYPE_PUSH_CONSTANTS_INFO,
                                           .layout = h.layout,
                                           .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
                                           .size = sizeof one,
                                           .pValues = &one};
    const VkRenderingAttachmentLocationInfo locations = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentLocations = &one};
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO, .layerCount = 1};
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBeginRendering(buffer, &rendering);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    const uint64_t position = h.driver->position();
    h.vk.CmdSetRenderingAttachmentLocations(buffer, &locations);
    h.vk.CmdBindDescriptorSets2(buffer, &sets);
    h.vk.CmdPushConstants2(buffer, &constants);
    h.vk.CmdBindIndexBuffer2(buffer, h.buffer, 0, 64, VK_INDEX_TYPE_UINT16);
    h.vk.CmdDrawIndexed(buffer, 3, 1, 0, 0, 0);
    h.vk.CmdDrawMeshTasksEXT(buffer, 1, 1, 1);
    char *calls = pm_calls_on(h.driver, position, buffer);
    assert_string_equal(calls, "vkCmdSetRenderingAttachmentLocations vkCmdBindDescriptorSets2 "
                               "vkCmdPushConstants2 vkCmdBindIndexBuffer2 vkCmdBindPipeline "
                               "vkCmdDrawIndexed vkCmdBindPipeline vkCmdBindPipeline "
                               "vkCmdDrawMeshTasksEXT vkCmdBindPipeline ");
    free(calls);
    h.vk.CmdEndRendering(buffer);
    pm_harness_run(&h, buffer);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

/* A secondary command buffer that executes another: what the innermost names lives as long as the
 * primary needs it. */
static void nested_command_buffers(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_nested_command_buffer", NULL};
    open_1_4(extensions);
    VkCommandBuffer buffers[3];
    const VkCommandBufferInheritanceInfo inherited = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                            .pInheritanceInfo = &inherited};
    const VkPipeline dispatch = pm_harness_make_compute(&h);
    const uint64_t position = h.driver->position();
    for (int depth = 0; depth < 3; depth++) {
        buffers[depth] = pm_harness_allocate(&h, depth < 2 ? VK_COMMAND_BUFFER_LEVEL_SECONDARY
                                                           : VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        PM_CHECK(h.vk.BeginCommandBuffer(buffers[depth], &begin));
        if (depth > 0)
            h.vk.CmdExecuteCommands(buffers[depth], 1, &buffers[depth - 1]);
        h.vk.CmdBindPipeline(buffers[depth], VK_PIPELINE_BIND_POINT_COMPUTE, dispatch);
        h.vk.CmdDispatch(buffers[depth], 1, 1, 1);
        PM_CHECK(h.vk.EndCommandBuffer(buffers[depth]));
    }
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 9);
    h.driver->set_delay(20000);
    pm_harness_submit(&h, h.queue, buffers[2], VK_NULL_HANDLE);
    const uint64_t draws = h.driver->executed_draws();
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    assert_int_equal(h.driver->executed_draws() - draws, 3);
    h.driver->set_delay(0);
    h.vk.DestroyPipeline(h.device, dispatch, NULL);
    for (int depth = 0; depth < 3; depth++)
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffers[depth]);
    pm_harness_close(&h);
}

#define PREDICATED                                                                                 \
    "vkCmdBeginConditionalRenderingEXT %s vkCmdEndConditionalRenderingEXT vkCmdBindPipeline "

/* Draws and the dispatch of VK_KHR_device_address_commands, by their names: the headers do not have
 * them. In what is kept some are recorded once more with the variant, and one of both runs. */
static void record_by_address(bool kept)
{
    typedef void(VKAPI_PTR * by_info)(VkCommandBuffer, const void *);
    typedef void(VKAPI_PTR * by_bytes)(VkCommandBuffer, uint32_t, uint32_t, const void *, uint32_t,
                                       uint32_t);
    static const struct {
        const char *name, *recorded;
    } ways[] = {
        {"vkCmdDrawIndirect2KHR", "vkCmdDrawIndirect"},
        {"vkCmdDrawIndexedIndirect2KHR", "vkCmdDrawIndirect"},
        {"vkCmdDrawIndirectCount2KHR", "vkCmdDrawIndirect"},
        {"vkCmdDrawIndexedIndirectCount2KHR", "vkCmdDrawIndirect"},
        {"vkCmdDrawMeshTasksIndirect2EXT", "vkCmdDrawIndirect"},
        {"vkCmdDrawMeshTasksIndirectCount2EXT", "vkCmdDrawIndirect"},
        {"vkCmdDispatchIndirect2KHR", "vkCmdDispatchIndirect"},
        {"vkCmdDrawIndirectByteCount2EXT", "vkCmdDrawIndirectByteCountEXT"},
    };
    static const uint64_t info[16];
    every_call_enable();
    if (kept)
        pm_layered_sample_all("0.5");
    pm_harness_open(&h, NULL);
    const VkPipeline graphics = pm_harness_make_graphics(&h);
    const VkPipeline compute = pm_harness_make_compute(&h);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        /* What is recorded anew is not kept. */
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        const bool dispatch = strstr(ways[i].name, "Dispatch") != NULL;
        const PFN_vkVoidFunction call = vkGetDeviceProcAddr(h.device, ways[i].name);
        assert_non_null(call);
        pm_harness_begin(&h, buffer, kept ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
        if (!dispatch)
            pm_harness_begin_pass(&h, buffer);
        h.vk.CmdBindPipeline(
            buffer, dispatch ? VK_PIPELINE_BIND_POINT_COMPUTE : VK_PIPELINE_BIND_POINT_GRAPHICS,
            dispatch ? compute : graphics);
        const uint64_t position = h.driver->position();
        for (int times = kept ? 64 : 1; times > 0; times--)
            if (strstr(ways[i].name, "ByteCount") != NULL)
                ((by_bytes)call)(buffer, 1, 0, info, 0, 4);
            else
                ((by_info)call)(buffer, info);
        char expected[512], *calls = pm_calls_on(h.driver, position, buffer);
        const char *name = ways[i].recorded;
        if (kept)
            snprintf(expected, sizeof expected, PREDICATED PREDICATED, name, name);
        else
            snprintf(expected, sizeof expected, "vkCmdBindPipeline %s vkCmdBindPipeline ", name);
        if (kept)
            assert_non_null(strstr(calls, expected));
        else
            assert_string_equal(calls, expected);
        free(calls);
        if (!dispatch)
            h.vk.CmdEndRenderPass(buffer);
        pm_harness_run(&h, buffer);
        h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    }
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

static void calls_by_address(void **state)
{
    (void)state;
    record_by_address(false);
}

static void calls_by_address_in_what_is_kept(void **state)
{
    (void)state;
    record_by_address(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(calls_of_today),
        PM_LAYERED_TEST(nested_command_buffers),
        PM_LAYERED_TEST(calls_by_address),
        PM_LAYERED_TEST(calls_by_address_in_what_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
