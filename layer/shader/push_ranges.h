/*
 * The push constant ranges of the game's pipeline layouts. Push constants that were pushed with one
 * layout are read by a pipeline of another when the two have identical ranges (Vulkan, Pipeline
 * Layout Compatibility); here layouts with identical ranges have one struct pm_push_ranges, so that
 * a comparison of pointers tells.
 *
 * Thread safety: any thread, but for init and finish. Finding takes no lock.
 */
#pragma once

#include "layer/core/lookup.h"
#include "layer/shader/object.h"

struct pm_push_ranges;

struct pm_push_layouts {
    struct pm_lookup by_handle; /* VkPipelineLayout to struct pm_push_ranges */
    pthread_mutex_t lock;
    struct pm_push_ranges *first; /* all there were; under the lock */
    uint32_t count;
};

void pm_push_layouts_init(struct pm_push_layouts *layouts);
void pm_push_layouts_finish(struct pm_push_layouts *layouts);

/* The game has made a layout, or destroys one. */
void pm_push_layouts_put(struct pm_push_layouts *layouts, VkPipelineLayout handle,
                         const VkPipelineLayoutCreateInfo *info);
void pm_push_layouts_remove(struct pm_push_layouts *layouts, VkPipelineLayout handle);

/* Valid until pm_push_layouts_finish. NULL: nothing is known of the layout. */
static inline const struct pm_push_ranges *
pm_push_layouts_find(const struct pm_push_layouts *layouts, VkPipelineLayout handle)
{
    return pm_lookup_find(&layouts->by_handle, PM_BITS(handle));
}
