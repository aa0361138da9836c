/*
 * A buffer of the layer's own that shaders reach by its device address.
 *
 * Thread safety: no state; what is given belongs to the caller.
 */
#pragma once

#include "layer/core/layer.h"

struct pm_device_buffer {
    VkBuffer buffer;
    VkDeviceMemory memory;
    void *map; /* NULL: not host-visible, or not asked for */
    VkDeviceAddress address;
    uint64_t bytes;
};

struct pm_device_buffer_info {
    const char *what; /* "counters": for errors */
    uint64_t bytes;
    VkBufferUsageFlags usage;               /* besides storage and its address */
    const VkMemoryPropertyFlags *preferred; /* what the memory is to be, the best first */
    uint32_t preferred_count;
    bool mapped; /* where the memory is host-visible and coherent */
};

/* For all queue families of the device. false with PM_ERROR_DEVICE: there is no memory for it, and
 * nothing is left to destroy. */
bool pm_device_buffer_create(struct pm_device *device, const struct pm_device_buffer_info *info,
                             struct pm_device_buffer *out, struct pm_error *error);
/* All of it may be null. */
void pm_device_buffer_destroy(struct pm_device *device, struct pm_device_buffer *buffer);
