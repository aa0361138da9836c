/*
 * Waiting for what another thread or process does: for the event, never for a time, since nobody
 * knows how fast the machine is or what else it does.
 *
 *     uint64_t until = 0;
 *     while (!it_happened() && patience(&until))
 *         ;
 *     assert_true(it_happened());
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* More than anything takes, also for a thread of the lowest priority on a machine that does ten
 * other things; only what never happens takes as long. */
#define PATIENCE_SECONDS 300

/* Sleeps for a millisecond. false: patience is at its end. */
static inline bool patience(uint64_t *until)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    const uint64_t now = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    if (*until == 0)
        *until = now + PATIENCE_SECONDS * UINT64_C(1000000000);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return now < *until;
}
