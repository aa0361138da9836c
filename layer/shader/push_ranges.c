#include "layer/shader/push_ranges.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_RANGES = 32, /* of a layout: one a stage is all there can be */
    MOST_KINDS = 1024 /* different ones; games have a few */
};

struct pm_push_ranges {
    struct pm_push_ranges *next;
    uint32_t count;
    VkPushConstantRange ranges[];
};

void pm_push_layouts_init(struct pm_push_layouts *layouts)
{
    pm_lookup_init(&layouts->by_handle);
    pthread_mutex_init(&layouts->lock, NULL);
}

void pm_push_layouts_finish(struct pm_push_layouts *layouts)
{
    for (struct pm_push_ranges *ranges = layouts->first, *next; ranges; ranges = next) {
        next = ranges->next;
        free(ranges);
    }
    pm_lookup_finish(&layouts->by_handle);
    pthread_mutex_destroy(&layouts->lock);
}

/* Under the lock. NULL: out of memory, or there are too many. */
static struct pm_push_ranges *intern(struct pm_push_layouts *layouts,
                                     const VkPipelineLayoutCreateInfo *info)
{
    const uint32_t count = info->pushConstantRangeCount;
    const size_t bytes = count * sizeof(VkPushConstantRange);
    for (struct pm_push_ranges *ranges = layouts->first; ranges; ranges = ranges->next)
        if (ranges->count == count &&
            (count == 0 || memcmp(ranges->ranges, info->pPushConstantRanges, bytes) == 0))
            return ranges;
    if (layouts->count == MOST_KINDS)
        return NULL;
    struct pm_push_ranges *ranges = malloc(sizeof *ranges + bytes);
    if (!ranges)
        return NULL;
    *ranges = (struct pm_push_ranges){.next = layouts->first, .count = count};
    if (count > 0)
        memcpy(ranges->ranges, info->pPushConstantRanges, bytes);
    layouts->count++;
    return layouts->first = ranges;
}

void pm_push_layouts_put(struct pm_push_layouts *layouts, VkPipelineLayout handle,
                         const VkPipelineLayoutCreateInfo *info)
{
    struct pm_push_ranges *ranges = NULL;
    if (info->pushConstantRangeCount <= MOST_RANGES) {
        pthread_mutex_lock(&layouts->lock);
        ranges = intern(layouts, info);
        pthread_mutex_unlock(&layouts->lock);
    }
    if (!ranges || !pm_lookup_put(&layouts->by_handle, PM_BITS(handle), ranges))
        pm_push_layouts_remove(layouts, handle);
}

void pm_push_layouts_remove(struct pm_push_layouts *layouts, VkPipelineLayout handle)
{
    if (handle)
        (void)pm_lookup_remove(&layouts->by_handle, PM_BITS(handle));
}
