/*
 * Whether timestamps around single draws of a render pass instance say what each draw took (HAZARDS
 * 14). On tilers and on lavapipe they do not: there the draws of an instance run when it ends. A
 * self-test finds out on the device itself, once, when the first draw is to be tried (trial.h): in
 * a small render pass of the layer's own a light and a heavy draw are timed in both orders, and
 * each of them in an instance of its own. Single draws are timed only where all agree; anything
 * doubtful, a driver that refuses something included, counts as not additive.
 *
 * The objects are made on the compiler's thread. Each round is one submission of ours behind one of
 * the game's, on the same queue, on the same thread inside the hook (HAZARDS 13); what it took is
 * polled by the poller's thread, never waited for. A round takes the device about a millisecond.
 *
 * Thread safety: pm_additive_follow is called while the game holds the queue; polling belongs to
 * the poller's thread; all else may be called from any thread.
 */
#pragma once

#include "layer/frame/queue.h"

struct pm_additive;

enum pm_additive_outcome { PM_ADDITIVE_UNKNOWN, PM_ADDITIVE_NO, PM_ADDITIVE_YES };

/* NULL: out of memory. Makes nothing yet. */
struct pm_additive *pm_additive_create(struct pm_device *device);
/* The compiler and the poller's thread have ended. NULL is allowed. */
void pm_additive_destroy(struct pm_additive *additive);

/* A draw is to be tried: begins the test, once. NULL is allowed. */
void pm_additive_want(struct pm_additive *additive);

/* What is known so far; NULL: PM_ADDITIVE_NO. */
enum pm_additive_outcome pm_additive_outcome(const struct pm_additive *additive);

/* Behind a submission of the game's: the next round, if one is due. NULL is allowed. */
void pm_additive_follow(struct pm_additive *additive, struct pm_queue *queue);

/* Whether a round is under way; NULL: false. */
bool pm_additive_is_waiting(const struct pm_additive *additive);
/* Takes its times, if they are there. */
void pm_additive_poll(struct pm_additive *additive);

/* ---- judging ---- */

enum {
    PM_ADDITIVE_ROUNDS = 5, /* odd: medians of them are compared */
    PM_ADDITIVE_RATIO = 4,  /* the heavy draw is so many times the light one */
};

/* What a round took, in nanoseconds. In each pair the light draw is 0, the heavy one 1. */
struct pm_additive_round {
    double alone[2];     /* render pass instances with one draw */
    double among[2][2];  /* draws of one instance, whose first one is the index */
    double instances[2]; /* those instances as wholes */
};

/* How many instances the light draw is to have after a round in which it had so many, so that what
 * beginning a render pass instance costs does not count: the same number when the heavy draw took
 * long enough, 0 when no number is large enough. */
uint32_t pm_additive_size(uint32_t instances, const struct pm_additive_round *round);

/* Whether rounds of one size say that timestamps around single draws are additive. */
bool pm_additive_judge(const struct pm_additive_round rounds[static PM_ADDITIVE_ROUNDS]);
