/* What Vulkan 1.4 and today's extensions add to pipelines and to recordings, while specialized
 * shaders are in use (tests/layer/hooks/test_today_sampled.c: while calls are sampled).
 * docs/clients.md has the table. */
#include "layer/generate/descriptor_heap.h"
#include "tests/layer/optimized.h"

#include <stdlib.h>

#define GRAPHICS VK_PIPELINE_BIND_POINT_GRAPHICS
#define COMPUTE VK_PIPELINE_BIND_POINT_COMPUTE

static const char *const extensions[] = {"VK_EXT_descriptor_buffer", "VK_EXT_mesh_shader",
                                         "VK_EXT_nested_command_buffer",
                                         "VK_EXT_device_generated_commands", NULL};

static struct pm_harness h;

static void open_1_4(void)
{
    const struct pm_harness_options options = {.api_version = VK_API_VERSION_1_4,
                                               .device_extensions = extensions};
    optimized_learn();
    optimized_enable(true);
    setenv("PM_NULL_API_VERSION", "1.4", 1);
    pm_harness_open(&h, &options);
    unsetenv("PM_NULL_API_VERSION");
}

/* A pipeline of the shader that is worth specializing, its SPIR-V in its stage, its flags of 64
 * bits. before: the stage in front of it; flags: of the pipeline; chain: for its info. */
static VkPipeline make(VkShaderStageFlagBits before, VkPipelineCreateFlags2 flags, void *chain)
{
    VkShaderModuleCreateInfo inlined = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    inlined.pCode = optimized_words(VK_SHADER_STAGE_FRAGMENT_BIT, &inlined.codeSize);
    const VkPipelineCreateFlags2CreateInfo with = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO,
        .pNext = chain,
        .flags = flags};
    struct pm_harness_pipeline of;
    pm_harness_describe(&h, &of);
    of.stages[0].stage = before;
    of.stages[1].module = VK_NULL_HANDLE;
    of.stages[1].pNext = &inlined;
    of.info.pNext = &with;
    if (chain)
        of.info.renderPass = VK_NULL_HANDLE;
    if (flags & VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT)
        of.info.layout = VK_NULL_HANDLE;
    VkPipeline pipeline;
    PM_CHECK(h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, &of.info, NULL, &pipeline));
    return pipeline;
}

/* Dynamic rendering with local reads and descriptor buffers; around the draw what core 1.4 has. */
static void local_reads_and_descriptor_buffers(void **state)
{
    (void)state;
    static const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    static const uint32_t zero = 0;
    open_1_4();
    VkRenderingInputAttachmentIndexInfo inputs = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_INPUT_ATTACHMENT_INDEX_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentInputIndices = &zero};
    VkRenderingAttachmentLocationInfo locations = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO,
        .pNext = &inputs,
        .colorAttachmentCount = 1,
        .pColorAttachmentLocations = &zero};
    VkPipelineRenderingCreateInfo formats = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                             .pNext = &locations,
                                             .colorAttachmentCount = 1,
                                             .pColorAttachmentFormats = &format};
    const VkPipeline pipeline =
        make(VK_SHADER_STAGE_VERTEX_BIT, VK_PIPELINE_CREATE_2_DESCRIPTOR_BUFFER_BIT_EXT, &formats);
    const VkBindDescriptorSetsInfo sets = {.sType = VK_STRUCTURE_TYPE_BIND_DESCRIPTOR_SETS_INFO,
                                           .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
                                           .layout = h.layout,
                                           .descriptorSetCount = 1,
                                           .pDescriptorSets = &h.set};
    const VkPushConstantsInfo constants = {.sType = VK_STRUCTURE_TYPE_PUSH_CONSTANTS_INFO,
                                           .layout = h.layout,
                                           .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT,
                                           .size = sizeof zero,
                                           .pValues = &zero};
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO, .layerCount = 1};
    const VkRenderingAttachmentLocationInfo mapped = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_LOCATION_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentLocations = &zero};
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    const uint64_t position = h.driver->position();
    h.vk.CmdBeginRendering(buffer, &rendering);
    h.vk.CmdSetRenderingAttachmentLocations(buffer, &mapped);
    h.vk.CmdBindPipeline(buffer, GRAPHICS, pipeline);
    h.vk.CmdBindDescriptorSets2(buffer, &sets);
    h.vk.CmdPushConstants2(buffer, &constants);
    h.vk.CmdBindIndexBuffer2(buffer, h.buffer, 0, 64, VK_INDEX_TYPE_UINT16);
    h.vk.CmdDrawIndexed(buffer, 3, 1, 0, 0, 0);
    h.vk.CmdEndRendering(buffer);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBeginRendering vkCmdSetRenderingAttachmentLocations "
                           "vkCmdBindPipeline vkCmdBindDescriptorSets2 vkCmdPushConstants2 "
                           "vkCmdBindIndexBuffer2 vkCmdDrawIndexed vkCmdEndRendering ");
    assert_ptr_not_equal(optimized_bound(&h, position, 0), pipeline);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

