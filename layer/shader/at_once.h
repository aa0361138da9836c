/*
 * How long vkCreate*Pipelines may take for proven variants that it makes at once
 * (limits.proven_ms_per_pipeline, limits.proven_ms_per_second), so that recordings which the game
 * makes a moment later and keeps bind them.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/allowance.h"
#include <pthread.h>

struct pm_at_once {
    int64_t most; /* nanoseconds of one pipeline */
    pthread_mutex_t lock;
    struct pm_allowance allowance; /* under the lock */
};

void pm_at_once_init(struct pm_at_once *at_once, uint32_t ms_per_pipeline, uint32_t ms_per_second,
                     int64_t now);
void pm_at_once_finish(struct pm_at_once *at_once);

/* Takes as many nanoseconds as there may be for a pipeline; 0: none. */
int64_t pm_at_once_begin(struct pm_at_once *at_once, int64_t now);
/* Of these so many were spent. */
void pm_at_once_end(struct pm_at_once *at_once, int64_t granted, int64_t spent);
