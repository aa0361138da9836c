/* What the self-test of timestamps around draws finds on a driver (additive.h). On lavapipe they
 * are not additive (HAZARDS 14); on others it may say either, but always the same thing of an
 * instance as its draws. */
#include "layer/additive_objects.h"

#include "layer/object.h"
#include "tests/cmocka_includes.h"
#include "tests/gpu/gpu.h"
#include <string.h>

static struct pm_gpu gpu;
static struct pm_device device;

/* Nothing is named here. */
void pm_name_object(struct pm_device *unused, VkObjectType type, uint64_t handle,
                    const char *format, ...)
{
    (void)unused;
    (void)type;
    (void)handle;
    (void)format;
}

static VKAPI_ATTR VkResult VKAPI_CALL needs_nothing(VkDevice handle, void *object)
{
    (void)handle;
    (void)object;
    return VK_SUCCESS;
}

static uint64_t timestamp_mask(void)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(gpu.physical, &count, families);
    const uint32_t bits = families[gpu.queue_family].timestampValidBits;
    assert_true(bits > 0);
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static void run_round(const struct pm_additive_objects *objects, uint32_t instances, uint64_t mask,
                      struct pm_additive_round *round)
{
    assert_true(pm_additive_record(&device, objects, instances));
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &objects->commands};
    assert_int_equal(vkQueueSubmit(gpu.queue, 1, &info, objects->fence), VK_SUCCESS);
    assert_int_equal(vkWaitForFences(gpu.device, 1, &objects->fence, VK_TRUE, UINT64_MAX),
                     VK_SUCCESS);
    assert_int_equal(vkResetFences(gpu.device, 1, &objects->fence), VK_SUCCESS);
    assert_int_equal(pm_additive_read(&device, objects, mask, round), VK_SUCCESS);
    print_message("%u and %u instances: alone %.0f and %.0f us; in one render pass %.0f and %.0f, "
                  "the other way round %.0f and %.0f; as wholes %.0f and %.0f\n",
                  instances, PM_ADDITIVE_RATIO * instances, round->alone[0] / 1e3,
                  round->alone[1] / 1e3, round->among[0][0] / 1e3, round->among[0][1] / 1e3,
                  round->among[1][0] / 1e3, round->among[1][1] / 1e3, round->instances[0] / 1e3,
                  round->instances[1] / 1e3);
}

static void what_a_driver_says(void **state)
{
    (void)state;
    pm_gpu_create(&gpu);
    device.handle = gpu.device;
    device.physical = gpu.physical;
    device.memory = gpu.memory;
    device.set_loader_data = needs_nothing;
    vkGetPhysicalDeviceProperties(gpu.physical, &device.properties);
    pm_device_dispatch_load(&device.dispatch, gpu.device, vkGetDeviceProcAddr);
    const uint64_t mask = timestamp_mask();
    struct pm_additive_objects objects = {0};
    struct pm_additive_round rounds[PM_ADDITIVE_ROUNDS];
    assert_true(pm_additive_objects_make(&device, gpu.queue_family, &objects));
    uint32_t instances = 1;
    for (uint32_t count = 0; instances != 0 && count < PM_ADDITIVE_ROUNDS;) {
        run_round(&objects, instances, mask, &rounds[count]);
        const uint32_t next = pm_additive_size(instances, &rounds[count]);
        count = next == instances ? count + 1 : 0;
        instances = next;
    }
    assert_int_not_equal(instances, 0);
    const bool additive = pm_additive_judge(rounds);
    print_message("%s: %s\n", gpu.name, additive ? "additive" : "not additive");
    if (strstr(gpu.name, "llvmpipe") != NULL)
        assert_false(additive);
    pm_additive_objects_destroy(&device, &objects);
    pm_gpu_destroy(&gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_driver_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
