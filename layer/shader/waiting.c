#include "layer/shader/waiting.h"

void pm_waiting_init(struct pm_waiting *waiting)
{
    *waiting = (struct pm_waiting){.first = NULL};
    pthread_mutex_init(&waiting->lock, NULL);
}

void pm_waiting_finish(struct pm_waiting *waiting)
{
    for (struct pm_pipeline *pipeline; (pipeline = pm_waiting_take(waiting, true)) != NULL;)
        pm_pipeline_release(pipeline);
    pthread_mutex_destroy(&waiting->lock);
}

/* Under the lock. */
static void put(struct pm_waiting *waiting, struct pm_pipeline *pipeline, bool held)
{
    if (atomic_load(&pipeline->gone))
        return;
    if (pipeline->waits) {
        if (pipeline->held && !held) {
            pipeline->held = false;
            waiting->held--;
        }
        return;
    }
    pm_pipeline_reference(pipeline);
    pipeline->waits = true;
    pipeline->held = held;
    pipeline->previous_waiting = NULL;
    pipeline->next_waiting = waiting->first;
    if (waiting->first)
        waiting->first->previous_waiting = pipeline;
    waiting->first = pipeline;
    waiting->count++;
    waiting->held += held;
}

void pm_waiting_put(struct pm_waiting *waiting, struct pm_pipeline *pipeline, bool held)
{
    pthread_mutex_lock(&waiting->lock);
    put(waiting, pipeline, held);
    pthread_mutex_unlock(&waiting->lock);
}

bool pm_waiting_try_put(struct pm_waiting *waiting, struct pm_pipeline *pipeline)
{
    if (pthread_mutex_trylock(&waiting->lock) != 0)
        return false;
    put(waiting, pipeline, false);
    atomic_store(&pipeline->wish, PM_WISH_WAITING);
    pthread_mutex_unlock(&waiting->lock);
    return true;
}

/* Under the lock. */
static void unlink_one(struct pm_waiting *waiting, struct pm_pipeline *pipeline)
{
    if (pipeline->previous_waiting)
        pipeline->previous_waiting->next_waiting = pipeline->next_waiting;
    else
        waiting->first = pipeline->next_waiting;
    if (pipeline->next_waiting)
        pipeline->next_waiting->previous_waiting = pipeline->previous_waiting;
    pipeline->waits = false;
    waiting->count--;
    waiting->held -= pipeline->held;
}

struct pm_pipeline *pm_waiting_take(struct pm_waiting *waiting, bool room)
{
    struct pm_pipeline *hottest = NULL;
    uint32_t most = 0;
    pthread_mutex_lock(&waiting->lock);
    for (struct pm_pipeline *pipeline = waiting->first; pipeline;
         pipeline = pipeline->next_waiting) {
        const uint32_t heat = atomic_load_explicit(&pipeline->heat, memory_order_relaxed);
        if ((room || !pipeline->held) && (!hottest || heat >= most)) {
            hottest = pipeline;
            most = heat;
        }
    }
    if (hottest)
        unlink_one(waiting, hottest);
    pthread_mutex_unlock(&waiting->lock);
    return hottest;
}

bool pm_waiting_any(struct pm_waiting *waiting, bool room)
{
    pthread_mutex_lock(&waiting->lock);
    const bool any = waiting->count > (room ? 0 : waiting->held);
    pthread_mutex_unlock(&waiting->lock);
    return any;
}

void pm_waiting_remove(struct pm_waiting *waiting, struct pm_pipeline *pipeline)
{
    pthread_mutex_lock(&waiting->lock);
    const bool waits = pipeline->waits;
    if (waits)
        unlink_one(waiting, pipeline);
    pthread_mutex_unlock(&waiting->lock);
    if (waits)
        pm_pipeline_release(pipeline);
}
