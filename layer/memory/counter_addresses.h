/*
 * The device addresses of counter memory, kept on disk from one session to the next (HAZARDS 17):
 * at the same address, the same instrumented shader is specialized with the same constants, and the
 * driver finds it in its disk cache. Source: Vulkan 1.3.239, 12.4 (buffer device address capture
 * and replay).
 *
 * A file for each device, size of memory and number of devices of its model in use beside it. It is
 * a hint: one that is damaged or another driver's is ignored, and an address that the driver
 * refuses costs a second try.
 *
 * Thread safety: any thread; two processes may use a file at once.
 */
#pragma once

#include "layer/core/layer.h"

/* Opaque, for the driver that they came from and for identically made objects alone. */
struct pm_counter_addresses {
    uint32_t memory_type;
    uint64_t buffer, memory; /* 0: the driver needs none */
};

/* What an earlier session had for memory of so many bytes; false: nothing that can be used.
 * same_model: how many other devices of the same model sample in this process. */
bool pm_counter_addresses_load(const struct pm_device *device, uint64_t bytes, uint32_t same_model,
                               struct pm_counter_addresses *addresses);

/* Keeps them for the next session, if that is possible. */
void pm_counter_addresses_save(const struct pm_device *device, uint64_t bytes, uint32_t same_model,
                               const struct pm_counter_addresses *addresses);
