#include "layer/shader/at_once.h"

void pm_at_once_init(struct pm_at_once *at_once, uint32_t ms_per_pipeline, uint32_t ms_per_second,
                     int64_t now)
{
    *at_once = (struct pm_at_once){
        .most = ms_per_pipeline * INT64_C(1000000),
        .allowance = pm_allowance_of(ms_per_second, now),
    };
    pthread_mutex_init(&at_once->lock, NULL);
}

void pm_at_once_finish(struct pm_at_once *at_once)
{
    pthread_mutex_destroy(&at_once->lock);
}

int64_t pm_at_once_begin(struct pm_at_once *at_once, int64_t now)
{
    pthread_mutex_lock(&at_once->lock);
    pm_allowance_fill(&at_once->allowance, now);
    const int64_t left = (int64_t)at_once->allowance.left;
    const int64_t granted = left > at_once->most ? at_once->most : left > 0 ? left : 0;
    at_once->allowance.left -= (double)granted;
    pthread_mutex_unlock(&at_once->lock);
    return granted;
}

void pm_at_once_end(struct pm_at_once *at_once, int64_t granted, int64_t spent)
{
    pthread_mutex_lock(&at_once->lock);
    at_once->allowance.left += (double)(granted - spent);
    pthread_mutex_unlock(&at_once->lock);
}
