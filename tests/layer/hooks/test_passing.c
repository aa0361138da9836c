/* What the layer passes on unchanged: idle outside windows, disabled, and (all but the sampled
 * call) inside. */
#include "tests/layer/layered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

/* Loaded, and the window never opens. */
static void open_idle(const struct pm_harness_options *options)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "1e-15", 1);
    pm_harness_open(&h, options);
}

static void draws_arrive_as_they_are(void **state)
{
    (void)state;
    const struct pm_harness_options options = {.device_extensions = pm_harness_draw_extensions};
    open_idle(&options);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    /* One shape for all of them: integers and pointers, at most seven; in 32 bits they take one or
     * two places each, and only that the call arrives is seen. */
    typedef void (*function)(VkCommandBuffer, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                             uint64_t, uint64_t);
#define X(name, canonical, point, parameters, names, groups)                                       \
    {                                                                                              \
        uint64_t position = h.driver->position();                                                  \
        ((function)(PFN_vkVoidFunction)h.vk.name)(buffer, 21, 22, 23, 24, 25, 26, 27);             \
        assert_int_equal(h.driver->position(), position + 1);                                      \
        struct pm_null_call call = pm_call(h.driver, position, "vk" #name, 0);                     \
        assert_int_equal(call.arguments[0], (uintptr_t)buffer);                                    \
        for (uint32_t i = 1; i < call.count && sizeof(void *) == 8; i++)                           \
            assert_int_equal(call.arguments[i], 20 + i);                                           \
    }
    PM_DRAW_COMMANDS(X)
#undef X
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    pm_harness_close(&h);
}

static const void *find(const void *chain, VkStructureType type)
{
    const VkBaseInStructure *item = chain;
    while (item && item->sType != type)
        item = item->pNext;
    return item;
}

struct addresses {
    int asked, replayable; /* devices with buffer addresses, devices and buffers with more */
};

static void look_at_addresses(void *user, const struct pm_null_call *call)
{
    struct addresses *found = user;
    const void *info = (const void *)(uintptr_t)call->arguments[1];
    if (strcmp(call->command, "vkCreateDevice") == 0) {
        const VkPhysicalDeviceBufferDeviceAddressFeatures *features =
            find(((const VkDeviceCreateInfo *)info)->pNext,
                 VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES);
        found->asked += features && features->bufferDeviceAddress;
        found->replayable += features && features->bufferDeviceAddressCaptureReplay;
    } else if (strcmp(call->command, "vkCreateBuffer") == 0) {
        found->replayable += ((const VkBufferCreateInfo *)info)->flags != 0;
    }
}

/* Buffer addresses that can be asked for again are for tools that capture and replay: a driver may
 * pay for them, so the layer does not turn them on. */
static void addresses_need_not_come_again(void **state)
{
    (void)state;
    struct addresses found = {0};
    const struct pm_null_api *driver = pm_harness_driver();
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    driver->set_callback(look_at_addresses, &found);
    pm_harness_open(&h, NULL);
    driver->set_callback(NULL, NULL);
    pm_harness_close(&h);
    assert_int_equal(found.asked, 1);
    assert_int_equal(found.replayable, 0);
}

/* What a game passes by pointer, with everything chained to it, reaches the driver by the very same
 * pointer: nobody read it in order to write it again. */
static void pointers_arrive_as_they_are(void **state)
{
    bool sampling = *state != NULL;
    const char *const extensions[] = {"VK_KHR_synchronization2", NULL};
    const struct pm_harness_options options = {.device_extensions = extensions};
    if (sampling) {
        pm_layered_enable(PM_LAYER_IMPLICIT);
        pm_layered_sample_all("1");
        pm_harness_open(&h, &options);
    } else {
        open_idle(&options);
    }
    const VkAllocationCallbacks *allocator = NULL;
    VkFence fence;
    VkQueryPool queries;
    VkCommandPool pool;
    VkShaderModule module;
    VkCommandBuffer buffer;
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkQueryPoolCreateInfo query_info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                              .queryCount = 1};
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    const uint32_t words[5] = {0x07230203, 0x10000, 0, 1, 0};
    const VkShaderModuleCreateInfo module_info = {.sType =
                                                      VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                                  .codeSize = sizeof(words),
                                                  .pCode = words};
    uint64_t position = h.driver->position();
#define ARRIVED(command, index, pointer)                                                           \
    assert_int_equal(pm_call(h.driver, position, command, 0).arguments[index],                     \
                     PM_NULL_NUMBER(pointer))
    PM_CHECK(h.vk.CreateFence(h.device, &fence_info, allocator, &fence));
    ARRIVED("vkCreateFence", 1, &fence_info);
    PM_CHECK(h.vk.CreateQueryPool(h.device, &query_info, allocator, &queries));
    ARRIVED("vkCreateQueryPool", 1, &query_info);
    ARRIVED("vkCreateQueryPool", 3, &queries);
    PM_CHECK(h.vk.CreateCommandPool(h.device, &pool_info, allocator, &pool));
    ARRIVED("vkCreateCommandPool", 1, &pool_info);
    PM_CHECK(h.vk.CreateShaderModule(h.device, &module_info, allocator, &module));
    ARRIVED("vkCreateShaderModule", 1, &module_info);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1};
    PM_CHECK(h.vk.AllocateCommandBuffers(h.device, &allocate, &buffer));
    ARRIVED("vkAllocateCommandBuffers", 1, &allocate);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    PM_CHECK(h.vk.BeginCommandBuffer(buffer, &begin));
    ARRIVED("vkBeginCommandBuffer", 1, &begin);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    const VkPerformanceQuerySubmitInfoKHR chained = {
        .sType = VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &chained,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &buffer};
    const VkCommandBufferSubmitInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO, .commandBuffer = buffer};
    const VkSubmitInfo2 submit2 = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                   .commandBufferInfoCount = 1,
                                   .pCommandBufferInfos = &buffer_info};
    PM_CHECK(h.vk.QueueSubmit(h.queue, 1, &submit, fence));
    ARRIVED("vkQueueSubmit", 2, &submit);
    ARRIVED("vkQueueSubmit", 3, fence);
    PM_CHECK(h.vk.QueueSubmit2(h.queue, 1, &submit2, VK_NULL_HANDLE));
    ARRIVED("vkQueueSubmit2", 2, &submit2);
    PM_CHECK(h.vk.QueueSubmit2KHR(h.queue, 1, &submit2, VK_NULL_HANDLE));
    ARRIVED("vkQueueSubmit2KHR", 2, &submit2);
    h.vk.DestroyShaderModule(h.device, module, allocator);
    h.vk.DestroyCommandPool(h.device, pool, allocator);
    h.vk.DestroyQueryPool(h.device, queries, allocator);
    h.vk.DestroyFence(h.device, fence, allocator);
    pm_harness_close(&h);
}

