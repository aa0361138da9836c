/*
 * What an earlier session found faster, made on the thread that creates the game's pipeline, so
 * that what is recorded a moment later binds it (at_once.h).
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/optimizer.h"

/* What the game's own creation of pipelines was like. */
struct pm_creation {
    int64_t waited; /* nanoseconds for each that its thread did not work: it waited for the driver's
                       own threads, for a lock of the driver's, or for the processor */
    bool loads;     /* nobody sees how long it takes (pm_sampling_loads) */
};
/* Around the driver's creation of so many; nothing is measured where nothing comes of it. */
struct pm_creation_start {
    int64_t at, used; /* pm_now() and pm_used_by_thread(); 0: not measured */
};
struct pm_creation_start pm_optimize_before_creation(const struct pm_device *device);
struct pm_creation pm_optimize_after_creation(const struct pm_creation_start *start, uint32_t count,
                                              bool loads);

/* Makes it before the game has its pipeline. false: it is made in the background, if at all. */
bool pm_optimizer_make_at_once(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                               const struct pm_creation *creation);
