/*
 * Counter memory: one buffer with a device address per device, of limits.counter_memory_mib, that
 * instrumented shaders count in (DESIGN, Counters). Device-local, and host-visible where there is
 * such memory. A block's counters are never reset by anyone: what was last seen of each is kept in
 * host memory, and a readback takes the difference (readback.h). So memory that the host cannot
 * reach is handed out again as it is; what must be zero there comes of what nobody had yet.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

struct pm_counter_block {
    VkDeviceAddress address; /* 64-byte aligned */
    uint64_t offset;         /* bytes in the counter buffer, a multiple of 64 */
    uint64_t bytes;          /* a multiple of 64 */
};

/* NULL with *error filled when there is no memory for it. */
struct pm_counters *pm_counters_create(struct pm_device *device, struct pm_error *error);
void pm_counters_destroy(struct pm_counters *counters);

/* A block of at least `bytes` whose counters' differences start at zero; zero: they are zero
 * themselves, too. PM_ERROR_LIMIT: the memory is used up; PM_ERROR_STATE: the GPU has not cleared
 * it yet; PM_ERROR_UNSUPPORTED: it is too large in any case, or what the host cannot set to zero
 * was all handed out before. */
bool pm_counters_allocate(struct pm_counters *counters, uint64_t bytes, bool zero,
                          struct pm_counter_block *block, struct pm_error *error);

/* When no shader can count in it any more and its last counts were read. */
void pm_counters_free(struct pm_counters *counters, const struct pm_counter_block *block);

VkBuffer pm_counters_buffer(const struct pm_counters *counters);

/* What was last seen of the 64-bit counter at an offset in bytes; the readback's to change while it
 * has the block. */
uint64_t *pm_counters_seen(struct pm_counters *counters, uint64_t offset);