static void pointers_arrive_while_sampling(void **state)
{
    void *sampling = "yes";
    (void)state;
    pointers_arrive_as_they_are(&sampling);
}

/* Seen from the driver, creating a pipeline is the game's call first and whole, whatever is made of
 * it later. */
static void create_infos_arrive_as_they_are(void **state)
{
    (void)state;
    open_idle(NULL);
    const VkComputePipelineCreateInfo info = pm_harness_describe_compute(&h);
    VkPipeline pipelines[1];
    uint64_t position = h.driver->position();
    PM_CHECK(h.vk.CreateComputePipelines(h.device, VK_NULL_HANDLE, 1, &info, NULL, pipelines));
    struct pm_null_call call = pm_call(h.driver, position, "vkCreateComputePipelines", 0);
    assert_int_equal(call.arguments[1], 0);
    assert_int_equal(call.arguments[2], 1);
    assert_int_equal(call.arguments[3], (uintptr_t)&info);
    assert_int_equal(call.arguments[5], (uintptr_t)pipelines);
    h.vk.DestroyPipeline(h.device, pipelines[0], NULL);
    pm_harness_close(&h);
}

/* The names of all calls of a whole small program. */
static char *program(void)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    uint64_t position = pm_harness_driver()->position();
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int frame = 0; frame < 3; frame++) {
        pm_harness_begin(&h, buffer, 0);
        pm_harness_bind_set(&h, buffer);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        pm_harness_begin_pass(&h, buffer);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
        h.vk.CmdDraw(buffer, 3, 1, 0, 0);
        h.vk.CmdEndRenderPass(buffer);
        pm_harness_run(&h, buffer);
    }
    pm_harness_close(&h);
    struct pm_null_call call;
    for (; h.driver->read(position, &call); position++) {
        /* What is asked of the physical device is nobody's business. */
        if (strncmp(call.command, "vkGet", 5) != 0 && strncmp(call.command, "vkEnumerate", 11) != 0)
            fprintf(file, "%s\n", call.command);
    }
    fclose(file);
    return text;
}

/* With nothing to sample, with a broken config, and switched off, the driver sees the same calls as
 * without us. */
static void the_driver_sees_the_same_calls(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0"},
        {"PIECEMEAL_SAMPLER_API_PROBABILITY", "0"},
        {"PIECEMEAL_SAMPLER_BATCH", "many"},
        {"PIECEMEAL_DISABLE", "1"},
    };
    pm_layered_enable(PM_LAYER_OFF);
    char *plain = program();
    assert_true(strlen(plain) > 500);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pm_layered_enable(PM_LAYER_IMPLICIT);
        setenv(cases[i][0], cases[i][1], 1);
        char *layered = program();
        unsetenv(cases[i][0]);
        if (strcmp(plain, layered) != 0)
            fail_msg("%s=%s\n%s\ninstead of\n%s", cases[i][0], cases[i][1], layered, plain);
        free(layered);
    }
    pm_layered_sample_all("1");
    char *sampled = program();
    assert_string_not_equal(plain, sampled);
    free(sampled);
    free(plain);
}

