/*
 * Instrumented ahead (HAZARDS 12): a recording that is made once and submitted often never finds a
 * variant if its first sampled call is what asks for it. So some pipelines get one as soon as the
 * game has made them. It is made in the background, as ever; what a program does between making a
 * pipeline and recording it is often shorter than that, so vkCreate*Pipelines waits for it, for
 * limits.creation_ms of each second at most; where that is 0 nothing is made ahead. Few drivers
 * make a pipeline in that time. So before the first frames, when nobody sees it, it waits for
 * limits.loading_ms in all besides.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/allowance.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pm_ahead {
    pthread_mutex_t lock;
    pthread_cond_t done;
    /* guarded by lock: */
    struct pm_allowance allowance; /* of waiting */
    double loading;                /* nanoseconds of waiting left before the first frames */
};

void pm_ahead_init(struct pm_ahead *ahead, uint32_t creation_ms, uint32_t loading_ms, int64_t now);
void pm_ahead_finish(struct pm_ahead *ahead);

/* Waits until pm_ahead_done has cleared the flag, or for as long as may be waited. loads: the
 * program has not drawn its first frames yet. */
void pm_ahead_wait(struct pm_ahead *ahead, const _Atomic bool *awaited, bool loads);

/* Whatever was awaited is over: clears the flag. */
void pm_ahead_done(struct pm_ahead *ahead, _Atomic bool *awaited);
