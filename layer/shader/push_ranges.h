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

enum {
    PM_PUSHED_WORDS = 64, /* that are followed: 256 bytes, what the largest devices have */
    PM_PUSHED_STAGES = 2, /* that read them, as the bind points: fragment, compute */
};

struct pm_push_ranges {
    struct pm_push_ranges *next;
    uint64_t words[PM_PUSHED_STAGES]; /* that the stage may read, as bits */
    _Atomic uint64_t watched;         /* words that variants were made for, likewise */
    uint32_t count;
    VkPushConstantRange ranges[];
};

/* vkCmdPushConstants and its kin. */
struct pm_push {
    VkPipelineLayout layout;
    VkShaderStageFlags stages;
    uint32_t offset, size; /* bytes */
    const void *values;
};

/* The words that a push or a range covers, as bits; of those beyond what is followed nothing. */
static inline uint64_t pm_push_mask(uint32_t offset, uint32_t size)
{
    const uint32_t first = offset / 4, count = size / 4;
    if (first >= PM_PUSHED_WORDS)
        return 0;
    return (count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << first;
}

/* Whether the push names all stages that read what it covers, as Vulkan wants it (VUID 01796 of
 * vkCmdPushConstants). */
bool pm_push_ranges_allow(const struct pm_push_ranges *ranges, const struct pm_push *push);

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

/* Of a shader object, which has ranges and no layout; valid as those below. NULL: out of memory, or
 * there are too many. */
struct pm_push_ranges *pm_push_layouts_ranges(struct pm_push_layouts *layouts, uint32_t count,
                                              const VkPushConstantRange *ranges);

/* Valid until pm_push_layouts_finish. NULL: nothing is known of the layout. */
static inline struct pm_push_ranges *pm_push_layouts_find(const struct pm_push_layouts *layouts,
                                                          VkPipelineLayout handle)
{
    return pm_lookup_find(&layouts->by_handle, PM_BITS(handle));
}
