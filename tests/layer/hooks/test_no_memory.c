/* The game's callbacks have no memory, or the driver has none for what the game makes: the game is
 * told as it would be without the layer, nothing of either is left, and what comes next works. */
#include "tests/layer/layered.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct pm_harness h;

/* ---- the game's callbacks ---- */

static int64_t allocations, fails_at, live;
static bool fails_on; /* also behind that one */

static VKAPI_ATTR void *VKAPI_CALL allocate(void *user, size_t size, size_t alignment,
                                            VkSystemAllocationScope scope)
{
    allocations++;
    if (fails_at != 0 && (allocations == fails_at || (fails_on && allocations > fails_at)))
        return NULL;
    void *memory = pm_layered_allocator.pfnAllocation(user, size, alignment, scope);
    live += memory != NULL;
    return memory;
}

static VKAPI_ATTR void *VKAPI_CALL reallocate(void *user, void *old, size_t size, size_t alignment,
                                              VkSystemAllocationScope scope)
{
    if (old == NULL)
        return allocate(user, size, alignment, scope);
    allocations++;
    if (fails_at != 0 && (allocations == fails_at || (fails_on && allocations > fails_at)))
        return NULL;
    return pm_layered_allocator.pfnReallocation(user, old, size, alignment, scope);
}

static VKAPI_ATTR void VKAPI_CALL release(void *user, void *memory)
{
    live -= memory != NULL;
    pm_layered_allocator.pfnFree(user, memory);
}

static const VkAllocationCallbacks callbacks = {
    .pfnAllocation = allocate, .pfnReallocation = reallocate, .pfnFree = release};

static VkResult make_instance(uint32_t api_version)
{
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = api_version};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    VkInstance instance;
    const VkResult result = vkCreateInstance(&info, &callbacks, &instance);
    if (result == VK_SUCCESS)
        vkDestroyInstance(instance, &callbacks);
    return result;
}

/* Of the harness's instance. */
static VkResult make_device(uint32_t api_version)
{
    (void)api_version;
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    VkDevice device;
    const VkResult result = h.vki.CreateDevice(h.physical, &info, &callbacks, &device);
    if (result == VK_SUCCESS)
        ((PFN_vkDestroyDevice)vkGetDeviceProcAddr(device, "vkDestroyDevice"))(device, &callbacks);
    return result;
}

/* Each of its allocations fails in turn, most of which are the loader's. */
static void fail_each(VkResult (*make)(uint32_t api_version), uint32_t api_version)
{
    const int64_t before = live;
    int64_t made = 0, refused = 0;
    for (int64_t n = 1; n == 1 || made >= n - 1; n++) {
        fails_at = n;
        allocations = 0;
        const VkResult result = make(api_version);
        made = allocations;
        fails_at = 0;
        refused += result != VK_SUCCESS;
        if (result != VK_SUCCESS && (result != VK_ERROR_OUT_OF_HOST_MEMORY || made < n))
            fail_msg("VkResult %d where allocation %d of %d fails", result, (int)n, (int)made);
        if (live != before)
            fail_msg("where allocation %d fails %d are left", (int)n, (int)(live - before));
    }
    assert_true(refused > 0);
}

static void all_instances_and_devices(enum pm_layered how)
{
    pm_layered_enable(how);
    pm_layered_sample_all("1");
    const struct pm_harness_options none = {0};
    for (int on = 0; on < 2; on++) {
        fails_on = on;
        fail_each(make_instance, VK_API_VERSION_1_0); /* which the layer raises */
        fail_each(make_instance, VK_API_VERSION_1_3);
        pm_harness_open_instance(&h, &none);
        fail_each(make_device, 0);
        h.vki.DestroyInstance(h.instance, NULL);
    }
    pm_harness_open(&h, NULL);
    assert_non_null(h.device);
    pm_harness_close(&h);
}

/* What goes wrong here too is the loader's, or the test's. */
static void instances_and_devices_without_the_layer(void **state)
{
    (void)state;
    all_instances_and_devices(PM_LAYER_OFF);
}

static void instances_and_devices(void **state)
{
    (void)state;
    all_instances_and_devices(PM_LAYER_IMPLICIT);
}

static struct {
    int calls, callbacks; /* to make or destroy one; with the game's callbacks */
} passed;

static void see(void *user, const struct pm_null_call *call)
{
    (void)user;
    static const struct {
        const char *command;
        int callbacks; /* which argument */
    } commands[] = {{"vkCreateInstance", 1},
                    {"vkDestroyInstance", 1},
                    {"vkCreateDevice", 2},
                    {"vkDestroyDevice", 1}};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(call->command, commands[i].command) == 0) {
            passed.calls++;
            passed.callbacks += call->arguments[commands[i].callbacks] != 0;
        }
    }
}