static void mesh_shaders(void **state)
{
    (void)state;
    open_1_4();
    const VkPipeline pipeline = make(VK_SHADER_STAGE_MESH_BIT_EXT, 0, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_begin_pass(&h, buffer);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, GRAPHICS, pipeline);
    h.vk.CmdDrawMeshTasksEXT(buffer, 1, 1, 1);
    optimized_assert_calls(&h, position, buffer, "vkCmdBindPipeline vkCmdDrawMeshTasksEXT ");
    assert_ptr_not_equal(optimized_bound(&h, position, 0), pipeline);
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

/* A pipeline with the flags has a specialized one in its place. */
static void assert_specialized_with(VkPipelineCreateFlags2KHR flags)
{
    open_1_4();
    const VkPipeline pipeline = make(VK_SHADER_STAGE_VERTEX_BIT, flags, NULL);
    assert_ptr_not_equal(optimized_effective(&h, pipeline, GRAPHICS), pipeline);
    h.vk.DestroyPipeline(h.device, pipeline, NULL);
    pm_harness_close(&h);
}

/* Their data is what the game made of its own pipeline. */
static void pipelines_that_become_binaries(void **state)
{
    (void)state;
    assert_specialized_with(VK_PIPELINE_CREATE_2_CAPTURE_DATA_BIT_KHR);
}

/* As all pipelines of DXVK 3's are, where the driver has heaps (test_descriptor_heap.c). */
static void descriptor_heaps(void **state)
{
    (void)state;
    assert_specialized_with(VK_PIPELINE_CREATE_2_DESCRIPTOR_HEAP_BIT_EXT);
}

/* The innermost of secondary command buffers, too, whose bindings nobody inherits. */
static void nested_command_buffers(void **state)
{
    (void)state;
    open_1_4();
    const VkCommandBufferInheritanceInfo inherited = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .pInheritanceInfo = &inherited};
    const VkPipeline compute = optimized_compute(&h);
    VkCommandBuffer buffers[3];
    for (int depth = 0; depth < 3; depth++) {
        buffers[depth] = pm_harness_allocate(&h, depth < 2 ? VK_COMMAND_BUFFER_LEVEL_SECONDARY
                                                           : VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        PM_CHECK(h.vk.BeginCommandBuffer(buffers[depth], &begin));
        if (depth > 0)
            h.vk.CmdExecuteCommands(buffers[depth], 1, &buffers[depth - 1]);
        const uint64_t position = h.driver->position();
        h.vk.CmdBindPipeline(buffers[depth], COMPUTE, compute);
        assert_ptr_not_equal(optimized_bound(&h, position, 0), compute);
        h.vk.CmdDispatch(buffers[depth], 1, 1, 1);
        PM_CHECK(h.vk.EndCommandBuffer(buffers[depth]));
    }
    pm_harness_submit(&h, h.queue, buffers[2], VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.DestroyPipeline(h.device, compute, NULL);
    pm_harness_close(&h);
}

/* Generated commands are passed on in a window as they are, with the game's own pipeline. */
static void generated_commands_are_not_sampled(void **state)
{
    (void)state;
    const struct pm_harness_options options = {.device_extensions = extensions};
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pm_harness_open(&h, &options);
    const VkGeneratedCommandsPipelineInfoEXT named = {
        .sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_PIPELINE_INFO_EXT, .pipeline = h.dispatch};
    const VkGeneratedCommandsInfoEXT info = {.sType = VK_STRUCTURE_TYPE_GENERATED_COMMANDS_INFO_EXT,
                                             .pNext = &named,
                                             .shaderStages = VK_SHADER_STAGE_COMPUTE_BIT};
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    const uint64_t position = h.driver->position();
    h.vk.CmdBindPipeline(buffer, COMPUTE, h.dispatch);
    h.vk.CmdExecuteGeneratedCommandsEXT(buffer, VK_FALSE, &info);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    optimized_assert_calls(&h, position, buffer,
                           "vkCmdBindPipeline vkCmdExecuteGeneratedCommandsEXT "
                           "vkCmdBindPipeline vkCmdDispatch vkCmdBindPipeline ");
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(local_reads_and_descriptor_buffers),
        PM_LAYERED_TEST(mesh_shaders),
        PM_LAYERED_TEST(pipelines_that_become_binaries),
        PM_LAYERED_TEST(descriptor_heaps),
        PM_LAYERED_TEST(nested_command_buffers),
        PM_LAYERED_TEST(generated_commands_are_not_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
