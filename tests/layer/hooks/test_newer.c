/* A game that is newer than the layer's headers: the layer stays on, and what it cannot copy costs
 * just what that is a part of (HAZARDS 10). */
#include "extending.h"
#include "profile/left_alone.h"
#include "tests/layer/layered.h"
#include "tests/layer/pipelines.h"
#include "tests/layer/spooled.h"
#include "tests/null_driver/newer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

static void enable(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_KINDS", "block", 1);
    setenv("PIECEMEAL_SAMPLER_BATCH", "all", 1);
}

/* Draws and dispatches with the pipelines; how many of the two calls were sampled. */
static uint32_t sampled(VkPipeline graphics, VkPipeline dispatch)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const uint64_t position = h.driver->position();
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, graphics);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    const uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline");
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return (binds - 2) / 2;
}

/* ---- devices ---- */

/* What the driver was asked for in the last vkCreateDevice. */
struct asked {
    uint32_t future[3], address, core;
    uint32_t unknown; /* structures of PM_NEWER_TYPE */
};

static void see_create_device(void *user, const struct pm_null_call *call)
{
    struct asked *asked = user;
    if (strcmp(call->command, "vkCreateDevice") != 0)
        return;
    *asked = (struct asked){.core = 0};
    const VkDeviceCreateInfo *info = (const void *)(uintptr_t)call->arguments[1];
    for (const VkBaseInStructure *item = info->pNext; item; item = item->pNext) {
        if (item->sType == PM_NULL_FUTURE_FEATURES)
            memcpy(asked->future, ((const struct pm_null_future_features *)item)->features,
                   sizeof asked->future);
        else if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            asked->address |= ((const VkPhysicalDeviceVulkan12Features *)item)->bufferDeviceAddress;
        else if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
            asked->address |=
                ((const VkPhysicalDeviceBufferDeviceAddressFeatures *)item)->bufferDeviceAddress;
        else if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2)
            asked->core = ((const VkPhysicalDeviceFeatures2 *)item)->features.shaderInt64;
        else if (item->sType == PM_NEWER_TYPE)
            asked->unknown++;
    }
}

/* Opens all, and says how many of a draw and a dispatch are sampled. */
static uint32_t sampled_on_device(const void *chain, struct asked *asked)
{
    const struct pm_harness_options options = {.device_next = chain};
    enable();
    pm_harness_driver()->set_callback(see_create_device, asked);
    pm_harness_open(&h, &options);
    h.driver->set_callback(NULL, NULL);
    const uint32_t count = sampled(h.graphics, h.dispatch);
    pm_harness_close(&h);
    return count;
}

/* Nobody knows its size. What the layer adds stands before the game's chain, which is shared. */
static void a_device_with_an_unknown_structure(void **state)
{
    (void)state;
    struct asked asked;
    VkBaseInStructure future = {.sType = PM_NEWER_TYPE};
    assert_int_equal(sampled_on_device(&future, &asked), 2);
    assert_int_equal(asked.unknown, 1);
    assert_true(asked.address);
    VkPhysicalDeviceFeatures2 two = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .pNext = &future};
    assert_int_equal(sampled_on_device(&two, &asked), 2);
    assert_true(asked.address && asked.core);
    assert_int_equal(asked.unknown, 1);
    assert_false(two.features.shaderInt64);
}

/* The driver says how large a structure of features is, so that what is behind it can be changed.
 */
static void a_device_with_features_that_only_the_driver_knows(void **state)
{
    (void)state;
    struct asked asked;
    VkPhysicalDeviceVulkan12Features vulkan12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    struct pm_null_future_features *future = calloc(1, sizeof *future);
    *future = (struct pm_null_future_features){PM_NULL_FUTURE_FEATURES, &vulkan12, {1, 0, 1}};
    assert_int_equal(sampled_on_device(future, &asked), 2);
    assert_true(asked.address);
    assert_false(vulkan12.bufferDeviceAddress);
    assert_true(asked.future[0] && !asked.future[1] && asked.future[2]);
    free(future);
}

/* What is behind a structure of which nobody knows the size stays as it is: with what sampling
 * needs on, or off. */
