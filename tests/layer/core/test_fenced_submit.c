/* Where the fences of submissions arrive: behind those that use timeline semaphores, on lavapipe;
 * elsewhere as they are. */
#include "tests/layer/layered.h"

#include <stdio.h>
#include <stdlib.h>

static struct pm_harness h;
static VkFence fence;
static VkSemaphore timeline;
static uint64_t value; /* that the timeline was given last */

static void open_on(VkDriverId driver)
{
    static const VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES,
        .synchronization2 = VK_TRUE};
    static const VkPhysicalDeviceTimelineSemaphoreFeatures features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES,
        .pNext = (void *)(uintptr_t)&features13,
        .timelineSemaphore = VK_TRUE};
    const struct pm_harness_options options = {.device_next = &features, .bare = true};
    char id[16];
    snprintf(id, sizeof id, "%d", (int)driver);
    setenv("PM_NULL_DRIVER_ID", id, 1);
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "1e-15", 1);
    pm_harness_open(&h, &options);
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    PM_CHECK(h.vk.CreateFence(h.device, &fence_info, NULL, &fence));
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    PM_CHECK(h.vk.CreateSemaphore(h.device, &info, NULL, &timeline));
    value = 0;
}

static void close_all(void)
{
    h.vk.DestroySemaphore(h.device, timeline, NULL);
    h.vk.DestroyFence(h.device, fence, NULL);
    pm_harness_close(&h);
}

/* What signals the timeline, and the fence. */
static VkResult submit(void)
{
    value++;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value};
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &timeline};
    return h.vk.QueueSubmit(h.queue, 1, &info, fence);
}

static VkResult submit2(void)
{
    value++;
    const VkSemaphoreSubmitInfo signal = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                          .semaphore = timeline,
                                          .value = value,
                                          .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSubmitInfo2 info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                .signalSemaphoreInfoCount = 1,
                                .pSignalSemaphoreInfos = &signal};
    return h.vk.QueueSubmit2(h.queue, 1, &info, fence);
}

/* Without semaphores. */
static VkResult submit_plain(void)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    return h.vk.QueueSubmit(h.queue, 1, &info, fence);
}

/* How many submissions the driver was given, and whether the last one is nothing but the fence. */
static uint32_t made(uint64_t since, const char *command, bool *behind)
{
    const uint32_t plain = pm_calls_of(h.driver, since, "vkQueueSubmit");
    const uint32_t all = plain + pm_calls_of(h.driver, since, "vkQueueSubmit2");
    const struct pm_null_call first = pm_call(h.driver, since, command, 0);
    *behind = first.arguments[3] == 0;
    if (*behind) {
        const struct pm_null_call last = pm_call(h.driver, since, "vkQueueSubmit", plain - 1);
        assert_int_equal(last.arguments[1], 0);
        assert_int_equal(last.arguments[3], PM_NULL_NUMBER(fence));
    } else {
        assert_int_equal(first.arguments[3], PM_NULL_NUMBER(fence));
    }
    return all;
}

static void expect(VkResult (*how)(void), const char *command, bool expected)
{
    bool behind;
    const uint64_t since = h.driver->position();
    PM_CHECK(how());
    assert_int_equal(made(since, command, &behind), expected ? 2 : 1);
    assert_int_equal(behind, expected);
    PM_CHECK(h.vk.WaitForFences(h.device, 1, &fence, VK_TRUE, UINT64_MAX));
    PM_CHECK(h.vk.ResetFences(h.device, 1, &fence));
}

static void behind_timelines_on_lavapipe(void **state)
{
    (void)state;
    open_on(VK_DRIVER_ID_MESA_LLVMPIPE);
    expect(submit, "vkQueueSubmit", true);
    expect(submit2, "vkQueueSubmit2", true);
    expect(submit_plain, "vkQueueSubmit", false);
    close_all();
}

static void as_they_are_elsewhere(void **state)
{
    (void)state;
    open_on(VK_DRIVER_ID_MESA_RADV);
    expect(submit, "vkQueueSubmit", false);
    expect(submit2, "vkQueueSubmit2", false);
    close_all();
}

/* A submission that is refused has no fence behind it. */
static void of_what_is_refused(void **state)
{
    (void)state;
    open_on(VK_DRIVER_ID_MESA_LLVMPIPE);
    const uint64_t since = h.driver->position();
    h.driver->inject("vkQueueSubmit:1=-1");
    assert_int_equal(submit(), VK_ERROR_OUT_OF_HOST_MEMORY);
    assert_int_equal(pm_calls_of(h.driver, since, "vkQueueSubmit"), 1);
    h.driver->inject("");
    expect(submit, "vkQueueSubmit", true);
    /* And what only its fence was refused of was made. */
    h.driver->inject("vkQueueSubmit:2=-1");
    assert_int_equal(submit(), VK_ERROR_DEVICE_LOST);
    h.driver->inject("");
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(behind_timelines_on_lavapipe),
        PM_LAYERED_TEST(as_they_are_elsewhere),
        PM_LAYERED_TEST(of_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
