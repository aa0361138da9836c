/*
 * Whether submissions are done, on drivers where timestamps may be asked for of those alone.
 *
 * lavapipe 25's vkGetQueryPoolResults takes a query of a submission that is being executed for one
 * of the caller's own, and flushes the executing thread's context under it: that thread crashes
 * (seen in lp_setup_end_query, in one of 600 short sessions). So a submission that holds
 * timestamps is followed by an empty one of ours, which signals a timeline semaphore.
 *
 * Thread safety: pm_marks_next and pm_marks_submitted are called by who holds the VkQueue;
 * pm_marks_look and pm_marks_done by one thread, the poller; pm_marks_was_made by any.
 */
#pragma once

#include "layer/frame/queue.h"

/* A submission of a queue's that holds timestamps. */
struct pm_mark {
    uint32_t queue; /* its index */
    uint64_t value; /* of the queue's timeline; 0: of none */
};

struct pm_marks;

/* NULL: the driver may be asked at any time, the device has no timeline semaphores, or out of
 * memory. All below take NULL, as if each submission were done as soon as it is made. */
struct pm_marks *pm_marks_create(struct pm_device *device);
/* The device is idle. */
void pm_marks_destroy(struct pm_marks *marks);

/* The submission that the queue is about to be given, which holds timestamps. */
struct pm_mark pm_marks_next(struct pm_marks *marks, const struct pm_queue *queue);
/* It was given one. */
void pm_marks_submitted(struct pm_marks *marks, const struct pm_queue *queue);

/* Asks the driver how far all queues are. */
void pm_marks_look(struct pm_marks *marks);
/* Whether the submission was done when the driver was asked last. */
bool pm_marks_done(const struct pm_marks *marks, struct pm_mark mark);
/* Whether it was made at all, and so will be done. */
bool pm_marks_was_made(const struct pm_marks *marks, struct pm_mark mark);