static void a_device_whose_features_are_out_of_reach(void **state)
{
    (void)state;
    struct asked asked;
    VkPhysicalDeviceFeatures2 two = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .features = {.shaderInt64 = VK_TRUE, .fragmentStoresAndAtomics = VK_TRUE}};
    VkPhysicalDeviceVulkan12Features vulkan12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .pNext = &two,
        .bufferDeviceAddress = VK_TRUE};
    VkBaseInStructure future = {.sType = PM_NEWER_TYPE, .pNext = (const void *)&vulkan12};
    assert_int_equal(sampled_on_device(&future, &asked), 2);
    vulkan12.bufferDeviceAddress = VK_FALSE;
    assert_int_equal(sampled_on_device(&future, &asked), 0);
    assert_false(asked.address);
    assert_true(pm_layered_logged("a structure of unknown sType 1999999001") > 0);
}

/* One device for each structure that may be in its chain, and behind it one that nobody knows. */
static void devices_with_every_structure(void **state)
{
    (void)state;
    struct asked asked;
    struct pm_harness_options options = {.bare = true};
    enable();
    pm_harness_open_instance(&h, &options);
    h.driver->set_callback(see_create_device, &asked);
    uint32_t count = 0;
#define X(base, structure, type)                                                                   \
    if (strcmp(#base, "VkDeviceCreateInfo") == 0) {                                                \
        VkBaseInStructure future = {.sType = PM_NEWER_TYPE};                                       \
        structure known = {.sType = type, .pNext = (void *)&future};                               \
        options.device_next = &known;                                                              \
        PM_CHECK(pm_harness_create_device(&h, &options));                                          \
        if (!asked.address || asked.unknown != 1)                                                  \
            fail_msg("nothing is added beside " #structure);                                       \
        pm_harness_close_device(&h);                                                               \
        count++;                                                                                   \
    }
    PM_EXTENDING(X)
#undef X
    h.driver->set_callback(NULL, NULL);
    pm_harness_close(&h);
    assert_true(count > 150);
    assert_int_equal(pm_layered_logged("sampling on Piecemeal"), count);
}

/* ---- shaders ---- */

/* Words that SPIRV-Tools cannot parse: the driver may know what they mean. */
static void a_shader_of_the_future_is_left_alone_and_counted(void **state)
{
    (void)state;
    enum { SHADERS = 3 };
    enable();
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
        assert_int_equal(sampled(h.graphics, pipeline), 1);
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

/* ---- Vulkan 1.4 and its kin ---- */

static void open_1_4(const char *const *extensions)
{
    const struct pm_harness_options options = {.api_version = VK_API_VERSION_1_4,
                                               .device_extensions = extensions};
    enable();
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
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(h.vk.QueueWaitIdle(h.queue));
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

/* ---- queues that the driver synchronizes ---- */

/* VK_DEVICE_QUEUE_CREATE_INTERNALLY_SYNCHRONIZED_BIT_KHR, newer than the headers. The null driver
 * locks every queue. */
enum { SYNCHRONIZED = 4, THREADS = 4, SUBMISSIONS = 500, CALLS = 40 };

/* Opens all, on a device with a queue of family 0 and one of family 1, which it returns. */
static VkQueue open_queues(VkDeviceQueueCreateFlags first, VkDeviceQueueCreateFlags second)
{
    static const struct pm_harness_options options;
    static const float priority = 1;
    const VkDeviceQueueCreateInfo queues[] = {
        {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
         .flags = first,
         .queueCount = 1,
         .pQueuePriorities = &priority},
        {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
         .flags = second,
         .queueFamilyIndex = 1,
         .queueCount = 1,
         .pQueuePriorities = &priority},
    };
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 2,
                                     .pQueueCreateInfos = queues};
    pm_harness_open_instance(&h, &options);
    PM_CHECK(h.vki.CreateDevice(h.physical, &info, NULL, &h.device));
    pm_device_dispatch_load(&h.vk, h.device, vkGetDeviceProcAddr);
    VkQueue got[2];
    for (uint32_t i = 0; i < 2; i++) {
        const VkDeviceQueueInfo2 which = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
                                          .flags = queues[i].flags,
                                          .queueFamilyIndex = i};
        h.vk.GetDeviceQueue2(h.device, &which, &got[i]);
    }
    h.queue = got[0];
    pm_harness_open_rest(&h);
    return got[1];
}

struct submitter {
    VkQueue queue;
    VkCommandBuffer buffer;
    pthread_t thread;
};

static void *submit_often(void *user)
{
    const struct submitter *submitter = user;
    for (int i = 0; i < SUBMISSIONS; i++) {
        pm_harness_submit(&h, submitter->queue, submitter->buffer, VK_NULL_HANDLE);
        if (i % 100 == 0)
            PM_CHECK(h.vk.QueueWaitIdle(submitter->queue));
    }
    return NULL;
}

/* A kept recording of dispatches. */
static VkCommandBuffer record_kept(VkCommandPool pool)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = pool,
                                              .commandBufferCount = 1};
    VkCommandBuffer buffer;
    PM_CHECK(h.vk.AllocateCommandBuffers(h.device, &info, &buffer));
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    for (int i = 0; i < CALLS; i++)
        h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    return buffer;
}

