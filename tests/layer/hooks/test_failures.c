/* A driver that has less, refuses, runs out of memory or is lost: the game sees what it would see
 * without the layer. */
#include "profile/session_status.h"
#include "tests/layer/layered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

static void enable(void)
{
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
}

/* Draws and dispatches once; returns the binds that the driver saw: 2 unsampled, 6 sampled. */
static uint32_t frame(VkResult expected)
{
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t position = h.driver->position();
    pm_harness_begin(&h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_begin_pass(&h, buffer);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, h.graphics);
    h.vk.CmdDraw(buffer, 3, 1, 0, 0);
    h.vk.CmdEndRenderPass(buffer);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    uint32_t binds = pm_calls_of(h.driver, position, "vkCmdBindPipeline");
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE), expected);
    if (expected == VK_SUCCESS)
        PM_CHECK(h.vk.QueueWaitIdle(h.queue));
    h.vk.FreeCommandBuffers(h.device, h.pool, 1, &buffer);
    return binds;
}

/* What a vkCreateDevice asked for, seen by the driver. */
struct asked {
    uint32_t calls;
    uint32_t extensions[4];
    bool address[4];
};

static void see_create_device(void *user, const struct pm_null_call *call)
{
    struct asked *asked = user;
    if (strcmp(call->command, "vkCreateDevice") != 0 || asked->calls == 4)
        return;
    const VkDeviceCreateInfo *info = (const void *)(uintptr_t)call->arguments[1];
    asked->extensions[asked->calls] = info->enabledExtensionCount;
    for (const VkBaseInStructure *item = info->pNext; item; item = item->pNext) {
        if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES)
            asked->address[asked->calls] =
                ((const VkPhysicalDeviceBufferDeviceAddressFeatures *)item)->bufferDeviceAddress;
        if (item->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES)
            asked->address[asked->calls] =
                ((const VkPhysicalDeviceVulkan12Features *)item)->bufferDeviceAddress;
    }
    asked->calls++;
}

/* The first vkCreateDevice is refused, whatever the reason: a second one asks for just what the
 * game wants. */
static void a_refused_device_is_asked_for_again(void **state)
{
    (void)state;
    const char *const reasons[] = {"vkCreateDevice:1", "vkCreateDevice:1=-3", "vkCreateDevice:1=-7",
                                   "vkCreateDevice:1=-1"};
    enable();
    for (size_t i = 0; i < 4; i++) {
        struct asked asked = {0};
        const struct pm_null_api *driver = pm_harness_driver();
        setenv("PM_NULL_FAIL", reasons[i], 1);
        driver->set_callback(see_create_device, &asked);
        pm_harness_open(&h, NULL);
        driver->set_callback(NULL, NULL);
        assert_int_equal(asked.calls, 2);
        assert_true(asked.address[0]);
        assert_false(asked.address[1]);
        assert_int_equal(asked.extensions[1], 0);
        assert_int_equal(frame(VK_SUCCESS), 2);
        pm_harness_close(&h);
    }
}

/* Refused for the game's own sake: it gets the driver's answer. */
static void a_device_the_game_cannot_have(void **state)
{
    (void)state;
    enable();
    setenv("PM_NULL_FAIL", "vkCreateDevice:1", 1);
    const struct pm_harness_options none = {0};
    pm_harness_open_instance(&h, &none);
    const char *const extension[] = {"VK_EXT_no_such_extension", NULL};
    const struct pm_harness_options options = {.device_extensions = extension};
    assert_int_equal(pm_harness_create_device(&h, &options), VK_ERROR_EXTENSION_NOT_PRESENT);
    h.vki.DestroyInstance(h.instance, NULL);
}

static void take_status(void *user, const struct pm_session_status *status)
{
    *(struct pm_session_status *)user = *status;
}

/* Without something that sampling needs there is no sampling, and the player is told why; without
 * something that it can do without there is. */
