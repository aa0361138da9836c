/*
 * Which of the calls that kept recordings hold twice (predicated.h) are sampled in a submission: a
 * small command buffer of ours in front of the game's, on the same queue, that writes the words
 * that change. Outside windows, once they are 0 again, there is none.
 *
 * Why nothing reads a word while it changes: there is no write but these. Recordings that were
 * submitted earlier may be pending (SIMULTANEOUS_USE) where all submissions go to one queue
 * (predicated.h): there a barrier makes each update wait until everything submitted before to the
 * queue has read its predicates, and another one makes everything submitted after it wait for the
 * write. A recording without SIMULTANEOUS_USE is never pending when it is submitted, so whatever
 * queue had it before is done with it and with the update in front of it, and the game has learned
 * so by a fence or a semaphore, which made that write available; an update in the other queue,
 * though nothing changes, makes it visible there. A recording that is in several places of one
 * vkQueueSubmit has the same choice in all.
 *
 * Where the driver refuses the game's own submission, which is out of memory or of a lost device,
 * the update in front of it was made and nobody waits for it. If the recording is freed then, or
 * submitted elsewhere, a word may be 1 in a submission that does not say so: a call goes uncounted.
 *
 * Thread safety: while the game holds the queue.
 */
#pragma once

#include "layer/frame/queue.h"

struct pm_command;

/* A recording that is about to be submitted to the queue. Where its words are to change that is
 * recorded; without a command buffer for it all stays as it was. */
void pm_predicate_update_add(struct pm_queue *queue, struct pm_command *command);

/* All that are about to be submitted were added: submits what changes. Afterwards their uses say
 * what is counted. */
void pm_predicate_update_submit(struct pm_queue *queue);

/* Destroys what was made for the queue; the device is idle. */
void pm_predicate_update_release(struct pm_queue *queue);