/* A bad config is one clear line in the log. */
static void a_bad_config_is_said(void **state)
{
    (void)state;
    char path[160], line[512] = "";
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_BATCH", "many", 1);
    pm_harness_open(&h, NULL);
    pm_harness_close(&h);
    snprintf(path, sizeof(path), "%s/log", pm_layered_home());
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    assert_non_null(strstr(line, "PIECEMEAL_SAMPLER_BATCH"));
    assert_non_null(strstr(line, "passes everything through"));
}

static void unknown_handles_are_passed_on(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    /* A pipeline of a kind and a handle that the layer was never told of. */
    const VkPipeline stranger = h.graphics;
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_RAY_TRACING_KHR, stranger);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_SUBPASS_SHADING_HUAWEI, stranger);
    uint64_t position = h.driver->position();
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    h.vk.CmdDraw(buffer, 1, 1, 1, 1);
    assert_int_equal(h.driver->position(), position + 2);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    /* Destroying nothing is allowed, and reaches the driver. */
    h.vk.DestroyPipeline(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroyShaderModule(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroyCommandPool(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroyQueryPool(h.device, VK_NULL_HANDLE, NULL);
    VkCommandBuffer none = VK_NULL_HANDLE;
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &none);
    pm_harness_close(&h);
}

/* Destroying nothing is allowed, also where there was something before. */
static void nothing_may_be_destroyed(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pm_harness_open(&h, NULL);
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    const VkQueryPoolCreateInfo query_info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                              .queryType = VK_QUERY_TYPE_OCCLUSION,
                                              .queryCount = 1};
    const VkCommandBuffer none = VK_NULL_HANDLE;
    VkCommandPool pools[256];
    VkQueryPool queries[256];
    for (int i = 0; i < 256; i++) {
        PM_CHECK(h.vk.CreateCommandPool(h.device, &info, NULL, &pools[i]));
        PM_CHECK(h.vk.CreateQueryPool(h.device, &query_info, NULL, &queries[i]));
    }
    for (int i = 0; i < 256; i++) {
        h.vk.DestroyCommandPool(h.device, pools[i], NULL);
        h.vk.DestroyCommandPool(h.device, VK_NULL_HANDLE, NULL);
        h.vk.DestroyQueryPool(h.device, queries[i], NULL);
        h.vk.DestroyQueryPool(h.device, VK_NULL_HANDLE, NULL);
    }
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &none);
    h.vk.DestroyPipeline(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroyPipelineLayout(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroyDescriptorSetLayout(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroyRenderPass(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroySampler(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroySamplerYcbcrConversion(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroyShaderModule(h.device, VK_NULL_HANDLE, NULL);
    h.vk.DestroyDevice(VK_NULL_HANDLE, NULL);
    pm_harness_close(&h);
}

/* Who asks for the tools that are at work is told of the layer, in the way of any enumeration. */
static void tools_name_the_layer(void **state)
{
    (void)state;
    open_idle(NULL);
    const PFN_vkGetPhysicalDeviceToolProperties list = h.vki.GetPhysicalDeviceToolProperties;
    uint32_t count = 0;
    PM_CHECK(list(h.physical, &count, NULL));
    assert_int_equal(count, 1);
    VkPhysicalDeviceToolProperties tools[2] = {
        {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES},
        {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TOOL_PROPERTIES}};
    for (uint32_t room = 0; room < 3; room++) {
        count = room;
        assert_int_equal(list(h.physical, &count, tools), room > 0 ? VK_SUCCESS : VK_INCOMPLETE);
        assert_int_equal(count, room > 0);
    }
    assert_string_equal(tools[0].name, "Piecemeal");
    assert_string_equal(tools[0].layer, "VK_LAYER_PIECEMEAL_cooperative_pgo");
    assert_int_equal(tools[0].purposes, VK_TOOL_PURPOSE_PROFILING_BIT);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(draws_arrive_as_they_are),
        PM_LAYERED_TEST(tools_name_the_layer),
        PM_LAYERED_TEST(addresses_need_not_come_again),
        PM_LAYERED_TEST(pointers_arrive_as_they_are),
        PM_LAYERED_TEST(pointers_arrive_while_sampling),
        PM_LAYERED_TEST(create_infos_arrive_as_they_are),
        PM_LAYERED_TEST(the_driver_sees_the_same_calls),
        PM_LAYERED_TEST(a_bad_config_is_said),
        PM_LAYERED_TEST(unknown_handles_are_passed_on),
        PM_LAYERED_TEST(nothing_may_be_destroyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
