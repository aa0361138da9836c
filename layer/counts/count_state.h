/*
 * What becomes of a variant's counters on each queue that uses it. Of each pair of them one of four
 * states holds:
 *
 *              counted                 copied
 *      READ ─────────────► DIRTY ─────────────────► COPYING
 *       ▲                    ▲                     ▲   │  │
 *       │                    │ through      copied │   │  │ counted
 *       │                    │                     │   │  ▼
 *       │                    └───────────────── COPYING_DIRTY
 *       │ through                                      │
 *       └──────────────────────────────────────────────┘ (from COPYING)
 *
 *     counted  the queue was given calls that count with the variant; or a copy is through that
 *              could not be read, since other queues counted meanwhile, and nobody else will
 *     copied   a copy of all that is dirty on the queue was submitted to it (readback.h)
 *     through  the last copy under way that names the variant is through; up to PM_QUEUE_COPIES
 *              are
 *
 * The queue's dirty list names exactly the variants that are DIRTY or COPYING_DIRTY on it. A copy
 * is read only if no other queue can have been counting since the queue that made it began to: all
 * others are READ, or DIRTY and long through, and the variant's user did not change meanwhile.
 *
 * Thread safety: everything here is under the readback's lock.
 */
#pragma once

#include "layer/frame/queue.h"

enum pm_count_state {
    PM_COUNTS_READ,          /* all that the queue counted was read, or belongs to another's copy */
    PM_COUNTS_DIRTY,         /* it counted since its last copy */
    PM_COUNTS_COPYING,       /* a copy is under way, and it did not count since */
    PM_COUNTS_COPYING_DIRTY, /* a copy is under way, and it counted since */
    PM_COUNT_STATES
};

enum pm_count_event { PM_COUNT_COUNTED, PM_COUNT_COPIED, PM_COUNT_THROUGH, PM_COUNT_EVENTS };

/* By state and event: what comes next; PM_COUNT_STATES: that cannot happen. */
extern const uint8_t pm_count_transitions[PM_COUNT_STATES][PM_COUNT_EVENTS];

static inline bool pm_count_is_dirty(enum pm_count_state state)
{
    return state == PM_COUNTS_DIRTY || state == PM_COUNTS_COPYING_DIRTY;
}

static inline bool pm_count_is_copying(enum pm_count_state state)
{
    return state == PM_COUNTS_COPYING || state == PM_COUNTS_COPYING_DIRTY;
}

static inline enum pm_count_state pm_count_state_of(const struct pm_queue *queue,
                                                    const struct pm_variant *variant)
{
    return (enum pm_count_state)variant->counted.state[queue->index];
}

/* The queue uses the variant. true: it is the first ever. */
bool pm_count_used(const struct pm_queue *queue, struct pm_variant *variant);

/* Counted: puts the variant into the queue's dirty list, taking over a reference. It must not be
 * dirty on it. false: out of memory, nothing changed. */
bool pm_count_dirty(struct pm_queue *queue, struct pm_variant *variant);

/* Copied: a copy of all that is dirty was submitted to the queue, and now holds the references of
 * its dirty list, which is emptied. */
void pm_count_copied(struct pm_queue *queue);

/* A copy that names the variant is through. */
void pm_count_through(const struct pm_queue *queue, struct pm_variant *variant);

/* Whether a queue other than this one may be counting with the variant. */
bool pm_count_elsewhere(const struct pm_queue *queue, const struct pm_variant *variant);
