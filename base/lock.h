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

/* Waits for half a second at most, in which another thread is done with any file. By no clock that
 * somebody may set meanwhile: a game must not hang at its end. false: it is not locked. */
static inline bool pm_lock_soon(pthread_mutex_t *lock)
{
    for (int i = 0; pthread_mutex_trylock(lock) != 0; i++) {
        if (i == 500)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return true;
}
