/* What readback.c (the GPU's side) and writer.c (the host's side) share. */
#pragma once

#include "layer/counts/readback.h"

/* A variant in a copy. It holds the reference that the queue's dirty list held. */
struct pm_copy_entry {
    struct pm_variant *variant;
    uint64_t offset; /* bytes in the copy's buffer */
    uint64_t calls;
    uint32_t scene;    /* of what is copied (scene.h) */
    uint32_t switches; /* the variant's, when the copy was submitted */
    bool data; /* false: nothing was copied, other queues were using it; this only marks when ours
                  are done */
};

/* A checkpoint of one queue, reused when it is through. */
struct pm_copy {
    struct pm_queue *queue;
    struct pm_copy *next; /* in the order of submission */
    bool under_way;
    VkCommandBuffer commands;
    VkFence fence;  /* where there are no timeline semaphores */
    uint64_t value; /* of the queue's timeline */
    VkBuffer buffer;
    VkDeviceMemory memory;
    const unsigned char *map;
    uint64_t capacity; /* bytes of buffer */
    struct pm_copy_entry *entries;
    uint32_t entry_count, entry_capacity;
};

struct pm_readback {
    struct pm_device *device;
    pthread_mutex_t lock;         /* all below, the queues' fields and the variants' */
    pthread_cond_t work;          /* a copy was submitted, or stopping */
    pthread_cond_t done;          /* the last copy under way is through */
    struct pm_copy *first, *last; /* under way */
    pthread_t writer;
    bool started, stopping, stopped, given_up;
};

/* Starts the writer when it is not there; under the lock. false: no thread could be started. */
bool pm_writer_start(struct pm_readback *readback);

/* Whether a queue other than this one may be counting with the variant; under the lock. */
bool pm_readback_used_elsewhere(const struct pm_queue *queue, const struct pm_variant *variant);

/* Puts a variant into the queue's dirty list, taking over a reference; under the lock. false: out
 * of memory. */
bool pm_readback_mark(struct pm_queue *queue, struct pm_variant *variant);
