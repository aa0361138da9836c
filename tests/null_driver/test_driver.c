/* The null driver itself, through the loader and without layers. */
#include "tests/cmocka_includes.h"
#include "tests/null_driver/harness.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int set_up(void **state)
{
    (void)state;
    pm_harness_environment();
    const char *const unset[] = {"PM_NULL_API_VERSION", "PM_NULL_WITHOUT_EXTENSIONS",
                                 "PM_NULL_WITHOUT_FEATURES", "PM_NULL_FAIL", "PM_NULL_DELAY_US"};
    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
        unsetenv(unset[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    const struct pm_null_api *driver = pm_harness_driver();
    const char *last;
    if (driver->errors(&last) != 0)
        fail_msg("%s", last);
    for (uint32_t type = 1; type <= VK_OBJECT_TYPE_COMMAND_POOL; type++) {
        if (driver->live((VkObjectType)type) != 0)
            fail_msg("%lu objects of type %u are left",
                     (unsigned long)driver->live((VkObjectType)type), type);
    }
    return 0;
}

struct buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    uint32_t *map;
};

static struct buffer make_buffer(struct pm_harness *h, VkDeviceSize size)
{
    struct buffer out;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    PM_CHECK(h->vk.CreateBuffer(h->device, &info, NULL, &out.buffer));
    VkMemoryRequirements needed;
    h->vk.GetBufferMemoryRequirements(h->device, out.buffer, &needed);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needed.size,
                                         .memoryTypeIndex = 1};
    PM_CHECK(h->vk.AllocateMemory(h->device, &memory, NULL, &out.memory));
    PM_CHECK(h->vk.BindBufferMemory(h->device, out.buffer, out.memory, 0));
    PM_CHECK(h->vk.MapMemory(h->device, out.memory, 0, VK_WHOLE_SIZE, 0, (void **)&out.map));
    return out;
}

static void free_buffer(struct pm_harness *h, struct buffer *buffer)
{
    h->vk.DestroyBuffer(h->device, buffer->buffer, NULL);
    h->vk.FreeMemory(h->device, buffer->memory, NULL);
}

static VkSemaphore make_timeline(struct pm_harness *h)
{
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    VkSemaphore semaphore;
    PM_CHECK(h->vk.CreateSemaphore(h->device, &info, NULL, &semaphore));
    return semaphore;
}

static VkFence make_fence(struct pm_harness *h)
{
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    PM_CHECK(h->vk.CreateFence(h->device, &info, NULL, &fence));
    return fence;
}

static void calls_are_recorded(void **state)
{
    (void)state;
    struct pm_harness h;
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    uint64_t position = h.driver->position();
    h.vk.CmdDraw(buffer, 3, 5, 7, 9);
    h.vk.CmdSetDepthBias(buffer, 1.5f, 0.0f, -2.0f);
    struct pm_null_call call;
    assert_int_equal(h.driver->position(), position + 2);
    assert_true(h.driver->read(position, &call));
    assert_string_equal(call.command, "vkCmdDraw");
    assert_int_equal(call.count, 5);
    assert_ptr_equal((void *)(uintptr_t)call.arguments[0], buffer);
    assert_int_equal(call.arguments[1], 3);
    assert_int_equal(call.arguments[4], 9);
    assert_true(h.driver->read(position + 1, &call));
    float bias;
    uint32_t bits = (uint32_t)call.arguments[3];
    memcpy(&bias, &bits, sizeof(bias));
    assert_true(bias == -2.0f);
    assert_false(h.driver->read(position + 2, &call));
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    uint64_t draws = h.driver->executed_draws();
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    assert_int_equal(h.driver->executed_draws(), draws + 2);
    pm_harness_close(&h);
}

static void commands_are_executed(void **state)
{
    (void)state;
    struct pm_harness h;
    pm_harness_open(&h, NULL);
    struct buffer one = make_buffer(&h, 64), two = make_buffer(&h, 64);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkCommandBuffer secondary = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    pm_harness_begin(&h, secondary, 0);
    const uint32_t words[2] = {17, 18};
    h.vk.CmdUpdateBuffer(secondary, two.buffer, 8, sizeof(words), words);
    PM_CHECK(h.vk.EndCommandBuffer(secondary));
    pm_harness_begin(&h, buffer, 0);
    h.vk.CmdFillBuffer(buffer, one.buffer, 0, VK_WHOLE_SIZE, 42);
    const VkBufferCopy region = {4, 16, 8};
    h.vk.CmdCopyBuffer(buffer, one.buffer, two.buffer, 1, &region);
    h.vk.CmdExecuteCommands(buffer, 1, &secondary);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    memset(two.map, 0, 64);
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    assert_int_equal(one.map[15], 42);
    const uint32_t expected[8] = {0, 0, 17, 18, 42, 42, 0, 0};
    assert_memory_equal(two.map, expected, sizeof(expected));
    const VkBufferDeviceAddressInfo address = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = two.buffer};
    assert_int_equal(h.vk.GetBufferDeviceAddress(h.device, &address), (uintptr_t)two.map);
    free_buffer(&h, &one);
    free_buffer(&h, &two);
    pm_harness_close(&h);
}

