/* A game that is newer than the layer's headers: the layer stays on, and what it cannot copy costs
 * just what that is a part of (HAZARDS 10). Its devices are test_newer_devices'. */
#include "profile/left_alone.h"
#include "profile/session_status.h"
#include "tests/layer/hooks/every_call.h"
#include "tests/layer/pipelines.h"
#include "tests/layer/spooled.h"
#include "tests/null_driver/newer.h"

#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

/* Words that SPIRV-Tools cannot parse: the driver may know what they mean. */
static void a_shader_of_the_future_is_left_alone_and_counted(void **state)
{
    (void)state;
    enum { SHADERS = 3 };
    every_call_enable();
    watch_start(pm_harness_driver());
    const struct pm_harness_options options = {.application = "future"};
    pm_harness_open(&h, &options);
    VkShaderModule compute = h.compute;
    for (uint32_t i = 0; i < SHADERS; i++) {
        const uint32_t words[] = {
            0x07230203, 0x00010300, 0, 1, 0, 2 << 16 | 17 /* OpCapability */, 40000 + i / 2};
        h.compute = pm_harness_make_module(&h, words, sizeof words);
        const uint32_t before = watch_counts().variants;
        const VkPipeline pipeline = pm_harness_make_compute(&h);
        assert_int_equal(watch_counts().variants, before);
        assert_int_equal(every_call_sampled(&h, h.graphics, pipeline), 1);
        h.vk.DestroyPipeline(h.device, pipeline, NULL);
        h.vk.DestroyShaderModule(h.device, h.compute, NULL);
    }
    h.compute = compute;
    pm_harness_close(&h);
    struct pm_left_alone left;
    struct pm_error error = {0};
    struct pm_arena *arena = pm_arena_create(0);
    assert_true(pm_left_alone_read(NULL, "future", 0, arena, &left, &error));
    assert_int_equal(left.shaders, 2); /* two have the same words */
    assert_int_equal(left.reason_count, 2);
    assert_non_null(strstr(left.reasons[0].text, "40000"));
    assert_int_equal(left.whys[PM_LEFT_ALONE_OPERAND], 2);
    pm_arena_destroy(arena);
}

/* The same program with one more structure in every chain of all its calls. */
static void every_chain_of_every_call(void **state)
{
    (void)state;
    every_call_enable();
    const struct pm_harness_options options = {0};
    pm_harness_open_instance(&h, &options);
    PM_CHECK(pm_harness_create_device(&h, &options));
    const struct pm_device_dispatch plain = h.vk;
    pm_newer_wrap(&h.vk);
    pm_harness_open_rest(&h);
    const uint64_t count = pm_newer_count();
    assert_true(count >= 25);
    assert_int_equal(every_call_sampled(&h, h.graphics, h.dispatch), 0);
    assert_true(pm_newer_count() > count);
    /* Pipelines that are not newer, in calls that are. */
    h.vk = plain;
    struct parts parts;
    parts_make(&parts, &h);
    const struct graphics_options of_parts = {.parts = &parts};
    const VkPipeline graphics = make_graphics(&h, &of_parts);
    parts_destroy(&parts, &h);
    pm_newer_wrap(&h.vk);
    assert_int_equal(every_call_sampled(&h, graphics, h.dispatch), 1);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    pm_harness_close(&h);
    assert_int_equal(pm_layered_logged("sType 1999999001"), 1);
}

