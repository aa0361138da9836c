/* How draws can be timed on a device: the layer's own self-test. */
#include "tools/doctor/doctor_timing.h"
#include "tools/doctor/timing_test.h"

static void say(struct pm_doctor *doctor, const char *name, const struct pm_timing_found *found)
{
    const struct pm_additive_round *round = &found->round;
    if (found->why) {
        pm_doctor_say(doctor, found->hangs ? PM_FINDING_BAD : PM_FINDING_NOTE, name,
                      "timestamps around single draws: %s; specialized shaders are tried by timing "
                      "render passes as wholes",
                      found->why);
        return;
    }
    pm_doctor_say(doctor, found->additive ? PM_FINDING_OK : PM_FINDING_NOTE, name,
                  "timestamps around single draws are %s (a light and a heavy draw: alone %.0f and "
                  "%.0f µs; in one render pass %.0f and %.0f, the other way round %.0f and %.0f)",
                  found->additive
                      ? "additive: specialized shaders are tried by timing draws one by one"
                      : "not additive: specialized shaders are tried by timing render passes as "
                        "wholes",
                  round->alone[0] / 1e3, round->alone[1] / 1e3, round->among[0][0] / 1e3,
                  round->among[0][1] / 1e3, round->among[1][0] / 1e3, round->among[1][1] / 1e3);
}

bool pm_doctor_timing(struct pm_doctor *doctor, VkPhysicalDevice physical, const char *name)
{
    uint64_t mask = 0;
    const uint32_t family = pm_timing_family(physical, &mask);
    struct pm_timing_found found = {.why = "no queue that draws has any"};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                            .queueFamilyIndex = family,
                                            .queueCount = 1,
                                            .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queues};
    VkDevice device;
    if (family != UINT32_MAX && vkCreateDevice(physical, &info, NULL, &device) != VK_SUCCESS) {
        pm_doctor_say(doctor, PM_FINDING_BAD, name, "vkCreateDevice failed");
        return true;
    }
    if (family != UINT32_MAX) {
        pm_timing_test(physical, device, family, mask, &found);
        if (!found.hangs)
            vkDestroyDevice(device, NULL);
    }
    say(doctor, name, &found);
    return !found.hangs;
}
