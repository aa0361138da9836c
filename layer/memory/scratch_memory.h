/*
 * The memory in which the passes of partitioned shaders leave values for later ones
 * (shader_rewrite/partition): one buffer a device, of limits.scratch_mib, made when it is first
 * needed. Where it is is in the passes' pipelines; which part of it a dispatch uses is told to them
 * by the dispatch (partition/region.h).
 *
 * What keeps two dispatches apart that use the same part is the order of one queue, in which each
 * dispatch's first pass waits for the passes before it. So a device with one queue that computes
 * has one part, all of it. Else there are PM_SCRATCH_UNITS units, and runs of them are handed out:
 * to a queue family of one queue, for all its recordings and for good; to each recording of any
 * other family, until it is given up.
 *
 * Thread safety: any thread, but for creating and destroying; a run is its owner's.
 */
#pragma once

#include "layer/core/layer.h"

enum { PM_SCRATCH_UNITS = 64 };

struct pm_scratch_memory;

/* Units that somebody has. All 0: none. */
struct pm_scratch_run {
    uint64_t held;         /* by bit: all that were ever taken and not given back */
    uint32_t first, count; /* the latest, which are in a row */
};

/* NULL: out of memory. queues: how many the device has that compute. */
struct pm_scratch_memory *pm_scratch_memory_create(struct pm_device *device, uint32_t queues);
/* NULL is allowed. */
void pm_scratch_memory_destroy(struct pm_scratch_memory *memory);

/* Where it is, and how many bytes. false with PM_ERROR_DEVICE: the driver has none for it. */
bool pm_scratch_memory_get(struct pm_scratch_memory *memory, VkDeviceAddress *address,
                           uint64_t *bytes, struct pm_error *error);

/* The bytes of a unit; 0: the memory is one part. */
uint64_t pm_scratch_memory_unit(const struct pm_scratch_memory *memory);

/* So many bytes for a dispatch in a recording for a queue family: the unit that they begin at.
 * own: the recording's. false: there is no room now. */
bool pm_scratch_memory_take(struct pm_scratch_memory *memory, uint32_t family,
                            struct pm_scratch_run *own, uint64_t bytes, uint32_t *unit);

/* The GPU is done with the recording. memory NULL is allowed where it has nothing. */
void pm_scratch_memory_give_back(struct pm_scratch_memory *memory, struct pm_scratch_run *own);
