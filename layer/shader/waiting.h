/*
 * Pipelines that wait for their specialized variant (optimize.h), the most often bound first. One
 * for which there was no room, limits.variants being reached, is held until there is.
 *
 * Thread safety: any thread. Putting and removing take a few instructions, taking looks at all that
 * wait.
 */
#pragma once

#include "layer/shader/pipeline.h"

struct pm_waiting {
    pthread_mutex_t lock;
    /* guarded by lock: */
    struct pm_pipeline *first; /* newest first */
    uint32_t count, held;      /* held: of them */
};

void pm_waiting_init(struct pm_waiting *waiting);
/* Lets go of what waits. */
void pm_waiting_finish(struct pm_waiting *waiting);

/* Takes a reference of its own. One that waits already is held only if it is both times; one that
 * the game has destroyed is not put. */
void pm_waiting_put(struct pm_waiting *waiting, struct pm_pipeline *pipeline, bool held);

/* The same of one that is not held, from a bind that has told so (PM_WISH_TOLD): it has the wish
 * PM_WISH_WAITING before anyone can take it. false: somebody looks at all that wait, who may be of
 * the lowest priority; it was not put. */
bool pm_waiting_try_put(struct pm_waiting *waiting, struct pm_pipeline *pipeline);

/* The next one, whose reference becomes the caller's; room: those that are held too. NULL: none. */
struct pm_pipeline *pm_waiting_take(struct pm_waiting *waiting, bool room);

/* Whether there is one to take. */
bool pm_waiting_any(struct pm_waiting *waiting, bool room);

/* The game has destroyed the pipeline (`gone` is set): it waits no more. */
void pm_waiting_remove(struct pm_waiting *waiting, struct pm_pipeline *pipeline);