/* A slow device: the submit returns, the fence and the timeline are signaled later, in order. */
static void a_delay_is_not_waited_for(void **state)
{
    (void)state;
    struct pm_harness h;
    pm_harness_open(&h, NULL);
    h.driver->hold_submissions(true);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    VkFence fence = make_fence(&h);
    VkSemaphore timeline = make_timeline(&h);
    const uint64_t value = 7;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &timeline};
    PM_CHECK(h.vk.QueueSubmit(h.queue, 1, &info, fence));
    uint64_t now = 1;
    assert_int_equal(h.vk.GetFenceStatus(h.device, fence), VK_NOT_READY);
    PM_CHECK(h.vk.GetSemaphoreCounterValue(h.device, timeline, &now));
    assert_int_equal(now, 0);
    assert_int_equal(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, 1000000), VK_TIMEOUT);
    h.driver->hold_submissions(false);
    PM_CHECK(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX));
    PM_CHECK(h.vk.GetSemaphoreCounterValue(h.device, timeline, &now));
    assert_int_equal(now, 7);
    /* One that takes a time takes no less. */
    h.driver->set_delay(50000);
    PM_CHECK(h.vk.ResetFences(h.device, 1, &fence));
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    PM_CHECK(h.vk.QueueSubmit(h.queue, 0, NULL, fence));
    PM_CHECK(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX));
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true((end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000 >= 49);
    h.driver->set_delay(0);
    h.vk.DestroySemaphore(h.device, timeline, NULL);
    h.vk.DestroyFence(h.device, fence, NULL);
    pm_harness_close(&h);
}

static void a_wait_may_come_before_its_signal(void **state)
{
    (void)state;
    struct pm_harness h;
    pm_harness_open(&h, NULL);
    VkSemaphore timeline = make_timeline(&h);
    VkFence fence = make_fence(&h);
    const uint64_t value = 3;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = 1,
                               .pWaitSemaphores = &timeline};
    PM_CHECK(h.vk.QueueSubmit(h.queue, 1, &info, fence));
    assert_int_equal(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, 2000000), VK_TIMEOUT);
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline, .value = 3};
    PM_CHECK(h.vk.SignalSemaphore(h.device, &signal));
    PM_CHECK(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX));
    h.vk.DestroySemaphore(h.device, timeline, NULL);
    h.vk.DestroyFence(h.device, fence, NULL);
    pm_harness_close(&h);
}

static void faults_are_injected(void **state)
{
    (void)state;
    struct pm_harness h;
    pm_harness_open(&h, NULL);
    assert_false(h.driver->inject("vkNoSuchCommand:1"));
    assert_true(h.driver->inject("vkCreateFence:2,vkQueueSubmit:1"));
    VkFence first = make_fence(&h), second = VK_NULL_HANDLE;
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    assert_int_equal(h.vk.CreateFence(h.device, &info, NULL, &second),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(h.vk.CreateFence(h.device, &info, NULL, &second), VK_SUCCESS);
    assert_int_equal(h.vk.QueueSubmit(h.queue, 0, NULL, first), VK_ERROR_DEVICE_LOST);
    /* It stays lost. */
    assert_int_equal(h.vk.QueueSubmit(h.queue, 0, NULL, first), VK_ERROR_DEVICE_LOST);
    assert_int_equal(h.vk.WaitForFences(h.device, 1, &first, VK_TRUE, UINT64_MAX),
                     VK_ERROR_DEVICE_LOST);
    h.vk.DestroyFence(h.device, first, NULL);
    h.vk.DestroyFence(h.device, second, NULL);
    pm_harness_close(&h);
    h.driver->inject("");
}

static void features_and_extensions_can_be_missing(void **state)
{
    (void)state;
    setenv("PM_NULL_WITHOUT_FEATURES", "shaderInt64,bufferDeviceAddress", 1);
    setenv("PM_NULL_WITHOUT_EXTENSIONS", "VK_EXT_multi_draw", 1);
    struct pm_harness h;
    const struct pm_harness_options none = {0};
    pm_harness_open_instance(&h, &none);
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features12};
    h.vki.GetPhysicalDeviceFeatures2(h.physical, &features);
    assert_false(features.features.shaderInt64);
    assert_true(features.features.shaderFloat64);
    assert_false(features12.bufferDeviceAddress);
    assert_true(features12.timelineSemaphore);
    const char *const extension[] = {"VK_EXT_multi_draw", NULL};
    struct pm_harness_options options = {.device_extensions = extension};
    assert_int_equal(pm_harness_create_device(&h, &options), VK_ERROR_EXTENSION_NOT_PRESENT);
    VkPhysicalDeviceFeatures wanted = {.shaderInt64 = VK_TRUE};
    options = (struct pm_harness_options){.features = &wanted};
    assert_int_equal(pm_harness_create_device(&h, &options), VK_ERROR_FEATURE_NOT_PRESENT);
    features12.bufferDeviceAddress = VK_TRUE;
    options = (struct pm_harness_options){.device_next = &features12};
    assert_int_equal(pm_harness_create_device(&h, &options), VK_ERROR_FEATURE_NOT_PRESENT);
    features12.bufferDeviceAddress = VK_FALSE;
    assert_int_equal(pm_harness_create_device(&h, &options), VK_SUCCESS);
    pm_harness_close(&h);
}

