/*
 * Whether a device hangs, as far as the game's own questions tell (HAZARDS 22). A driver does not
 * report every hang as a lost device: then it is the game that notices, and gives up.
 *
 * A device hangs when the game has waited for submitted work for PM_HANG and still waits, or when
 * it asked for a fence PM_HANG after the submission of that fence, and not all of the submission
 * was done; until it sees that it is. A fence counts from the submission that it is given to until
 * it is reset: one that nobody submitted, or that an acquired image signals, is not work. Nor is a
 * timeline semaphore's value, which anybody may signal.
 *
 * Thread safety: any thread, but for init and finish. pm_hang_watch_hangs takes no locks and makes
 * no calls, for signal handlers. The times (CLOCK_MONOTONIC, nanoseconds, not 0) are the caller's.
 */
#pragma once

#include "base/clock.h"
#include "layer/core/lookup.h"
#include <vulkan/vulkan.h>

#define PM_HANG (2 * PM_SECOND)

enum { PM_HANG_WAITS = 16 }; /* that are watched at once; more are not */

struct pm_hang_watch {
    struct pm_lookup fences;              /* submitted and not reset: when */
    _Atomic int64_t waits[PM_HANG_WAITS]; /* under way: since when; 0: free */
    _Atomic uint64_t late;                /* the latest fence asked for in vain; 0: none */
};

/* A question about fences; with `any` one of them is enough. No fences: about all work of a queue
 * or of the device. */
struct pm_hang_question {
    uint32_t count;
    const VkFence *fences;
    bool any;
};

void pm_hang_watch_init(struct pm_hang_watch *watch);
void pm_hang_watch_finish(struct pm_hang_watch *watch);

/* The fence was given to a submission; VK_NULL_HANDLE is allowed. */
void pm_hang_watch_submitted(struct pm_hang_watch *watch, VkFence fence, int64_t now);

/* The fences are about to be reset or destroyed. */
void pm_hang_watch_reset(struct pm_hang_watch *watch, uint32_t count, const VkFence *fences);

/* The game has asked, and it was finished or not. */
void pm_hang_watch_answer(struct pm_hang_watch *watch, const struct pm_hang_question *question,
                          bool finished, int64_t now);

/* Around a wait. What begins returns goes to its end; NULL: the wait is not watched. */
_Atomic int64_t *pm_hang_watch_wait_begins(struct pm_hang_watch *watch,
                                           const struct pm_hang_question *question, int64_t now);
void pm_hang_watch_wait_ends(_Atomic int64_t *wait);

bool pm_hang_watch_hangs(const struct pm_hang_watch *watch, int64_t now);
