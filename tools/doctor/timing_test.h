/*
 * The layer's self-test of timestamps around single draws (layer/trial/additive.h, HAZARDS 14), made by a
 * program on a device of its own and waited for.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "layer/trial/additive.h"

struct pm_timing_found {
    bool additive;
    const char *why;                /* there is nothing to judge; else NULL */
    bool hangs;                     /* the device is not done: nothing of it may be destroyed */
    struct pm_additive_round round; /* the last one */
};

/* The first queue family that draws and has timestamps, and their valid bits; UINT32_MAX: none. */
uint32_t pm_timing_family(VkPhysicalDevice physical, uint64_t *mask);

/* device: it needs nothing enabled, and the first queue of that family is used by nobody else
 * meanwhile. */
void pm_timing_test(VkPhysicalDevice physical, VkDevice device, uint32_t family, uint64_t mask,
                    struct pm_timing_found *found);