/* Several threads submit to one queue at once, and nobody but the driver keeps them apart. */
static void many_threads_submit_to_one_queue(void **state)
{
    (void)state;
    enable();
    pm_layered_sample_all("0.5");
    const VkQueue queue = open_queues(0, SYNCHRONIZED);
    VkCommandPool pools[THREADS];
    struct submitter submitters[THREADS];
    for (int i = 0; i < THREADS; i++) {
        const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                              .queueFamilyIndex = 1};
        PM_CHECK(h.vk.CreateCommandPool(h.device, &info, NULL, &pools[i]));
        submitters[i] = (struct submitter){.queue = queue, .buffer = record_kept(pools[i])};
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&submitters[i].thread, NULL, submit_often, &submitters[i]),
                         0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(submitters[i].thread, NULL);
    /* What is sampled changes with each submission. */
    const uint64_t position = h.driver->position();
    pm_harness_submit(&h, queue, submitters[0].buffer, VK_NULL_HANDLE);
    assert_true(pm_calls_of(h.driver, position, "vkCmdUpdateBuffer") > 0);
    PM_CHECK(h.vk.DeviceWaitIdle(h.device));
    for (int i = 0; i < THREADS; i++)
        h.vk.DestroyCommandPool(h.device, pools[i], NULL);
    pm_harness_close(&h);
}

/* A program that hands its device to others may have no other queues. */
static void queues_that_all_are_synchronized(void **state)
{
    (void)state;
    enable();
    open_queues(SYNCHRONIZED, SYNCHRONIZED);
    assert_int_equal(sampled(h.graphics, h.dispatch), 2);
    pm_harness_close(&h);
    enable();
    open_queues(VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT, VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT);
    assert_int_equal(sampled(h.graphics, h.dispatch), 0);
    pm_harness_close(&h);
    assert_int_equal(pm_layered_logged("it has no unprotected queue that can copy"), 1);
}

/* ---- everything ---- */

/* The same program with one more structure in every chain of all its calls. */
static void every_chain_of_every_call(void **state)
{
    (void)state;
    enable();
    const struct pm_harness_options options = {0};
    pm_harness_open_instance(&h, &options);
    PM_CHECK(pm_harness_create_device(&h, &options));
    const struct pm_device_dispatch plain = h.vk;
    pm_newer_wrap(&h.vk);
    pm_harness_open_rest(&h);
    const uint64_t count = pm_newer_count();
    assert_true(count >= 25);
    assert_int_equal(sampled(h.graphics, h.dispatch), 0);
    assert_true(pm_newer_count() > count);
    /* Pipelines that are not newer, in calls that are. */
    h.vk = plain;
    struct parts parts;
    parts_make(&parts, &h);
    const struct graphics_options of_parts = {.parts = &parts};
    const VkPipeline graphics = make_graphics(&h, &of_parts);
    parts_destroy(&parts, &h);
    pm_newer_wrap(&h.vk);
    assert_int_equal(sampled(graphics, h.dispatch), 1);
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
    enable();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_device_with_an_unknown_structure),
        PM_LAYERED_TEST(a_device_with_features_that_only_the_driver_knows),
        PM_LAYERED_TEST(a_device_whose_features_are_out_of_reach),
        PM_LAYERED_TEST(devices_with_every_structure),
        PM_LAYERED_TEST(a_shader_of_the_future_is_left_alone_and_counted),
        PM_LAYERED_TEST(calls_of_today),
        PM_LAYERED_TEST(nested_command_buffers),
        PM_LAYERED_TEST(many_threads_submit_to_one_queue),
        PM_LAYERED_TEST(queues_that_all_are_synchronized),
        PM_LAYERED_TEST(every_chain_of_every_call),
        PM_LAYERED_TEST(every_chain_of_calls_of_today),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
