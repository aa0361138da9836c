#include "layer/shader/push_ranges.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_RANGES = 32, /* of a layout: one a stage is all there can be */
    MOST_KINDS = 1024 /* different ones; games have a few */
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

static void find_words(struct pm_push_ranges *ranges)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        const VkPushConstantRange *range = &ranges->ranges[i];
        const uint64_t words = pm_push_mask(range->offset, range->size);
        if ((range->stageFlags & VK_SHADER_STAGE_FRAGMENT_BIT) != 0)
            ranges->words[0] |= words;
        if ((range->stageFlags & VK_SHADER_STAGE_COMPUTE_BIT) != 0)
            ranges->words[1] |= words;
    }
}

/* Under the lock. NULL: out of memory, or there are too many. */
static struct pm_push_ranges *intern(struct pm_push_layouts *layouts, uint32_t count,
                                     const VkPushConstantRange *of)
{
    const size_t bytes = count * sizeof(VkPushConstantRange);
    for (struct pm_push_ranges *ranges = layouts->first; ranges; ranges = ranges->next)
        if (ranges->count == count && (count == 0 || memcmp(ranges->ranges, of, bytes) == 0))
            return ranges;
    if (layouts->count == MOST_KINDS)
        return NULL;
    struct pm_push_ranges *ranges = malloc(sizeof *ranges + bytes);
    if (!ranges)
        return NULL;
    memset(ranges, 0, sizeof *ranges);
    ranges->next = layouts->first;
    ranges->count = count;
    if (count > 0)
        memcpy(ranges->ranges, of, bytes);
    find_words(ranges);
    layouts->count++;
    return layouts->first = ranges;
}

bool pm_push_ranges_allow(const struct pm_push_ranges *ranges, const struct pm_push *push)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        const VkPushConstantRange *range = &ranges->ranges[i];
        if (push->offset < range->offset + range->size &&
            range->offset < push->offset + push->size && (range->stageFlags & ~push->stages) != 0)
            return false;
    }
    return true;
}

struct pm_push_ranges *pm_push_layouts_ranges(struct pm_push_layouts *layouts, uint32_t count,
                                              const VkPushConstantRange *ranges)
{
    if (count > MOST_RANGES)
        return NULL;
    pthread_mutex_lock(&layouts->lock);
    struct pm_push_ranges *found = intern(layouts, count, ranges);
    pthread_mutex_unlock(&layouts->lock);
    return found;
}

void pm_push_layouts_put(struct pm_push_layouts *layouts, VkPipelineLayout handle,
                         const VkPipelineLayoutCreateInfo *info)
{
    struct pm_push_ranges *ranges =
        pm_push_layouts_ranges(layouts, info->pushConstantRangeCount, info->pPushConstantRanges);
    if (!ranges || !pm_lookup_put(&layouts->by_handle, PM_BITS(handle), ranges))
        pm_push_layouts_remove(layouts, handle);
}

void pm_push_layouts_remove(struct pm_push_layouts *layouts, VkPipelineLayout handle)
{
    if (handle)
        (void)pm_lookup_remove(&layouts->by_handle, PM_BITS(handle));
}
