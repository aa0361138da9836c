/*
 * What was seen of the values of words (shader/constant_values.h), on its way: how counts have
 * grown to the spool, the values themselves to this machine's store. A source of the poller, which
 * is woken at checkpoints.
 *
 * Thread safety: as the poller's; noting and following from any thread.
 */
#pragma once

#include "layer/core/layer.h"

/* After pm_poller_create, before anything is sampled. */
void pm_constants_poll_with(struct pm_device *device);

/* A frame's end: wakes the poller where a checkpoint is due and something was seen. */
void pm_constants_follow(struct pm_device *device);

/* The device is about to be destroyed: has the last round take what is left. */
void pm_constants_finish(struct pm_device *device);