static void commands_follow_version_and_extensions(void **state)
{
    (void)state;
    setenv("PM_NULL_API_VERSION", "1.2", 1);
    struct pm_harness h;
    const char *const extension[] = {"VK_EXT_multi_draw", NULL};
    const struct pm_harness_options options = {.device_extensions = extension, .bare = true};
    pm_harness_open(&h, &options);
    assert_null(vkGetDeviceProcAddr(h.device, "vkQueueSubmit2"));
    assert_null(vkGetDeviceProcAddr(h.device, "vkQueueSubmit2KHR"));
    assert_null(vkGetDeviceProcAddr(h.device, "vkCmdDrawIndirectCountKHR"));
    assert_non_null(vkGetDeviceProcAddr(h.device, "vkCmdDrawIndirectCount"));
    assert_non_null(vkGetDeviceProcAddr(h.device, "vkCmdDrawMultiEXT"));
    assert_null(vkGetDeviceProcAddr(h.device, "vkCmdDrawMeshTasksEXT"));
    pm_harness_close(&h);
}

static void frames_are_presented(void **state)
{
    (void)state;
    struct pm_harness h;
    const char *const instance[] = {"VK_KHR_surface", "VK_EXT_headless_surface", NULL};
    const char *const device[] = {"VK_KHR_swapchain", NULL};
    const struct pm_harness_options options = {
        .instance_extensions = instance, .device_extensions = device, .bare = true};
    pm_harness_open(&h, &options);
    const VkHeadlessSurfaceCreateInfoEXT surface_info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    VkSurfaceKHR surface;
    PM_CHECK(h.vki.CreateHeadlessSurfaceEXT(h.instance, &surface_info, NULL, &surface));
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                           .surface = surface,
                                           .minImageCount = 3};
    VkSwapchainKHR swapchain;
    PM_CHECK(h.vk.CreateSwapchainKHR(h.device, &info, NULL, &swapchain));
    const VkSemaphoreCreateInfo semaphore_info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore;
    PM_CHECK(h.vk.CreateSemaphore(h.device, &semaphore_info, NULL, &semaphore));
    for (uint32_t frame = 0; frame < 7; frame++) {
        uint32_t index = 99;
        PM_CHECK(h.vk.AcquireNextImageKHR(h.device, swapchain, UINT64_MAX, semaphore,
                                          VK_NULL_HANDLE, &index));
        assert_int_equal(index, frame % 3);
        const VkPresentInfoKHR present = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                          .waitSemaphoreCount = 1,
                                          .pWaitSemaphores = &semaphore,
                                          .swapchainCount = 1,
                                          .pSwapchains = &swapchain,
                                          .pImageIndices = &index};
        PM_CHECK(h.vk.QueuePresentKHR(h.queue, &present));
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    h.vk.DestroySemaphore(h.device, semaphore, NULL);
    h.vk.DestroySwapchainKHR(h.device, swapchain, NULL);
    h.vki.DestroySurfaceKHR(h.instance, surface, NULL);
    pm_harness_close(&h);
}

/* The driver sees what a validation layer would; the counts are set back by nothing, so this one is
 * last. */
static void wrong_uses_are_noticed(void **state)
{
    (void)state;
    struct pm_harness h;
    pm_harness_open(&h, NULL);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    VkPipeline doomed = pm_harness_make_compute(&h);
    pm_harness_begin(&h, buffer, 0);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, doomed);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    h.vk.DestroyPipeline(h.device, doomed, NULL);
    const char *last;
    assert_int_equal(h.driver->errors(&last), 0);
    pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
    assert_int_equal(h.driver->errors(&last), 1);
    assert_non_null(strstr(last, "destroyed pipeline"));
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(calls_are_recorded),
        TEST(commands_are_executed),
        TEST(a_delay_is_not_waited_for),
        TEST(a_wait_may_come_before_its_signal),
        TEST(faults_are_injected),
        TEST(features_and_extensions_can_be_missing),
        TEST(commands_follow_version_and_extensions),
        TEST(frames_are_presented),
        cmocka_unit_test_setup(wrong_uses_are_noticed, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
