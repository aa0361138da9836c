/*
 * The hook of binds for variants that turn slow (shader/slow_later.h): it takes the place of the
 * next layer's vkCmdBindPipeline in the device's table, by which all that we bind goes, so that
 * nothing above it looks at more than without it.
 *
 * Thread safety: before the device is used.
 */
#pragma once

#include "layer/core/layer.h"

/* Where debug.slow_from is set; what it makes is the device's, device->slow_later. */
void pm_slow_later_hook(struct pm_device *device);
