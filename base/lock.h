/*
 * A lock for who may be the very thread that holds it: a process that exits inside a signal's
 * handler, in the middle of whatever the thread was doing.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* Waits for half a second at most, in which another thread is done with any file. false: it is not
 * locked. */
static inline bool pm_lock_soon(pthread_mutex_t *lock)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 500000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return pthread_mutex_timedlock(lock, &until) == 0;
}
