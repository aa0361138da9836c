/*
 * The monotonic clock, which no one sets, the time of day, and the time that a thread used.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#define PM_SECOND INT64_C(1000000000)   /* nanoseconds */
#define PM_MILLISECOND INT64_C(1000000) /* likewise */

/* Nanoseconds, not negative, as functions of the C library take them. */
static inline struct timespec pm_timespec(int64_t nanoseconds)
{
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / PM_SECOND),
                             .tv_nsec = (long)(nanoseconds % PM_SECOND)};
}

/* Nanoseconds since some moment before the process began. */
static inline int64_t pm_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * PM_SECOND + time.tv_nsec;
}

/* Seconds since the epoch with their fraction, to a microsecond: what tells two moments of one
 * second apart, also in a file. */
static inline double pm_wall_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* pm_now in milliseconds. */
static inline double pm_now_ms(void)
{
    return (double)pm_now() * 1e-6;
}

/* Nanoseconds of a core that the calling thread has used. */
static inline int64_t pm_used_by_thread(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * PM_SECOND + time.tv_nsec;
}