static void a_driver_that_has_less(void **state)
{
    (void)state;
    const struct {
        const char *variable, *value;
        uint32_t binds;
        const char *why_not; /* NULL: it is sampled */
    } cases[] = {
        {"PM_NULL_WITHOUT_FEATURES", "bufferDeviceAddress", 2, "it has no buffer device addresses"},
        {"PM_NULL_WITHOUT_FEATURES", "fragmentStoresAndAtomics", 4, NULL},
        {"PM_NULL_WITHOUT_FEATURES", "shaderInt64,shaderBufferInt64Atomics", 6, NULL},
        {"PM_NULL_WITHOUT_FEATURES", "timelineSemaphore", 6, NULL},
        {"PM_NULL_WITHOUT_FEATURES", "vulkanMemoryModel,vulkanMemoryModelDeviceScope", 6, NULL},
        {"PM_NULL_SUBGROUP_STAGES", "32", 4, NULL}, /* compute */
        {"PM_NULL_SUBGROUP_STAGES", "16", 4, NULL}, /* fragment */
        {"PM_NULL_SUBGROUP_OPERATIONS", "1", 2, "it has no subgroup ballots"},
        {"PM_NULL_SUBGROUP_SIZE", "4", 6, NULL},
        {"PM_NULL_TIMESTAMP_BITS", "0", 6, NULL},
        {"PM_NULL_API_VERSION", "1.2", 6, NULL},
        {"PM_NULL_API_VERSION", "1.1", 6, NULL},
        {"PM_NULL_API_VERSION", "1.0", 2, "it has only Vulkan 1.0"},
    };
    enable();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char game[16];
        struct pm_session_status status = {.ended = false};
        snprintf(game, sizeof(game), "less %zu", i);
        const struct pm_harness_options options = {.application = game};
        setenv(cases[i].variable, cases[i].value, 1);
        pm_harness_open(&h, &options);
        uint32_t binds = frame(VK_SUCCESS);
        pm_session_status_each(game, take_status, &status);
        const bool had_ended = status.ended;
        pm_harness_close(&h);
        unsetenv(cases[i].variable);
        pm_session_status_each(game, take_status, &status);
        if (binds != cases[i].binds)
            fail_msg("%s=%s: %u binds, not %u", cases[i].variable, cases[i].value, binds,
                     cases[i].binds);
        assert_string_equal(status.why_not, cases[i].why_not ? cases[i].why_not : "");
        assert_false(had_ended);
        assert_true(status.ended);
    }
}

/* The game's own feature structures, in all the ways there are, beside ours. */
static void features_in_every_form(void **state)
{
    (void)state;
    VkPhysicalDeviceFeatures core = {.shaderFloat64 = VK_TRUE};
    VkPhysicalDeviceVulkan12Features vulkan12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .samplerMirrorClampToEdge = VK_TRUE};
    VkPhysicalDeviceBufferDeviceAddressFeatures address = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES,
        .bufferDeviceAddress = VK_FALSE};
    VkPhysicalDeviceFeatures2 two = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                     .features = core};
    VkPhysicalDeviceFeatures2 two_and_12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                            .pNext = &vulkan12};
    const struct pm_harness_options forms[] = {
        {0},
        {.features = &core},
        {.features = &core, .device_next = &vulkan12},
        {.features = &core, .device_next = &address},
        {.device_next = &two},
        {.device_next = &two_and_12},
        {.api_version = VK_API_VERSION_1_1, .features = &core},
        {.api_version = VK_API_VERSION_1_0, .features = &core},
    };
    enable();
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        pm_harness_open(&h, &forms[i]);
        uint32_t binds = frame(VK_SUCCESS);
        pm_harness_close(&h);
        if (binds != 6)
            fail_msg("form %zu: %u binds", i, binds);
    }
    assert_int_equal(vulkan12.bufferDeviceAddress, VK_FALSE);
    assert_int_equal(address.bufferDeviceAddress, VK_FALSE);
}

/* The first queue that the game asks for can neither copy nor draw: nothing of ours goes there. */
static void a_queue_that_cannot_copy(void **state)
{
    (void)state;
    enable();
    const struct pm_harness_options none = {0};
    pm_harness_open_instance(&h, &none);
    const float priority = 1;
    const uint32_t families[] = {3, 0};
    VkDeviceQueueCreateInfo queues[2];
    for (int i = 0; i < 2; i++)
        queues[i] = (VkDeviceQueueCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                              .queueFamilyIndex = families[i],
                                              .queueCount = 1,
                                              .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 2,
                                     .pQueueCreateInfos = queues};
    uint64_t position = h.driver->position();
    PM_CHECK(h.vki.CreateDevice(h.physical, &info, NULL, &h.device));
    const VkQueue used =
        (VkQueue)(uintptr_t)pm_call(h.driver, position, "vkQueueSubmit", 0).arguments[0];
    pm_device_dispatch_load(&h.vk, h.device, vkGetDeviceProcAddr);
    h.vk.GetDeviceQueue(h.device, 0, 0, &h.queue);
    assert_ptr_equal(used, h.queue);
    pm_harness_open_rest(&h);
    assert_int_equal(frame(VK_SUCCESS), 6);
    pm_harness_close(&h);
}

