/*
 * Queues: what their submissions use, and when they were asked for a checkpoint last.
 *
 * Who holds the VkQueue is the game's thread that calls it; of one that the driver synchronizes
 * (VK_KHR_internally_synchronized_queues), for which several threads may call at once, it is who
 * has pm_queue_hold's lock.
 *
 * Thread safety: any thread may add and find one; of a record's fields each says whose it is.
 */
#pragma once

#include "layer/frame/sampling.h"
#include "layer/shader/variant.h"

#define PM_QUEUE_COPIES 2 /* checkpoints under way at a time */

struct pm_copy;              /* counts/copy.h */
struct pm_predicate_updates; /* predicate_update.h */

struct pm_queue {
    struct pm_device *device;
    VkQueue handle;
    uint32_t family;
    uint32_t index, bit;                  /* its number, and 1 << that */
    bool synchronized;                    /* by the driver, not by the game */
    pthread_mutex_t lock;                 /* who has it holds a VkQueue that is synchronized */
    uint64_t submits;                     /* the game's; for who holds the VkQueue */
    uint32_t scene;                       /* of its latest submission (scene.h); likewise */
    struct pm_predicate_updates *updates; /* likewise; NULL: none was needed yet */

    /* all below: under the readback's lock (counts/count_state.h) */
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

/* The device has a queue of that family, with these flags: makes its record. Out of memory, or of
 * PM_QUEUES: it gets none, and is left alone. */
void pm_queue_add(struct pm_device *device, VkQueue handle, uint32_t family,
                  VkDeviceQueueCreateFlags flags);

/* Frees the records, after pm_copies_release of each; the device is idle. */
void pm_queues_destroy(struct pm_sampling *sampling);

/* The record of a queue; NULL: unknown. */
struct pm_queue *pm_queue_of(struct pm_device *device, VkQueue handle);

/* Around what only who holds the VkQueue may do, in a call of the game's on it. The lock comes
 * before all others; where the game holds the queue there is none. */
void pm_queue_hold(struct pm_queue *queue);
void pm_queue_let_go(struct pm_queue *queue);
