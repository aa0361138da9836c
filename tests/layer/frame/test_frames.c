/* Frames: what counts as a heartbeat, and that everything the layer makes has a name for debuggers.
 */
#include "tests/kernel_clock.h"
#include "tests/layer/layered.h"
#include "tests/patience.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct pm_harness h;
static VkSurfaceKHR surface;
static VkSwapchainKHR swapchain;

static void open_with_surface(void)
{
    const char *const instance[] = {"VK_KHR_surface", "VK_EXT_headless_surface", NULL};
    const char *const device[] = {"VK_KHR_swapchain", "VK_KHR_present_id", "VK_KHR_present_wait",
                                  "VK_AMD_anti_lag", NULL};
    const struct pm_harness_options options = {.instance_extensions = instance,
                                               .device_extensions = device};
    pm_harness_open(&h, &options);
    const VkHeadlessSurfaceCreateInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_HEADLESS_SURFACE_CREATE_INFO_EXT};
    PM_CHECK(h.vki.CreateHeadlessSurfaceEXT(h.instance, &info, NULL, &surface));
}

static void make_swapchain(void)
{
    const VkSwapchainCreateInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SWAPCHAIN_CREATE_INFO_KHR,
                                           .surface = surface,
                                           .minImageCount = 3};
    PM_CHECK(h.vk.CreateSwapchainKHR(h.device, &info, NULL, &swapchain));
}

static void close_with_surface(void)
{
    h.vk.DestroySwapchainKHR(h.device, swapchain, NULL);
    h.vki.DestroySurfaceKHR(h.instance, surface, NULL);
    pm_harness_close(&h);
}

static void present(void)
{
    uint32_t index;
    VkResult result = VK_NOT_READY;
    const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence;
    PM_CHECK(h.vk.CreateFence(h.device, &fence_info, NULL, &fence));
    PM_CHECK(
        h.vk.AcquireNextImageKHR(h.device, swapchain, UINT64_MAX, VK_NULL_HANDLE, fence, &index));
    const VkPresentInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PRESENT_INFO_KHR,
                                   .swapchainCount = 1,
                                   .pSwapchains = &swapchain,
                                   .pImageIndices = &index,
                                   .pResults = &result};
    uint64_t position = h.driver->position();
    PM_CHECK(h.vk.QueuePresentKHR(h.queue, &info));
    struct pm_null_call call = pm_call(h.driver, position, "vkQueuePresentKHR", 0);
    assert_int_equal(call.arguments[1], (uintptr_t)&info);
    assert_int_equal(result, VK_SUCCESS);
    h.vk.DestroyFence(h.device, fence, NULL);
}

static void submit_nothing(void)
{
    PM_CHECK(h.vk.QueueSubmit(h.queue, 0, NULL, VK_NULL_HANDLE));
}

/* Whether a buffer recorded now is sampled. */
static bool window_is_open(VkCommandBuffer probe)
{
    pm_harness_begin(&h, probe, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    h.vk.CmdBindPipeline(probe, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    uint64_t position = h.driver->position();
    h.vk.CmdDispatch(probe, 1, 1, 1);
    uint64_t calls = h.driver->position() - position;
    PM_CHECK(h.vk.EndCommandBuffer(probe));
    return calls == 3;
}

/* Heartbeats until the window is as wanted; 0 when it never is. */
static int beats_until(VkCommandBuffer probe, bool open, void (*beat)(void))
{
    for (int beats = 1; beats <= 200; beats++) {
        beat();
        if (window_is_open(probe) == open)
            return beats;
    }
    return 0;
}

static void use_windows(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.2", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "10", 1);
}

static void presents_are_heartbeats(void **state)
{
    (void)state;
    use_windows();
    open_with_surface();
    make_swapchain();
    VkCommandBuffer probe = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int cycle = 0; cycle < 5; cycle++) {
        assert_false(window_is_open(probe));
        assert_int_equal(beats_until(probe, true, submit_nothing), 0);
        assert_true(beats_until(probe, true, present) > 0);
        assert_int_equal(beats_until(probe, false, submit_nothing), 0);
        assert_int_equal(beats_until(probe, false, present), 10);
    }
    close_with_surface();
}

/* A program that never presents, and a device without a swapchain, by submissions. */
static void submissions_are_heartbeats_without_presents(void **state)
{
    (void)state;
    use_windows();
    open_with_surface();
    VkCommandBuffer probe = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int cycle = 0; cycle < 5; cycle++) {
        assert_true(beats_until(probe, true, submit_nothing) > 0);
        assert_int_equal(beats_until(probe, false, submit_nothing), 10);
    }
    make_swapchain();
    close_with_surface();
}

