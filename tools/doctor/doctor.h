/*
 * What `piecemeal doctor` finds out, one check a line.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/buffer.h"
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <vulkan/vulkan.h>

enum pm_finding { PM_FINDING_OK, PM_FINDING_NOTE, PM_FINDING_BAD };

struct pm_doctor {
    bool json;
    cJSON *list; /* when json */
    unsigned bad;
};

/* One finding about a subject ("loader", "device llvmpipe…"). */
void pm_doctor_say(struct pm_doctor *doctor, enum pm_finding finding, const char *subject,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* doctor_loader.c: manifests, the layer's library, the enabling variables, whether the loader
 * really loads it. */
void pm_doctor_loader(struct pm_doctor *doctor);

/* doctor_timing.c: how draws can be timed on the device. false: it hangs, and its instance must be
 * left alone. */
bool pm_doctor_timing(struct pm_doctor *doctor, VkPhysicalDevice physical, const char *name);

/* doctor_devices.c: for each Vulkan device, what the layer can do on it, and why not. */
void pm_doctor_devices(struct pm_doctor *doctor);
