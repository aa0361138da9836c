/*
 * A buffer in memory that the host sees as well, coherent and mapped for as long as it lives.
 *
 * Thread safety: any thread, one at a time for a buffer.
 */
#pragma once

#include "layer/core/layer.h"

struct pm_mapped_buffer {
    VkBuffer buffer; /* VK_NULL_HANDLE: there is none, and all below says nothing */
    VkDeviceMemory memory;
    unsigned char *map;
    uint64_t bytes;
};

/* preferred: what its memory should be beside host-visible and coherent, where there is such.
 * shared: by all queue families that the device has queues of, else by one. false: the driver
 * refused, and *out is empty. */
bool pm_mapped_buffer_create(struct pm_device *device, uint64_t bytes, VkBufferUsageFlags usage,
                             VkMemoryPropertyFlags preferred, bool shared,
                             struct pm_mapped_buffer *out);

/* Nothing on the device may use it any more. An empty one is allowed; it is empty afterwards. */
void pm_mapped_buffer_destroy(struct pm_device *device, struct pm_mapped_buffer *buffer);
