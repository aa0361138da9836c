/*
 * The self-test's render pass and what it draws with (additive.h). Of the device it needs handle,
 * dispatch, set_loader_data, memory and the limits in properties, so that a program can make the
 * test on a device of its own.
 *
 * Thread safety: one thread at a time.
 */
#pragma once

#include "layer/trial/additive.h"

enum {
    PM_ADDITIVE_PAIR_QUERIES = 5,  /* before the instance, in it, between, after the draws, after */
    PM_ADDITIVE_ALONE_QUERIES = 2, /* around the instance */
    PM_ADDITIVE_QUERIES = 2 * (PM_ADDITIVE_PAIR_QUERIES + PM_ADDITIVE_ALONE_QUERIES),
};

/* VK_NULL_HANDLE: not made. */
struct pm_additive_objects {
    VkImage image;
    VkDeviceMemory memory;
    VkImageView view;
    VkRenderPass render_pass;
    VkFramebuffer framebuffer;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    VkQueryPool queries;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkFence fence;
};

/* For command buffers of the queue family. false: the driver refused; what was made stays to be
 * destroyed. */
bool pm_additive_objects_make(struct pm_device *device, uint32_t family,
                              struct pm_additive_objects *objects);
void pm_additive_objects_destroy(struct pm_device *device,
                                 const struct pm_additive_objects *objects);

/* The valid bits of the timestamps of a queue family that draws; 0: the test cannot be made there.
 */
uint64_t pm_additive_mask(const VkQueueFamilyProperties *family);

/* Records a round whose light draw has so many instances: a pair with the light draw first, one
 * with the heavy one first, each draw alone. */
bool pm_additive_record(struct pm_device *device, const struct pm_additive_objects *objects,
                        uint32_t instances);

/* The round's times, when the device is done with it; mask: the valid bits of its timestamps. */
VkResult pm_additive_read(struct pm_device *device, const struct pm_additive_objects *objects,
                          uint64_t mask, struct pm_additive_round *round);