/* Our threads call the driver, and so would what it may ask for its own needs. */
static void a_driver_has_callbacks_only_where_we_have_no_threads(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_harness_driver()->set_callback(see, NULL);
    for (int passive = 0; passive < 2; passive++) {
        if (passive)
            setenv("PIECEMEAL_SAMPLER_API_PROBABILITY", "often", 1);
        const struct pm_harness_options none = {0};
        pm_harness_open_instance(&h, &none);
        memset(&passed, 0, sizeof passed);
        assert_int_equal(make_instance(VK_API_VERSION_1_3), VK_SUCCESS);
        assert_int_equal(make_device(0), VK_SUCCESS);
        assert_int_equal(passed.calls, 4);
        assert_int_equal(passed.callbacks, passive ? 4 : 0);
        h.vki.DestroyInstance(h.instance, NULL);
    }
    pm_harness_driver()->set_callback(NULL, NULL);
}

/* ---- the driver ---- */

#define MAKES(object, ...)                                                                         \
    static VkResult make_##object(void)                                                            \
    {                                                                                              \
        const Vk##object##CreateInfo info = __VA_ARGS__;                                           \
        Vk##object made;                                                                           \
        const VkResult result = h.vk.Create##object(h.device, &info, NULL, &made);                 \
        if (result == VK_SUCCESS)                                                                  \
            h.vk.Destroy##object(h.device, made, NULL);                                            \
        return result;                                                                             \
    }

MAKES(Sampler, {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO})
MAKES(CommandPool, {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO})
MAKES(PipelineCache, {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO})
MAKES(Fence, {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO})
MAKES(DescriptorSetLayout, {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO})
MAKES(QueryPool, {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                  .queryType = VK_QUERY_TYPE_OCCLUSION,
                  .queryCount = 1})
MAKES(PipelineLayout, {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                       .setLayoutCount = 1,
                       .pSetLayouts = &h.set_layout})

static const VkSubpassDescription subpass = {.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS};
MAKES(RenderPass, {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                   .subpassCount = 1,
                   .pSubpasses = &subpass})

static VkResult make_ShaderModule(void)
{
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    VkShaderModule made;
    info.pCode = pm_harness_compute_words(&info.codeSize);
    const VkResult result = h.vk.CreateShaderModule(h.device, &info, NULL, &made);
    if (result == VK_SUCCESS)
        h.vk.DestroyShaderModule(h.device, made, NULL);
    return result;
}

static VkResult make_GraphicsPipelines(void)
{
    struct pm_harness_pipeline of;
    VkPipeline made;
    pm_harness_describe(&h, &of);
    const VkResult result =
        h.vk.CreateGraphicsPipelines(h.device, VK_NULL_HANDLE, 1, &of.info, NULL, &made);
    if (result == VK_SUCCESS)
        h.vk.DestroyPipeline(h.device, made, NULL);
    return result;
}

static VkResult make_ComputePipelines(void)
{
    const VkComputePipelineCreateInfo info = pm_harness_describe_compute(&h);
    VkPipeline made;
    const VkResult result =
        h.vk.CreateComputePipelines(h.device, VK_NULL_HANDLE, 1, &info, NULL, &made);
    if (result == VK_SUCCESS)
        h.vk.DestroyPipeline(h.device, made, NULL);
    return result;
}

/* What the game makes is asked for once, and it is told the answer. */
static void what_the_game_makes(void **state)
{
    (void)state;
    const struct {
        const char *command;
        VkResult (*make)(void);
    } cases[] = {
#define CASE(object) {"vkCreate" #object, make_##object}
        CASE(Sampler),          CASE(CommandPool),
        CASE(PipelineCache),    CASE(Fence),
        CASE(QueryPool),        CASE(RenderPass),
        CASE(PipelineLayout),   CASE(DescriptorSetLayout),
        CASE(ShaderModule),     CASE(GraphicsPipelines),
        CASE(ComputePipelines),
#undef CASE
    };
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char fault[64];
        snprintf(fault, sizeof fault, "%s:1=%d", cases[i].command, VK_ERROR_OUT_OF_HOST_MEMORY);
        pm_harness_open(&h, NULL);
        const uint64_t position = h.driver->position();
        assert_true(h.driver->inject(fault));
        const VkResult result = cases[i].make();
        if (result != VK_ERROR_OUT_OF_HOST_MEMORY ||
            pm_calls_of(h.driver, position, cases[i].command) != 1)
            fail_msg("%s: VkResult %d", cases[i].command, result);
        assert_int_equal(cases[i].make(), VK_SUCCESS);
        pm_harness_close(&h);
    }
}

/* With what we ask for and without it. */
static void a_device_that_there_is_no_memory_for(void **state)
{
    (void)state;
    const struct pm_harness_options none = {0};
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PM_NULL_FAIL", "vkCreateDevice:1+=-1", 1);
    pm_harness_open_instance(&h, &none);
    assert_int_equal(pm_harness_create_device(&h, &none), VK_ERROR_OUT_OF_HOST_MEMORY);
    h.driver->inject("");
    assert_int_equal(pm_harness_create_device(&h, &none), VK_SUCCESS);
    pm_harness_open_rest(&h);
    pm_harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(instances_and_devices_without_the_layer),
        PM_LAYERED_TEST(instances_and_devices),
        PM_LAYERED_TEST(a_driver_has_callbacks_only_where_we_have_no_threads),
        PM_LAYERED_TEST(what_the_game_makes),
        PM_LAYERED_TEST(a_device_that_there_is_no_memory_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