static void a_seed_repeats_a_run(void **state)
{
    (void)state;
    int beats[2][20];
    for (int run = 0; run < 2; run++) {
        use_windows();
        open_with_surface();
        make_swapchain();
        VkCommandBuffer probe = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        for (int i = 0; i < 20; i++)
            beats[run][i] = beats_until(probe, i % 2 == 0, present);
        close_with_surface();
    }
    assert_memory_equal(beats[0], beats[1], sizeof(beats[0]));
}

/* ---- names ---- */

static const struct {
    const char *command;
    VkObjectType type;
} makers[] = {
    {"vkCreateBuffer", VK_OBJECT_TYPE_BUFFER},
    {"vkAllocateMemory", VK_OBJECT_TYPE_DEVICE_MEMORY},
    {"vkCreateFence", VK_OBJECT_TYPE_FENCE},
    {"vkCreateSemaphore", VK_OBJECT_TYPE_SEMAPHORE},
    {"vkCreateCommandPool", VK_OBJECT_TYPE_COMMAND_POOL},
    {"vkCreatePipelineCache", VK_OBJECT_TYPE_PIPELINE_CACHE},
    {"vkCreateShaderModule", VK_OBJECT_TYPE_SHADER_MODULE},
    {"vkCreatePipelineLayout", VK_OBJECT_TYPE_PIPELINE_LAYOUT},
    {"vkCreateRenderPass", VK_OBJECT_TYPE_RENDER_PASS},
    {"vkCreateDescriptorSetLayout", VK_OBJECT_TYPE_DESCRIPTOR_SET_LAYOUT},
    {"vkCreatePipelineLayout", VK_OBJECT_TYPE_PIPELINE_LAYOUT},
    {"vkCreateGraphicsPipelines", VK_OBJECT_TYPE_PIPELINE},
    {"vkCreateComputePipelines", VK_OBJECT_TYPE_PIPELINE},
};
enum { MAKERS = sizeof(makers) / sizeof(makers[0]) };

/* By object type: what was made without the game's allocator, which is the layer's, and what was
 * named. The game of this test names nothing. */
struct seen {
    uint32_t made[64], named[64];
};

static void see(void *user, const struct pm_null_call *call)
{
    struct seen *seen = user;
    if (strcmp(call->command, "vkSetDebugUtilsObjectNameEXT") == 0) {
        const VkDebugUtilsObjectNameInfoEXT *info = (const void *)(uintptr_t)call->arguments[1];
        if (info->objectHandle != 0 && info->pObjectName && info->pObjectName[0] != '\0' &&
            (uint32_t)info->objectType < 64)
            seen->named[info->objectType]++;
        return;
    }
    for (size_t i = 0; i < MAKERS; i++) {
        if (strcmp(call->command, makers[i].command) == 0 && call->arguments[call->count - 2] == 0)
            seen->made[makers[i].type]++;
    }
}

/* What the game keeps is recorded twice where not every call is sampled (frame/predicated.h). */
static void look_at_names(const char *probability)
{
    struct seen seen = {0};
    const char *const instance[] = {"VK_EXT_debug_utils", NULL};
    const struct pm_harness_options options = {.instance_extensions = instance,
                                               .allocator = &pm_layered_allocator};
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all(probability);
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    pm_harness_driver()->set_callback(see, &seen);
    pm_harness_open(&h, &options);
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    for (int i = 0; i < 3; i++) {
        pm_harness_begin(&h, buffer, 0);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        for (int j = 0; j < 20; j++)
            pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    }
    pm_harness_close(&h);
    pm_harness_driver()->set_callback(NULL, NULL);
    assert_true(seen.made[VK_OBJECT_TYPE_PIPELINE] > 0);
    assert_true(seen.made[VK_OBJECT_TYPE_BUFFER] > 0);
    /* Drivers free a layout's name twice where they merge layouts of libraries (HAZARDS 10). */
    assert_true(seen.made[VK_OBJECT_TYPE_PIPELINE_LAYOUT] > 0);
    assert_int_equal(seen.named[VK_OBJECT_TYPE_PIPELINE_LAYOUT], 0);
    for (size_t i = 0; i < MAKERS; i++) {
        VkObjectType type = makers[i].type;
        if (type != VK_OBJECT_TYPE_PIPELINE_LAYOUT && seen.named[type] < seen.made[type])
            fail_msg("%s: %u made, %u named", makers[i].command, seen.made[type], seen.named[type]);
    }
}

