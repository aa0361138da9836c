/*
 * An instance's PGO database. The first device maps it where it lies packed on the disk, which
 * takes no time (profile/packed_database.h). Where it does not (another version packed it, or the
 * cache was cleaned or cannot be written) it is packed on a device's compile thread, within
 * limits.background_share, about a second later, or some twenty where the program loaded much: what
 * the game waits for is made before; that is so of sessions that only sample, too. Until then
 * sessions do what they do without a database, and what is bound waits for its specialized shaders;
 * shaders whose records are made until then are sampled unsteered.
 *
 * Thread safety: any thread, but for what says whose it is.
 */
#pragma once

#include "layer/core/layer.h"

/* Opens the game's database, or finds that it is to be packed, at the first call; before anything
 * of a device is made. */
void pm_database_open(struct pm_instance *instance);

/* When a device that is being made begins to pack it: pm_now(); 0: that is not due. */
int64_t pm_database_due_at(const struct pm_instance *instance);

/* Has it packed, where that is due, and the device's optimizer, if any, go on behind it. The
 * poller's. */
void pm_database_each_second(struct pm_device *device);
