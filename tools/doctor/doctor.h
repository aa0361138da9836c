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
