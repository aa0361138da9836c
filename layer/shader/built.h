/*
 * A pipeline of ours, built from what is remembered of one of the game's (pipeline_build.h), and
 * what else lives as long as it does.
 *
 * Thread safety: any thread; who destroys one is its last user.
 */
#pragma once

#include "layer/core/layer.h"

/* Libraries that are made for one variant may be nested this deep. */
enum { PM_LIBRARY_DEPTH = 4 };

struct pm_built {
    VkPipeline handle;
    VkPipeline libraries[PM_LIBRARY_DEPTH]; /* with the replaced shader, that it was linked from;
                                               lavapipe 22.3 reads them when it draws */
    uint32_t library_count;
};

/* Destroys what there is of it; all of it may be null. */
void pm_built_destroy(struct pm_device *device, struct pm_built *built);