/* A pass by each of today's ways, and a dispatch; submitted by vkQueueSubmit2. */
static void frame_of_today(VkRenderPass pass, VkPipeline graphics, VkShaderEXT object)
{
    const VkRenderPassBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                         .renderPass = pass,
                                         .framebuffer = h.framebuffer,
                                         .renderArea = {{0, 0}, {64, 64}}};
    const VkSubpassBeginInfo subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_BEGIN_INFO};
    const VkSubpassEndInfo end = {.sType = VK_STRUCTURE_TYPE_SUBPASS_END_INFO};
    const VkRenderingAttachmentInfo attachment = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO, .imageView = h.view};
    const VkRenderingInfo rendering = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                       .layerCount = 1,
                                       .colorAttachmentCount = 1,
                                       .pColorAttachments = &attachment};
    const VkMemoryBarrier2 barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .memoryBarrierCount = 1,
                                         .pMemoryBarriers = &barrier};
    const VkShaderStageFlagBits stage = VK_SHADER_STAGE_COMPUTE_BIT;
    const VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics);
    h.vk.CmdBeginRenderPass2(buffer, &begin, &subpass);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass2(buffer, &end);
    h.vk.CmdPipelineBarrier2(buffer, &dependency);
    h.vk.CmdBeginRendering(buffer, &rendering);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRendering(buffer);
    h.vk.CmdBindShadersEXT(buffer, 1, &stage, &object);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    const VkCommandBufferSubmitInfo submitted = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &submitted};
    PM_CHECK(h.vk.QueueSubmit2(h.queue, 1, &submit, VK_NULL_HANDLE));
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
}

static VkRenderPass make_render_pass2(void)
{
    const VkAttachmentDescription2 attachment = {.sType =
                                                     VK_STRUCTURE_TYPE_ATTACHMENT_DESCRIPTION_2,
                                                 .format = VK_FORMAT_R8G8B8A8_UNORM,
                                                 .samples = VK_SAMPLE_COUNT_1_BIT};
    const VkAttachmentReference2 reference = {.sType = VK_STRUCTURE_TYPE_ATTACHMENT_REFERENCE_2};
    const VkSubpassDescription2 subpass = {.sType = VK_STRUCTURE_TYPE_SUBPASS_DESCRIPTION_2,
                                           .colorAttachmentCount = 1,
                                           .pColorAttachments = &reference};
    const VkRenderPassCreateInfo2 info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO_2,
                                          .attachmentCount = 1,
                                          .pAttachments = &attachment,
                                          .subpassCount = 1,
                                          .pSubpasses = &subpass};
    VkRenderPass pass;
    PM_CHECK(h.vk.CreateRenderPass2(h.device, &info, NULL, &pass));
    return pass;
}

static VkPipeline make_graphics_for(VkRenderPass pass)
{
    struct pm_harness_pipeline of;
    pm_harness_describe(&h, &of);
    of.info.renderPass = pass;
    VkPipeline pipeline;
    PM_CHECK(h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, &of.info, NULL, &pipeline));
    return pipeline;
}

/* What is made with something unknown costs itself; what is not is sampled, and counted, in calls
 * that all have something unknown. */
static void every_chain_of_calls_of_today(void **state)
{
    (void)state;
    const char *const extensions[] = {"VK_EXT_shader_object", NULL};
    const VkPhysicalDeviceShaderObjectFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_OBJECT_FEATURES_EXT,
        .shaderObject = VK_TRUE};
    const struct pm_harness_options options = {.device_extensions = extensions,
                                               .device_next = &features};
    every_call_enable();
    pm_harness_open(&h, &options);
    const struct pm_device_dispatch plain = h.vk;
    const VkRenderPass pass = make_render_pass2();
    const VkPipeline graphics = make_graphics_for(pass);
    const VkShaderEXT object = pm_harness_make_object(&h, VK_SHADER_STAGE_COMPUTE_BIT);
    uint64_t count = pm_newer_count();
    pm_newer_wrap(&h.vk);
    const VkRenderPass newer_pass = make_render_pass2();
    assert_int_equal(pm_newer_count() - count, 4);
    const VkShaderEXT newer_object = pm_harness_make_object(&h, VK_SHADER_STAGE_COMPUTE_BIT);
    h.vk = plain;
    const VkPipeline of_newer = make_graphics_for(newer_pass);
    pm_newer_wrap(&h.vk);
    count = pm_newer_count();
    uint64_t position = h.driver->position();
    frame_of_today(newer_pass, of_newer, newer_object);
    /* Allocating, beginning with its inheritance, two each of both passes' own and one where they
     * end, the barrier and what it is in, the submission and its buffer. */
    assert_true(pm_newer_count() - count >= 12);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 1);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindShadersEXT"), 1);
    position = h.driver->position();
    frame_of_today(pass, graphics, object);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindPipeline"), 1 + 2 * 2);
    assert_int_equal(pm_calls_of(h.driver, position, "vkCmdBindShadersEXT"), 1 + 2);
    h.vk.DestroyShaderEXT(h.device, object, NULL);
    h.vk.DestroyShaderEXT(h.device, newer_object, NULL);
    h.vk.DestroyPipeline(h.device, graphics, NULL);
    h.vk.DestroyPipeline(h.device, of_newer, NULL);
    h.vk.DestroyRenderPass(h.device, pass, NULL);
    h.vk.DestroyRenderPass(h.device, newer_pass, NULL);
    pm_harness_close(&h);
    assert_int_equal(all_calls(), 3);
}

