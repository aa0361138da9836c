#include "tools/doctor/timing_test.h"
#include "layer/trial/additive_objects.h"
#include <stdlib.h>

#define LONGEST_ROUND UINT64_C(10000000000) /* nanoseconds; a round takes milliseconds */

static VKAPI_ATTR VkResult VKAPI_CALL needs_nothing(VkDevice device, void *object)
{
    (void)device;
    (void)object;
    return VK_SUCCESS; /* the loader made it */
}

uint32_t pm_timing_family(VkPhysicalDevice physical, uint64_t *mask)
{
    uint32_t count = 0, found = UINT32_MAX;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, NULL);
    VkQueueFamilyProperties *families = calloc(count + 1u, sizeof(*families));
    if (!families)
        return UINT32_MAX;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    for (uint32_t i = 0; i < count && found == UINT32_MAX; i++) {
        *mask = pm_additive_mask(&families[i]);
        found = *mask ? i : UINT32_MAX;
    }
    free(families);
    return found;
}

/* NULL: the round is there; else why not. */
static const char *run_round(struct pm_device *device, const struct pm_additive_objects *objects,
                             VkQueue queue, uint64_t mask, uint32_t instances,
                             struct pm_timing_found *found)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &objects->commands};
    if (!pm_additive_record(device, objects, instances) ||
        vkQueueSubmit(queue, 1, &info, objects->fence) != VK_SUCCESS)
        return "the driver refuses the self-test";
    VkResult result = vkWaitForFences(device->handle, 1, &objects->fence, VK_TRUE, LONGEST_ROUND);
    found->hangs = result == VK_TIMEOUT;
    if (found->hangs)
        return "the device did not end the self-test";
    if (result == VK_SUCCESS)
        result = vkResetFences(device->handle, 1, &objects->fence);
    if (result == VK_SUCCESS)
        result = pm_additive_read(device, objects, mask, &found->round);
    return result == VK_SUCCESS ? NULL : "the driver has no results";
}

static void run_rounds(struct pm_device *device, const struct pm_additive_objects *objects,
                       VkQueue queue, uint64_t mask, struct pm_timing_found *found)
{
    struct pm_additive_round rounds[PM_ADDITIVE_ROUNDS];
    uint32_t instances = 1;
    for (uint32_t count = 0; count < PM_ADDITIVE_ROUNDS;) {
        found->why = run_round(device, objects, queue, mask, instances, found);
        if (found->why)
            return;
        const uint32_t next = pm_additive_size(instances, &found->round);
        if (next == 0) {
            found->why = "the device is done too soon to tell";
            return;
        }
        rounds[count] = found->round;
        count = next == instances ? count + 1 : 0;
        instances = next;
    }
    found->additive = pm_additive_judge(rounds);
}

void pm_timing_test(VkPhysicalDevice physical, VkDevice handle, uint32_t family, uint64_t mask,
                    struct pm_timing_found *found)
{
    *found = (struct pm_timing_found){0};
    VkQueue queue;
    vkGetDeviceQueue(handle, family, 0, &queue);
    struct pm_device *device = calloc(1, sizeof(*device));
    if (!device) {
        found->why = "out of memory";
        return;
    }
    device->handle = handle;
    device->physical = physical;
    device->set_loader_data = needs_nothing;
    vkGetPhysicalDeviceProperties(physical, &device->properties);
    vkGetPhysicalDeviceMemoryProperties(physical, &device->memory);
    pm_device_dispatch_load(&device->dispatch, handle, vkGetDeviceProcAddr);
    struct pm_additive_objects objects = {0};
    if (pm_additive_objects_make(device, family, &objects))
        run_rounds(device, &objects, queue, mask, found);
    else
        found->why = "the driver refuses the self-test";
    if (!found->hangs)
        pm_additive_objects_destroy(device, &objects);
    free(device);
}