static void everything_of_ours_but_layouts_has_a_name(void **state)
{
    (void)state;
    look_at_names("1");
    look_at_names("0.5");
}

/* ---- frames that are capped ---- */

/* The layer's, too: as if threads worked all the time, however busy the machine is. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
    return kernel_clock(clock == CLOCK_PROCESS_CPUTIME_ID ? CLOCK_MONOTONIC : clock, time);
}

static void work(void)
{
    usleep(2000);
}

static void work_during(void *user, const struct pm_null_call *call)
{
    (void)user;
    if (strcmp(call->command, "vkWaitForPresentKHR") == 0 ||
        strcmp(call->command, "vkAntiLagUpdateAMD") == 0 ||
        strcmp(call->command, "vkGetQueryPoolResults") == 0)
        work();
}

static void wait_for_present(void)
{
    PM_CHECK(h.vk.WaitForPresentKHR(h.device, swapchain, 1, UINT64_MAX));
}

/* By name (VK_KHR_present_wait2). */
static void wait_for_present2(void)
{
    typedef VkResult(VKAPI_PTR * function)(VkDevice, VkSwapchainKHR, const void *info);
    PM_CHECK(((function)vkGetDeviceProcAddr(h.device, "vkWaitForPresent2KHR"))(h.device, swapchain,
                                                                               NULL));
}

static void anti_lag(void)
{
    const VkAntiLagDataAMD data = {.sType = VK_STRUCTURE_TYPE_ANTI_LAG_DATA_AMD};
    h.vk.AntiLagUpdateAMD(h.device, &data);
}

static void wait_for_query(void)
{
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = 1};
    VkQueryPool pool;
    uint64_t value = 0;
    PM_CHECK(h.vk.CreateQueryPool(h.device, &info, NULL, &pool));
    h.driver->inject("vkGetQueryPoolResults:1=1"); /* VK_NOT_READY: it has none */
    h.vk.GetQueryPoolResults(h.device, pool, 0, 1, sizeof value, &value, sizeof value,
                             VK_QUERY_RESULT_WAIT_BIT);
    h.vk.DestroyQueryPool(h.device, pool, NULL);
}

/* A frame that the device is through with before the next one begins. */
static void frame(void (*pass_time)(void))
{
    submit_nothing();
    pass_time();
    present();
}

static void open_watched(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    unsetenv("PIECEMEAL_DEBUG_SYNCHRONOUS");
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "0.999999", 1);
    setenv("PIECEMEAL_SAMPLER_WINDOW_FRAMES", "1000", 1);
    open_with_surface();
    make_swapchain();
}

/* A processor that is busy bounds the game, but not one that waits for the display meanwhile. */
static void a_capped_game_is_not_bound_by_its_processor(void **state)
{
    (void)state;
    static const char *const bound = "bound by its processor; sampling rests";
    void (*const waits[])(void) = {wait_for_present, wait_for_present2, anti_lag, wait_for_query};
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        open_watched();
        h.driver->set_callback(work_during, NULL);
        for (int frames = 0; frames < 64; frames++)
            frame(waits[i]);
        h.driver->set_callback(NULL, NULL);
        close_with_surface();
        if (pm_layered_logged(bound) != 0)
            fail_msg("way %zu to wait is not seen", i);
    }
    open_watched();
    uint64_t until = 0;
    while (pm_layered_logged(bound) == 0 && patience(&until))
        frame(work);
    assert_int_equal(pm_layered_logged(bound), 1);
    close_with_surface();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(presents_are_heartbeats),
        PM_LAYERED_TEST(a_capped_game_is_not_bound_by_its_processor),
        PM_LAYERED_TEST(submissions_are_heartbeats_without_presents),
        PM_LAYERED_TEST(a_seed_repeats_a_run),
        PM_LAYERED_TEST(everything_of_ours_but_layouts_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