/* ---- what is neither a pipeline nor recorded ---- */

/* Commands that hooks pass on as they are given, and which argument has the chain. */
static const struct {
    const char *command;
    uint32_t argument;
} passed_on[] = {{"vkCreateSwapchainKHR", 1},
                 {"vkQueuePresentKHR", 1},
                 {"vkQueueBindSparse", 2},
                 {"vkCreateQueryPool", 1}};
enum { SWAPCHAIN, PRESENT, BIND_SPARSE, QUERY_POOL, PASSED_ON };

/* Counts those that reach the driver with something unknown first. */
static void see_chains(void *user, const struct pm_null_call *call)
{
    for (size_t i = 0; i < PASSED_ON; i++) {
        if (strcmp(call->command, passed_on[i].command) != 0)
            continue;
        const VkBaseInStructure *info =
            (const void *)(uintptr_t)call->arguments[passed_on[i].argument];
        ((uint32_t *)user)[i] += info->pNext != NULL && info->pNext->sType == PM_NEWER_TYPE;
    }
}

/* Binds nothing, and signals a timeline whose value is behind what is unknown; the fence comes
 * after it also where the layer puts it there. */
static void bind_sparse(void)
{
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo semaphore_info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                                  .pNext = &type};
    VkFence fence;
    VkSemaphore semaphore;
    PM_CHECK(h.vk.CreateFence(h.device, &fence_info, NULL, &fence));
    PM_CHECK(h.vk.CreateSemaphore(h.device, &semaphore_info, NULL, &semaphore));
    uint64_t value = 5;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    const VkBindSparseInfo bind = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                   .pNext = &timeline,
                                   .signalSemaphoreCount = 1,
                                   .pSignalSemaphores = &semaphore};
    const uint64_t position = h.driver->position();
    PM_CHECK(h.vk.QueueBindSparse(h.queue, 1, &bind, fence));
    PM_CHECK(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX));
    PM_CHECK(h.vk.GetSemaphoreCounterValue(h.device, semaphore, &value));
    assert_int_equal(value, 5);
    /* So the layer found the timeline. */
    assert_int_equal(pm_calls_of(h.driver, position, "vkQueueSubmit"), 1);
    h.vk.DestroySemaphore(h.device, semaphore, NULL);
    h.vk.DestroyFence(h.device, fence, NULL);
}

static void present(VkSwapchainKHR swapchain)
{
    const VkSemaphoreCreateInfo semaphore_info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;
    uint32_t index;
    PM_CHECK(h.vk.CreateSemaphore(h.device, &semaphore_info, NULL, &semaphore));
    PM_CHECK(h.vk.AcquireNextImageKHR(h.device, swapchain, UINT64_MAX, semaphore, VK_NULL_HANDLE,
                                      &index));
    const VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                   .waitSemaphoreCount = 1,
                                   .pWaitSemaphores = &semaphore,
                                   .swapchainCount = 1,
                                   .pSwapchains = &swapchain,
                                   .pImageIndices = &index};
    PM_CHECK(h.vk.QueuePresentKHR(h.queue, &info));
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.DestroySemaphore(h.device, semaphore, NULL);
}

