/*
 * Queues: what their submissions use, when they are asked for a checkpoint, presents. The game
 * holds a queue while it calls a hook, so whatever the layer submits to it happens there, on the
 * same thread (HAZARDS 13).
 */
#pragma once

#include "layer/frame/sampling.h"
#include "layer/shader/variant.h"

#define PM_QUEUE_COPIES 2 /* checkpoints under way at a time */

struct pm_copy; /* readback.h */

struct pm_queue {
    struct pm_device *device;
    VkQueue handle;
    uint32_t family;
    uint32_t index, bit; /* its number, and 1 << that */
    uint64_t submits;    /* the game's; for who holds the VkQueue */
    uint32_t scene;      /* of its latest submission (scene.h); likewise */

    /* all below: under the readback's lock */
    struct pm_variant **dirty;    /* used by submissions since the last copy, each referenced */
    _Atomic uint32_t dirty_count; /* may be read without the lock by who holds the VkQueue */
    uint32_t dirty_capacity;
    uint64_t checkpoint;  /* the one it followed last */
    int64_t cut_at;       /* CLOCK_MONOTONIC, nanoseconds: when a scene's end was a checkpoint */
    int64_t copied_at;    /* CLOCK_MONOTONIC, nanoseconds */
    int64_t used_at;      /* likewise: when it was last given variants */
    VkSemaphore timeline; /* VK_NULL_HANDLE: not made yet, or the device has none and each copy has
                             a fence */
    uint64_t timeline_value; /* signalled by the latest copy */
    VkCommandPool pool;
    struct pm_copy *copies[PM_QUEUE_COPIES];
};

/* Frees the queues' records and what the readback made for them; the device is idle. */
void pm_queues_destroy(struct pm_sampling *sampling);

/* The record of a queue; NULL: unknown. */
struct pm_queue *pm_queue_of(struct pm_device *device, VkQueue handle);

/* Around a call of the game's that may wait (wait.c). */
int64_t pm_wait_begins(const struct pm_device *device);
void pm_wait_ends(struct pm_device *device, int64_t begin, VkResult result);

/* VK_ERROR_DEVICE_LOST was seen. */
void pm_device_was_lost(struct pm_device *device);
