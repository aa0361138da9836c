#include "layer/shader/ahead.h"

#include "base/clock.h"

void pm_ahead_init(struct pm_ahead *ahead, uint32_t creation_ms, int64_t now)
{
    pthread_condattr_t attributes;
    *ahead = (struct pm_ahead){
        .per_nanosecond = creation_ms / 1000.0,
        .left = creation_ms * 1e6,
        .filled_at = now,
    };
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&ahead->done, &attributes);
    pthread_condattr_destroy(&attributes);
}

void pm_ahead_finish(struct pm_ahead *ahead)
{
    pthread_cond_destroy(&ahead->done);
    pthread_mutex_destroy(&ahead->lock);
}

/* Under the lock. */
static void fill(struct pm_ahead *ahead, int64_t now)
{
    const double most = ahead->per_nanosecond * PM_SECOND;
    ahead->left += (double)(now - ahead->filled_at) * ahead->per_nanosecond;
    if (ahead->left > most)
        ahead->left = most;
    ahead->filled_at = now;
}

void pm_ahead_wait(struct pm_ahead *ahead, const _Atomic bool *awaited)
{
    const int64_t start = pm_now();
    pthread_mutex_lock(&ahead->lock);
    fill(ahead, start);
    const int64_t until = start + (int64_t)ahead->left;
    const struct timespec time = {until / PM_SECOND, until % PM_SECOND};
    int result = until > start ? 0 : -1;
    while (result == 0 && atomic_load(awaited))
        result = pthread_cond_timedwait(&ahead->done, &ahead->lock, &time);
    /* Who waits beside it has spent from the same: less than nothing may be left. */
    ahead->left -= (double)(pm_now() - start);
    pthread_mutex_unlock(&ahead->lock);
}

void pm_ahead_done(struct pm_ahead *ahead, _Atomic bool *awaited)
{
    if (!atomic_load(awaited))
        return;
    pthread_mutex_lock(&ahead->lock);
    atomic_store(awaited, false);
    pthread_cond_broadcast(&ahead->done);
    pthread_mutex_unlock(&ahead->lock);
}
