#include "aggregator_client/retry.h"
#include <errno.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

static const double first_wait = 0.25, longest_wait = 60; /* seconds */
enum { DEFAULT_SECONDS = 30 };

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

void pm_retry_init(struct pm_retry *retry, uint32_t seconds, uint32_t tries)
{
    uint64_t seed;
    if (!pm_random_system(&seed, sizeof(seed)))
        seed = (uint64_t)now();
    pm_random_init(&retry->random, seed);
    const int64_t began = now();
    retry->deadline = began + (int64_t)(seconds ? seconds : DEFAULT_SECONDS) * SECOND;
    retry->last = tries ? began + (int64_t)tries * SECOND : retry->deadline;
    retry->own = retry->last;
    retry->wait = first_wait;
}

uint32_t pm_retry_left(const struct pm_retry *retry)
{
    int64_t left = (retry->deadline - now()) / 1000000;
    return left <= 0 ? 0 : left < INT32_MAX ? (uint32_t)left : INT32_MAX;
}

bool pm_retry_sleep(struct pm_retry *retry, uint32_t least)
{
    double seconds = retry->wait * (0.5 + 0.5 * pm_random_unit(&retry->random));
    retry->wait = retry->wait * 2 < longest_wait ? retry->wait * 2 : longest_wait;
    /* Jitter on top of what was asked for, never below it. */
    if (seconds < least)
        seconds += least;
    int64_t until = now() + (int64_t)(seconds * (double)SECOND);
    if (until >= retry->deadline || until >= retry->own)
        return false;
    struct timespec time = {.tv_sec = until / SECOND, .tv_nsec = until % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
        ;
    return true;
}

void pm_retry_restart(struct pm_retry *retry)
{
    retry->wait = first_wait;
}

void pm_retry_share(struct pm_retry *retry, bool others)
{
    const int64_t at = now();
    retry->own = others && retry->last > at ? at + (retry->last - at) / 2 : retry->last;
}