/* Whether a dispatch is sampled while a query of the pool is active. */
static bool is_sampled_in(VkQueryPool pool)
{
    const VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdResetQueryPool(buffer, pool, 0, 1);
    h.vk.CmdBeginQuery(buffer, pool, 0, 0);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.vk.CmdEndQuery(buffer, pool, 0);
    pm_harness_run(&h, buffer);
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return pm_calls_of(h.driver, position, "vkCmdBindPipeline") > 1;
}

static void take_heartbeats(void *user, const struct pm_session_status *status)
{
    *(uint64_t *)user += status->heartbeats;
}

/* Presents are heartbeats, fences of sparse memory are ordered and queries are respected, whatever
 * is in front. */
static void every_chain_of_what_is_passed_on(void **state)
{
    (void)state;
    enum { FRAMES = 5 };
    static const char *const instance[] = {"VK_KHR_surface", "VK_EXT_headless_surface", NULL};
    static const char *const device[] = {"VK_KHR_swapchain", NULL};
    const struct pm_harness_options options = {
        .application = "passed on", .instance_extensions = instance, .device_extensions = device};
    const VkHeadlessSurfaceCreateInfoEXT surface_info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    const VkQueryPoolCreateInfo occlusion_info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                                  .queryType = VK_QUERY_TYPE_OCCLUSION,
                                                  .queryCount = 1};
    uint32_t unknown[PASSED_ON] = {0};
    uint64_t heartbeats = 0;
    VkSurfaceKHR surface;
    VkSwapchainKHR swapchain;
    VkQueryPool occlusion;
    every_call_enable();
    setenv("PM_NULL_DRIVER_ID", "13", 1); /* lavapipe, whose fences must come last */
    pm_harness_open(&h, &options);
    PM_CHECK(h.vki.CreateHeadlessSurfaceEXT(h.instance, &surface_info, NULL, &surface));
    const VkSwapchainCreateInfoKHR swapchain_info = {
        .sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
        .surface = surface,
        .minImageCount = 3};
    const struct pm_device_dispatch plain = h.vk;
    h.driver->set_callback(see_chains, unknown);
    pm_newer_wrap(&h.vk);
    PM_CHECK(h.vk.CreateSwapchainKHR(h.device, &swapchain_info, NULL, &swapchain));
    PM_CHECK(h.vk.CreateQueryPool(h.device, &occlusion_info, NULL, &occlusion));
    const VkQueryPool statistics = pm_harness_make_statistics(&h);
    for (int i = 0; i < FRAMES; i++) {
        bind_sparse();
        present(swapchain);
    }
    h.vk = plain;
    h.driver->set_callback(NULL, NULL);
    assert_true(is_sampled_in(occlusion));
    assert_false(is_sampled_in(statistics));
    h.vk.DestroyQueryPool(h.device, occlusion, NULL);
    h.vk.DestroyQueryPool(h.device, statistics, NULL);
    h.vk.DestroySwapchainKHR(h.device, swapchain, NULL);
    h.vki.DestroySurfaceKHR(h.instance, surface, NULL);
    pm_harness_close(&h);
    assert_int_equal(unknown[SWAPCHAIN], 1);
    assert_int_equal(unknown[PRESENT], FRAMES);
    assert_int_equal(unknown[BIND_SPARSE], FRAMES);
    assert_int_equal(unknown[QUERY_POOL], 2);
    /* Submissions are none where there is a swapchain. */
    pm_session_status_each("passed on", take_heartbeats, &heartbeats);
    assert_int_equal(heartbeats, FRAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_shader_of_the_future_is_left_alone_and_counted),
        PM_LAYERED_TEST(every_chain_of_every_call),
        PM_LAYERED_TEST(every_chain_of_calls_of_today),
        PM_LAYERED_TEST(every_chain_of_what_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