/* ---- failures of the layer's own calls ---- */

enum { MOST = 64 };

/* Which calls of a command are ours: the 1st, the 4th… */
struct ours {
    const char *command;
    bool
        allocates; /* the argument before the last is the allocator; else only the layer calls it */
    uint32_t calls, count;
    uint32_t numbers[MOST];
};

static void see_ours(void *user, const struct pm_null_call *call)
{
    struct ours *ours = user;
    if (strcmp(call->command, ours->command) != 0)
        return;
    uint32_t number = ++ours->calls;
    if ((!ours->allocates || call->arguments[call->count - 2] == 0) && ours->count < MOST)
        ours->numbers[ours->count++] = number;
}

static void small_program(void)
{
    const struct pm_harness_options options = {.allocator = &pm_layered_allocator};
    pm_harness_open(&h, &options);
    frame(VK_SUCCESS);
    frame(VK_SUCCESS);
    pm_harness_close(&h);
}

/* Each call that is the layer's own fails, one in each run of a small program: the game notices
 * nothing. */
static void whatever_of_ours_fails(void **state)
{
    (void)state;
    const struct {
        const char *command;
        bool allocates, expected;
    } cases[] = {
        {"vkCreateBuffer", true, true},
        {"vkAllocateMemory", true, true},
        {"vkCreateFence", true, false},
        {"vkCreateSemaphore", true, true},
        {"vkCreateCommandPool", true, true},
        {"vkCreatePipelineCache", true, false},
        {"vkCreateShaderModule", true, true},
        {"vkCreatePipelineLayout", true, true},
        {"vkCreateRenderPass", true, true},
        {"vkCreateDescriptorSetLayout", true, true},
        {"vkCreateGraphicsPipelines", true, true},
        {"vkCreateComputePipelines", true, true},
        {"vkMapMemory", false, true},
        {"vkGetSemaphoreCounterValue", false, true},
    };
    enable();
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    const struct pm_null_api *driver = pm_harness_driver();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ours ours = {.command = cases[i].command, .allocates = cases[i].allocates};
        unsetenv("PM_NULL_FAIL");
        driver->set_callback(see_ours, &ours);
        small_program();
        driver->set_callback(NULL, NULL);
        if (cases[i].expected && ours.count == 0)
            fail_msg("the layer never calls %s", cases[i].command);
        for (uint32_t j = 0; j < ours.count; j++) {
            char fault[96];
            snprintf(fault, sizeof(fault), "%s:%u", cases[i].command, ours.numbers[j]);
            setenv("PM_NULL_FAIL", fault, 1);
            small_program();
            driver->inject("");
        }
    }
}

/* The device is lost: the game is told, once for each submit as the driver says, nothing hangs,
 * nothing is sampled. */
static void a_lost_device(void **state)
{
    (void)state;
    enable();
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    pm_harness_open(&h, NULL);
    assert_int_equal(frame(VK_SUCCESS), 6);
    assert_int_equal(frame(VK_SUCCESS), 6);
    h.driver->inject("vkQueueSubmit:1");
    assert_int_equal(frame(VK_ERROR_DEVICE_LOST), 6);
    assert_int_equal(frame(VK_ERROR_DEVICE_LOST), 2);
    assert_int_equal(h.vk.DeviceWaitIdle(h.device), VK_ERROR_DEVICE_LOST);
    pm_harness_close(&h);
}

/* Lost in the submission that is only ours. */
static void lost_in_our_own_submission(void **state)
{
    (void)state;
    enable();
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    pm_harness_open(&h, NULL);
    frame(VK_SUCCESS);
    uint64_t position = h.driver->position();
    frame(VK_SUCCESS);
    uint32_t submits = pm_calls_of(h.driver, position, "vkQueueSubmit") +
                       pm_calls_of(h.driver, position, "vkQueueSubmit2");
    assert_true(submits >= 2); /* the game's and ours */
    h.driver->inject("vkQueueSubmit:2,vkQueueSubmit2:1");
    VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(&h, buffer, 0);
    h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
    h.vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(h.vk.EndCommandBuffer(buffer));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    /* The game's own submission was made; that the device is lost it learns from the next. */
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(h.vk.QueueSubmit(h.queue, 1, &info, VK_NULL_HANDLE), VK_ERROR_DEVICE_LOST);
    pm_harness_close(&h);
}

