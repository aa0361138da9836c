#include "layer/hooks/device_chain.h"

#include "layer/generate/create_info.h"
#include "structures.h"
#include <stddef.h>

/* More than any structure of features has. */
enum { MOST_FEATURES = 512 };

/* No feature is ever this. */
#define UNTOUCHED UINT32_C(0xa5a5a5a5)

struct filled {
    VkBaseOutStructure base;
    uint32_t values[MOST_FEATURES];
};

/* The size of a structure of features that the headers do not know, by what the driver fills in: it
 * sets every feature of a structure to VK_TRUE or VK_FALSE, and skips structures that it does not
 * know. 0: it does not know it, or it is not one of features. */
static size_t size_by_driver(struct pm_arena *arena, const struct pm_instance *instance,
                             VkPhysicalDevice physical, VkStructureType type)
{
    struct filled *filled = pm_arena_alloc(arena, sizeof *filled);
    if (filled == NULL)
        return 0;
    filled->base = (VkBaseOutStructure){.sType = type};
    for (uint32_t i = 0; i < MOST_FEATURES; i++)
        filled->values[i] = UNTOUCHED;
    VkPhysicalDeviceFeatures2 features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
        .pNext = filled,
    };
    instance->dispatch.GetPhysicalDeviceFeatures2(physical, &features);
    uint32_t count = 0;
    while (count < MOST_FEATURES && filled->values[count] <= VK_TRUE)
        count++;
    for (uint32_t i = count; i < MOST_FEATURES; i++) {
        if (filled->values[i] != UNTOUCHED)
            return 0;
    }
    return count > 0 && count < MOST_FEATURES
               ? offsetof(struct filled, values) + count * sizeof *filled->values
               : 0;
}

static bool has_wanted(const void *chain, const VkStructureType *wanted, uint32_t wanted_count)
{
    for (uint32_t i = 0; i < wanted_count; i++) {
        if (pm_find_in_chain(chain, wanted[i]) != NULL)
            return true;
    }
    return false;
}

bool pm_device_chain_copy(struct pm_device_chain *out, struct pm_arena *arena,
                          const struct pm_instance *instance, VkPhysicalDevice physical,
                          const void *chain, const VkStructureType *wanted, uint32_t wanted_count)
{
    const VkBaseInStructure *from = chain;
    VkBaseOutStructure *last = NULL;
    *out = (struct pm_device_chain){.first = (void *)(uintptr_t)chain, .shared = chain};
    /* What is behind the last one that somebody wants may stay where it is. */
    for (; has_wanted(from, wanted, wanted_count); from = from->pNext) {
        size_t size = from->sType == VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO
                          ? sizeof(VkLayerDeviceCreateInfo)
                          : pm_structure_size(from->sType);
        if (size == 0)
            size = size_by_driver(arena, instance, physical, from->sType);
        if (size == 0)
            break;
        VkBaseOutStructure *copy = pm_arena_dup(arena, from, size);
        if (copy == NULL)
            return false;
        if (last != NULL)
            last->pNext = copy;
        else
            out->first = copy;
        last = copy;
    }
    out->shared = from;
    return true;
}
