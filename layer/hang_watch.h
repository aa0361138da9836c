/*
 * Whether a device hangs, as far as the game's own questions tell (HAZARDS 22). A driver does not
 * report every hang as a lost device: then it is the game that notices, and gives up.
 *
 * A device hangs when the game has waited, or asked again and again, for PM_HANG and nothing was
 * seen to finish. What counts is the time until the latest question was answered, or now while
 * somebody waits: a game that ends with frames under way has not asked for long. Once the game has
 * waited for the whole device nothing hangs until something is submitted again.
 *
 * Thread safety: any thread, and a signal handler; no locks, no calls. The times (CLOCK_MONOTONIC,
 * nanoseconds) are the caller's.
 */
#pragma once

#include "base/clock.h"
#include <stdatomic.h>
#include <stdbool.h>

#define PM_HANG (2 * PM_SECOND)

/* All zeros: nothing was submitted. */
struct pm_hang_watch {
    _Atomic bool submitted; /* something, since the game last waited for the whole device */
    _Atomic uint32_t waits; /* under way */
    _Atomic int64_t since;  /* when the game began to ask in vain; 0: it does not */
    _Atomic int64_t until;  /* its latest question */
};

/* Something was submitted. */
void pm_hang_watch_submitted(struct pm_hang_watch *watch);

/* The game asked whether something has finished. */
void pm_hang_watch_answer(struct pm_hang_watch *watch, int64_t now, bool finished);

/* The game has waited for the whole device. */
void pm_hang_watch_idle(struct pm_hang_watch *watch);

/* Around a wait for something to finish. */
void pm_hang_watch_wait_begins(struct pm_hang_watch *watch, int64_t now);
void pm_hang_watch_wait_ends(struct pm_hang_watch *watch, int64_t now, bool finished);

bool pm_hang_watch_hangs(const struct pm_hang_watch *watch, int64_t now);
