/*
 * The pNext chain of a VkDeviceCreateInfo, for the length of vkCreateDevice: copied as far as it
 * can be, so that features in it can be turned on (HAZARDS 10). A game may be newer than our
 * headers, and nobody can copy a structure whose size he does not know. A structure of features has
 * a size that the driver tells, since it fills one in; from the first structure on of which nothing
 * does, the chain is the game's own and stays as it is.
 *
 * Thread safety: any thread, one arena a thread.
 */
#pragma once

#include "base/arena.h"
#include "layer/core/layer.h"

struct pm_device_chain {
    void *first;        /* what is to be the copy's pNext; the arena's, or `shared` */
    const void *shared; /* from here on it is the game's; NULL: nothing is */
};

/* wanted: types that somebody wants to change; for their sake alone the driver is asked for sizes.
 * false: out of memory. */
bool pm_device_chain_copy(struct pm_device_chain *out, struct pm_arena *arena,
                          const struct pm_instance *instance, VkPhysicalDevice physical,
                          const void *chain, const VkStructureType *wanted, uint32_t wanted_count);
