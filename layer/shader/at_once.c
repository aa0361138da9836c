#include "layer/shader/at_once.h"

void pm_at_once_init(struct pm_at_once *at_once, uint32_t ms_per_pipeline, uint32_t ms_per_second,
                     struct pm_ahead *ahead, int64_t now)
{
    *at_once = (struct pm_at_once){
        .most = ms_per_pipeline * INT64_C(1000000),
        .ahead = ahead,
        .allowance = pm_allowance_of(ms_per_second, now),
    };
    pthread_mutex_init(&at_once->lock, NULL);
}

void pm_at_once_finish(struct pm_at_once *at_once)
{
    pthread_mutex_destroy(&at_once->lock);
}

int64_t pm_at_once_wait(struct pm_at_once *at_once, int64_t waited, bool loads)
{
    pthread_mutex_lock(&at_once->lock);
    at_once->waits[at_once->wait_count++ % PM_WAITS_KNOWN] = waited;
    for (uint32_t i = 0; loads && i < at_once->wait_count && i < PM_WAITS_KNOWN; i++)
        waited = at_once->waits[i] < waited ? at_once->waits[i] : waited;
    pthread_mutex_unlock(&at_once->lock);
    return waited;
}

struct pm_grant pm_at_once_begin(struct pm_at_once *at_once, bool loads, int64_t now)
{
    struct pm_grant grant = {
        .start = now,
        .loads = loads && at_once->allowance.per_nanosecond > 0 && pm_ahead_loads(at_once->ahead),
    };
    pthread_mutex_lock(&at_once->lock);
    pm_allowance_fill(&at_once->allowance, now);
    const int64_t left = (int64_t)at_once->allowance.left;
    grant.granted = left > at_once->most ? at_once->most : left > 0 ? left : 0;
    at_once->allowance.left -= (double)grant.granted;
    pthread_mutex_unlock(&at_once->lock);
    return grant;
}

bool pm_grant_any(const struct pm_grant *grant)
{
    return grant->granted > 0 || grant->loads;
}

bool pm_at_once_fits(struct pm_at_once *at_once, struct pm_grant *grant, int64_t takes, bool worth,
                     int64_t now)
{
    const int64_t lacks = now - grant->start + takes - grant->granted - grant->loading;
    if (lacks <= 0)
        return true;
    if (!grant->loads || !pm_ahead_take(at_once->ahead, lacks, worth))
        return false;
    grant->loading += lacks;
    return true;
}

/* So many times what was said is far longer: a busy machine interrupts threads, too. */
enum { FAR_LONGER = 4 };

int64_t pm_at_once_took(const struct pm_grant *grant, int64_t takes, int64_t waits, int64_t worked,
                        int64_t really)
{
    const bool far = really > FAR_LONGER * (takes + waits) && really > grant->granted;
    return far && really - waits > worked ? really - waits : worked;
}

void pm_at_once_end(struct pm_at_once *at_once, const struct pm_grant *grant, int64_t now)
{
    const int64_t left = grant->granted - (now - grant->start);
    const int64_t of_loading = grant->loads && left < 0 ? left : 0;
    pthread_mutex_lock(&at_once->lock);
    at_once->allowance.left += (double)(left - of_loading);
    pthread_mutex_unlock(&at_once->lock);
    if (grant->loads)
        pm_ahead_give_back(at_once->ahead, grant->loading + of_loading);
}
