/*
 * The memory in which the passes of partitioned shaders leave values for later ones
 * (shader_rewrite/partition): one buffer a device, of limits.scratch_mib, made when it is first
 * needed. All passes use the same of it. What keeps them apart is the order of one queue, in which
 * each dispatch's first pass waits for the passes before it; so only the recordings of one queue
 * family may use it, which has one queue.
 *
 * Thread safety: any thread, but for creating and destroying.
 */
#pragma once

#include "layer/core/layer.h"

struct pm_scratch_memory;

/* NULL: out of memory. */
struct pm_scratch_memory *pm_scratch_memory_create(struct pm_device *device);
/* NULL is allowed. */
void pm_scratch_memory_destroy(struct pm_scratch_memory *memory);

/* Where it is, and how many bytes. false with PM_ERROR_DEVICE: the driver has none for it. */
bool pm_scratch_memory_get(struct pm_scratch_memory *memory, VkDeviceAddress *address,
                           uint64_t *bytes, struct pm_error *error);

/* Whether recordings for a queue family may use it. The first that may has it for good. memory NULL
 * is allowed. */
bool pm_scratch_memory_is_for(struct pm_scratch_memory *memory, uint32_t family);
