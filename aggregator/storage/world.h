/*
 * What every room above the storage works in: the storage with the lock that its writers take turns
 * by, the clock, the log, and whether somebody wants to stop.
 *
 * Thread safety: any thread, once it is filled; what is written to the storage, under write_mutex.
 */
#pragma once

#include "aggregator/storage/storage.h"
#include "base/log.h"
#include <pthread.h>
#include <stdatomic.h>

struct pm_world {
    struct pm_storage *storage; /* the world's */
    /* Held from begin to commit or rollback of the storage; of what says so too. */
    pthread_mutex_t write_mutex;
    struct pm_log *log;           /* the caller's; may be NULL */
    int64_t (*clock)(void *user); /* seconds since the epoch; NULL: the system's */
    void *clock_user;
    uint32_t retention_days; /* what is older is neither shown nor kept; 0: kept for ever */
    atomic_bool interrupted;
    atomic_int_fast64_t hurry; /* pm_now(): until when, interrupted, a conflict is tried again */
    /* Since the start: shaders of which the tokens of a day claimed different things. */
    atomic_uint_fast64_t disagreements;
    atomic_uint_fast64_t unvouched; /* games that may be evicted, when they were last counted */
};

/* Takes over the storage. What follows in the struct is the caller's to fill. */
void pm_world_init(struct pm_world *world, struct pm_storage *storage);
/* Closes the storage. */
void pm_world_finish(struct pm_world *world);

/* Seconds since the epoch. */
int64_t pm_world_now(const struct pm_world *world);
/* Days since the epoch, UTC. */
uint32_t pm_world_today(const struct pm_world *world);

/* While it is set, what takes long gives up soon, and whoever waits for another process that has
 * the storage locked, or tries again where another came between, does for two more seconds from now
 * on, all together. */
void pm_world_interrupt(struct pm_world *world, bool set);
bool pm_world_is_interrupted(const struct pm_world *world);
/* false: it is interrupted, with PM_ERROR_STATE. doing: "folding uploads in". */
bool pm_world_may_go_on(const struct pm_world *world, const char *doing, struct pm_error *error);

enum pm_durability {
    PM_DURABLE, /* when it is committed */
    PM_LAZY,    /* as soon as a later one is (struct pm_storage_operations, begin_lazily) */
};

/* Does the work in a transaction, under the write mutex, and does it again where another writer of
 * the storage came between, some times: it must not mind. false: nothing of it was kept. */
typedef bool (*pm_world_work)(void *user, struct pm_storage *storage, struct pm_error *error);
bool pm_world_transact(struct pm_world *world, enum pm_durability durability, pm_world_work work,
                       void *user, struct pm_error *error);

/* For who does it by itself: after a failure, may the same be tried again? Waits for a moment, the
 * longer the more tries there were; not under the write mutex. Begins with *tries of 0. After the
 * last the code is still PM_ERROR_CONFLICT: later it may succeed. Who is interrupted, and has no
 * time left, gets PM_ERROR_STATE. */
bool pm_world_again(struct pm_world *world, uint32_t *tries, struct pm_error *error);
