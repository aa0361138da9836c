/*
 * How long vkCreate*Pipelines may take for proven variants that it makes at once, so that
 * recordings which the game makes a moment later and keeps bind them. Of each second there are
 * limits.proven_ms_per_second, and limits.proven_ms_per_pipeline of these for one pipeline; few
 * drivers make a pipeline in that time. So while the game loads, when nobody sees it, what does
 * not fit takes from what a program that loads is waited for at all (ahead.h).
 *
 * How long a variant takes is known beforehand, so what takes too long is not begun. What took
 * longer than that is owed: nothing is made until it is made up for.
 *
 * Thread safety: any thread; a grant is its thread's.
 */
#pragma once

#include "layer/core/allowance.h"
#include "layer/shader/ahead.h"
#include <pthread.h>

enum { PM_WAITS_KNOWN = 8 };

struct pm_at_once {
    int64_t most; /* nanoseconds of one pipeline */
    struct pm_ahead *ahead;
    pthread_mutex_t lock;
    /* under the lock: */
    struct pm_allowance allowance;
    int64_t waits[PM_WAITS_KNOWN]; /* the newest that pm_at_once_wait was told */
    uint32_t wait_count;           /* of all */
};

/* What there is for a pipeline. */
struct pm_grant {
    int64_t start;   /* pm_now() */
    int64_t granted; /* nanoseconds, of the allowance; 0: there is none */
    int64_t loading; /* and of what there is while a program loads */
    bool loads;      /* it does */
};

/* ahead: outlives it. */
void pm_at_once_init(struct pm_at_once *at_once, uint32_t ms_per_pipeline, uint32_t ms_per_second,
                     struct pm_ahead *ahead, int64_t now);
void pm_at_once_finish(struct pm_at_once *at_once);

/* How long a pipeline that is made now is to wait, besides what its thread works, by how long the
 * game's own did just before (struct pm_creation). While a program loads that is the least of the
 * last ones: a driver that compiles on threads of its own lets all of them wait, one that a busy
 * machine has interrupted says nothing. Later it is the last one: where the program draws, a driver
 * may hold a lock for longer than a frame takes. */
int64_t pm_at_once_wait(struct pm_at_once *at_once, int64_t waited, bool loads);

/* Takes what there may be for a pipeline that is made now. */
struct pm_grant pm_at_once_begin(struct pm_at_once *at_once, bool loads, int64_t now);
/* Whether there may be anything at all. */
bool pm_grant_any(const struct pm_grant *grant);
/* Whether something may begin now that takes so many nanoseconds; if that is more than was granted,
 * it is taken from what there is for loading. worth: as pm_ahead_take. */
bool pm_at_once_fits(struct pm_at_once *at_once, struct pm_grant *grant, int64_t takes, bool worth,
                     int64_t now);
/* What a pipeline is said to take from now on that was to take and wait so long: what its thread
 * worked, unless it took far longer, and longer than it was given; then its wait, too. A driver may
 * have worked on threads of its own, though the game's own, just before, came from a cache. */
int64_t pm_at_once_took(const struct pm_grant *grant, int64_t takes, int64_t waits, int64_t worked,
                        int64_t really);
/* Gives back what was not spent by now. */
void pm_at_once_end(struct pm_at_once *at_once, const struct pm_grant *grant, int64_t now);
