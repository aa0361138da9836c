/*
 * VK_ERROR_DEVICE_LOST. Any call of the game's or of ours may be the first to say it; from then on
 * device->lost is set and everything passes through.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

/* It was seen. The first time it is logged, and noted in the session's journal. */
void pm_device_was_lost(struct pm_device *device);
