/*
 * Variants that turn slow (debug.slow_from): each is what it is until that heartbeat and does its
 * work twice from then on, as in a scene in which it is slower. For tests of what notices that.
 *
 * Beside a variant's pipeline its twin is built ahead (optimize_build.c), which does its work
 * twice, and from the heartbeat on the driver is told to bind the twin wherever it was told to bind
 * the variant (hooks/slow_later_hooks.h). All above the driver know of one variant only, whose
 * handle stays: nothing tells a trial that it is another, and where the key is not set there is
 * nothing of this. What a recording that is kept has bound before stays bound in it.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/shader/built.h"
#include "layer/shader/candidate.h"

/* A device's. */
struct pm_slow_later {
    struct pm_device *device;
    PFN_vkCmdBindPipeline bind; /* the next layer's */
    uint64_t from;              /* heartbeat */
    _Atomic bool turned;        /* it was there */
    _Atomic uint64_t latest;    /* behind it */
    pthread_mutex_t lock;
    struct pm_slow_twin *twins; /* under lock; each is its variant's */
};

/* NULL: debug.slow_from is not set, or there is no memory. Destroyed when no variant is left. */
struct pm_slow_later *pm_slow_later_create(struct pm_device *device);
void pm_slow_later_destroy(struct pm_slow_later *later);

/* Each one, by its number. Says when they turn slow, and which of them was dropped since. */
void pm_slow_later_heartbeat(struct pm_slow_later *later, uint64_t number);

/* What is to be bound for a handle: the twin of a variant that has turned, else itself. */
uint64_t pm_slow_later_bound(struct pm_slow_later *later, uint64_t handle);

/* What was built becomes a variant's twin, which is destroyed before it, and is nobody else's from
 * then on; *built is emptied. NULL: out of memory, and nothing changed. */
struct pm_slow_twin *pm_slow_later_add(struct pm_slow_later *later,
                                       const struct pm_candidate *variant, struct pm_built *built);
/* NULL is allowed for the twin. */
void pm_slow_twin_destroy(struct pm_slow_later *later, struct pm_slow_twin *twin);
