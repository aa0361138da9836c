/*
 * So many milliseconds of each second, a second's worth of them at most at once.
 *
 * Thread safety: the owner's lock.
 */
#pragma once

#include "base/clock.h"

struct pm_allowance {
    double per_nanosecond; /* for each that passes */
    double left;           /* nanoseconds */
    int64_t filled_at;     /* pm_now() */
};

static inline struct pm_allowance pm_allowance_of(uint32_t ms_per_second, int64_t now)
{
    return (struct pm_allowance){
        .per_nanosecond = ms_per_second / 1000.0,
        .left = ms_per_second * 1e6,
        .filled_at = now,
    };
}

/* Adds what came since it was last called. */
static inline void pm_allowance_fill(struct pm_allowance *allowance, int64_t now)
{
    const double most = allowance->per_nanosecond * PM_SECOND;
    allowance->left += (double)(now - allowance->filled_at) * allowance->per_nanosecond;
    if (allowance->left > most)
        allowance->left = most;
    allowance->filled_at = now;
}
