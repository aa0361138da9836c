/*
 * A checkpoint of one queue on the GPU (readback.h): a command buffer of ours that copies the
 * counters of variants to host memory, and its buffer. Reused when it is through; a queue has up to
 * PM_QUEUE_COPIES.
 *
 * Thread safety: under the readback's lock; what submits, also while the game holds the queue. One
 * that is through is who takes it's alone, until it may be prepared again.
 */
#pragma once

#include "layer/frame/queue.h"
#include "layer/memory/mapped_buffer.h"

/* A variant in a copy. It holds the reference that the queue's dirty list held. */
struct pm_copy_entry {
    struct pm_variant *variant; /* NULL: the reference is another's again */
    uint64_t offset;            /* bytes in the copy's buffer */
    uint64_t calls;
    uint32_t scene;        /* of what is copied (scene.h) */
    uint32_t user_changes; /* the variant's, when the copy was submitted */
    bool data; /* false: nothing was copied, other queues were using it; this only marks when ours
                  are done. Of a copy that is through: it is to be read */
};

struct pm_copy {
    struct pm_queue *queue;
    struct pm_copy *next; /* in the order of submission */
    bool under_way;
    bool usable; /* it is through, and the driver says that it was made; else it was given up */
    VkCommandBuffer commands;
    VkFence fence;  /* where there are no timeline semaphores */
    uint64_t value; /* of the queue's timeline */
    struct pm_mapped_buffer host;
    struct pm_copy_entry *entries;
    uint32_t entry_count, entry_capacity;
};

/* Everything that is dirty on the queue, recorded into a copy that is not under way. NULL: there is
 * nothing, no copy is free, or the driver refused; everything is as it was. */
struct pm_copy *pm_copy_prepare(struct pm_queue *queue);

/* Submits it behind the game's last submission. false: not submitted. */
bool pm_copy_submit(struct pm_copy *copy);

/* VK_SUCCESS: it is through; VK_ERROR_DEVICE_LOST: no more will come of it; else: not yet known. */
VkResult pm_copy_result(const struct pm_copy *copy);

/* It is through and was read: it may be prepared again. */
void pm_copy_reuse(struct pm_copy *copy);

/* Destroys what was made for the queue's copies, and its dirty list; the device is idle. */
void pm_copies_release(struct pm_queue *queue);