/* Which must be asked for by name (VK_KHR_present_wait2). */
typedef VkResult(VKAPI_PTR *wait_for_present2)(VkDevice, VkSwapchainKHR, const void *info);

#define ASK(name, ...)                                                                             \
    static VkResult ask_##name(void)                                                               \
    {                                                                                              \
        return h.vk.name(__VA_ARGS__);                                                             \
    }

ASK(QueueBindSparse, h.queue, 0, NULL, VK_NULL_HANDLE)
ASK(GetQueryPoolResults, h.device, VK_NULL_HANDLE, 0, 1, 0, NULL, 0, 0)
ASK(GetEventStatus, h.device, VK_NULL_HANDLE)
ASK(GetSemaphoreCounterValue, h.device, VK_NULL_HANDLE, NULL)
ASK(GetSemaphoreCounterValueKHR, h.device, VK_NULL_HANDLE, NULL)
ASK(AcquireNextImageKHR, h.device, VK_NULL_HANDLE, 0, VK_NULL_HANDLE, VK_NULL_HANDLE, NULL)
ASK(AcquireNextImage2KHR, h.device, NULL, NULL)
ASK(WaitForPresentKHR, h.device, VK_NULL_HANDLE, 1, 0)
ASK(GetSwapchainStatusKHR, h.device, VK_NULL_HANDLE)

static VkResult ask_WaitForPresent2KHR(void)
{
    return ((wait_for_present2)vkGetDeviceProcAddr(h.device, "vkWaitForPresent2KHR"))(
        h.device, VK_NULL_HANDLE, NULL);
}

/* Whichever call says it first. */
static void a_device_that_any_call_reports_lost(void **state)
{
    (void)state;
    const struct {
        const char *command;
        VkResult (*ask)(void);
    } cases[] = {
#define CASE(name) {"vk" #name, ask_##name}
        CASE(QueueBindSparse),
        CASE(GetQueryPoolResults),
        CASE(GetEventStatus),
        CASE(GetSemaphoreCounterValue),
        CASE(GetSemaphoreCounterValueKHR),
        CASE(AcquireNextImageKHR),
        CASE(AcquireNextImage2KHR),
        CASE(WaitForPresentKHR),
        CASE(GetSwapchainStatusKHR),
        {"vkWaitForPresentKHR", ask_WaitForPresent2KHR}, /* as the driver records it */
#undef CASE
    };
    const char *const instance[] = {"VK_KHR_surface", NULL};
    const char *const device[] = {
        "VK_KHR_swapchain",    "VK_KHR_timeline_semaphore",       "VK_KHR_present_id",
        "VK_KHR_present_wait", "VK_KHR_shared_presentable_image", NULL};
    const struct pm_harness_options options = {
        .instance_extensions = instance, .device_extensions = device, .bare = true};
    enable();
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char fault[64];
        snprintf(fault, sizeof fault, "%s:1=%d", cases[i].command, VK_ERROR_DEVICE_LOST);
        pm_harness_open(&h, &options);
        assert_true(h.driver->inject(fault));
        assert_int_equal(cases[i].ask(), VK_ERROR_DEVICE_LOST);
        if (pm_layered_logged("the device was lost") != i + 1)
            fail_msg("%s is not seen", cases[i].command);
        pm_harness_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(a_refused_device_is_asked_for_again),
        PM_LAYERED_TEST(a_device_the_game_cannot_have),
        PM_LAYERED_TEST(a_driver_that_has_less),
        PM_LAYERED_TEST(features_in_every_form),
        PM_LAYERED_TEST(a_queue_that_cannot_copy),
        PM_LAYERED_TEST(whatever_of_ours_fails),
        PM_LAYERED_TEST(a_lost_device),
        PM_LAYERED_TEST(lost_in_our_own_submission),
        PM_LAYERED_TEST(a_device_that_any_call_reports_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
