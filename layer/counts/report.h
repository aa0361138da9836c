/*
 * What a round of polling gave: a piecemeal profile a scene, and its way to the spool.
 *
 * Thread safety: a report belongs to one thread.
 */
#pragma once

#include "layer/core/layer.h"
#include "layer/frame/scene.h"

struct pm_profile_merge;

/* Zero-initialized with its device. */
struct pm_report {
    struct pm_device *device;
    struct pm_profile_merge *merges[PM_SCENE_NUMBERS]; /* by scene; NULL: nothing was counted */
};

/* Adds what was counted of a shader in a scene; copies what it points to. */
bool pm_report_add(struct pm_report *report, uint32_t scene, const struct pm_shader_profile *shader,
                   struct pm_error *error);

/* Appends it to the instance's spool, and empties it. What cannot be written is logged and lost. */
void pm_report_write(struct pm_report *report);
