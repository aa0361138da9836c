/*
 * About how many distinct tokens have uploaded today (UTC), since the service began at the
 * earliest: a bit for each, by a keyed hash, so that no token can be told from it (linear counting;
 * within a few percent up to some hundred thousand).
 *
 * Thread safety: any thread.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define PM_TALLY_BITS (1u << 17)

struct pm_tally {
    pthread_mutex_t mutex;
    uint64_t secret;
    int64_t day;
    uint32_t set; /* bits */
    uint8_t bits[PM_TALLY_BITS / 8];
};

void pm_tally_init(struct pm_tally *tally);
void pm_tally_finish(struct pm_tally *tally);
/* day: since the epoch. */
void pm_tally_add(struct pm_tally *tally, const void *name, size_t size, int64_t day);
uint64_t pm_tally_count(struct pm_tally *tally, int64_t day);
