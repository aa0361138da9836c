#include "layer/shader/ahead.h"

/* That are made of a shader, or as much longer as one takes where others have the processor. */
enum { PIPELINES = 8 };

/* Nanoseconds after which it is looked again whether what is awaited may begin. */
#define LOOK_AGAIN (2 * PM_MILLISECOND)

/* Nanoseconds after which a game that loads again is waited for again. */
#define LOADS_AGAIN (60 * PM_SECOND)

void pm_ahead_init(struct pm_ahead *ahead, uint32_t creation_ms, uint32_t loading_ms, uint64_t seed,
                   int64_t now)
{
    pthread_condattr_t attributes;
    *ahead = (struct pm_ahead){.allowance = pm_allowance_of(creation_ms, now),
                               .most_loading = loading_ms * 1e6,
                               .loading = loading_ms * 1e6,
                               .loading_at = now};
    pm_random_init(&ahead->random, pm_random_mix(seed)); /* not what others draw */
    ahead->further = pm_random_unit(&ahead->random);
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

bool pm_ahead_draw(struct pm_ahead *ahead, double chance, bool further)
{
    bool drawn;
    pthread_mutex_lock(&ahead->lock);
    if (further) {
        ahead->further += chance;
        drawn = ahead->further >= 1;
        ahead->further -= drawn;
    } else {
        drawn = pm_random_unit(&ahead->random) < chance;
    }
    pthread_mutex_unlock(&ahead->lock);
    return drawn;
}

/* Under the lock. */
static void fill_loading(struct pm_ahead *ahead, int64_t now)
{
    if (now - ahead->loading_at < LOADS_AGAIN)
        return;
    ahead->loading = ahead->most_loading;
    ahead->reserved = ahead->reserve;
    ahead->loading_at = now;
}

static bool may_run(struct pm_compiler *compiler, uint32_t advance_s)
{
    return compiler == NULL || pm_compiler_may_run(compiler, advance_s);
}

void pm_ahead_wait(struct pm_ahead *ahead, struct pm_compiler *compiler, uint32_t advance_s,
                   const _Atomic bool *awaited, bool loads)
{
    const int64_t start = pm_now();
    pthread_mutex_lock(&ahead->lock);
    pm_allowance_fill(&ahead->allowance, start);
    if (loads)
        fill_loading(ahead, start);
    const double spare =
        loads && ahead->loading > ahead->reserved ? ahead->loading - ahead->reserved : 0;
    const int64_t until = start + (int64_t)(spare > 0 ? spare : ahead->allowance.left);
    for (int64_t now = start; now < until && atomic_load(awaited) && may_run(compiler, advance_s);
         now = pm_now()) {
        const struct timespec time =
            pm_timespec(now + LOOK_AGAIN < until ? now + LOOK_AGAIN : until);
        pthread_cond_timedwait(&ahead->done, &ahead->lock, &time);
    }
    /* Who waits beside it has spent from the same: less than nothing may be left. */
    const double waited = (double)(pm_now() - start), of_loading = waited < spare ? waited : spare;
    ahead->loading -= of_loading;
    ahead->allowance.left -= waited - of_loading;
    pthread_mutex_unlock(&ahead->lock);
}

bool pm_ahead_loads(struct pm_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    fill_loading(ahead, pm_now());
    const bool left = ahead->loading > 0;
    pthread_mutex_unlock(&ahead->lock);
    return left;
}

void pm_ahead_reserve(struct pm_ahead *ahead, int64_t time)
{
    pthread_mutex_lock(&ahead->lock);
    const double wanted = PIPELINES * (double)time, most = ahead->most_loading / 2;
    ahead->reserve = ahead->reserved = wanted < most ? wanted : most;
    pthread_mutex_unlock(&ahead->lock);
}

bool pm_ahead_take(struct pm_ahead *ahead, int64_t time, bool worth)
{
    const double wanted = (double)time;
    pthread_mutex_lock(&ahead->lock);
    const bool taken = ahead->loading - wanted >= (worth ? 0 : ahead->most_loading / 2);
    if (taken) {
        ahead->loading -= wanted;
        if (worth)
            ahead->reserved = ahead->reserved > wanted ? ahead->reserved - wanted : 0;
    }
    pthread_mutex_unlock(&ahead->lock);
    return taken;
}

void pm_ahead_give_back(struct pm_ahead *ahead, int64_t time)
{
    pthread_mutex_lock(&ahead->lock);
    ahead->loading += (double)time;
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
