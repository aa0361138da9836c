/* What the files of the aggregator library share. */
#pragma once

#include "aggregator/aggregator.h"
#include "aggregator/intake/samples.h"
#include "aggregator/statistics/statistics.h"
#include "aggregator/statistics/steady.h"
#include "aggregator/trust/claims.h"
#include "aggregator/trust/sources.h"
#include <pthread.h>
#include <stdatomic.h>

/* Quarantined uploads that wait to be written (quarantine.c). */
#define PM_WAITING 64

struct pm_waiting_entry {
    int64_t time;
    char *game, *reason;
    void *body;
    size_t body_size;
};

struct pm_waiting {
    pthread_mutex_t mutex;
    struct pm_waiting_entry entries[PM_WAITING]; /* the oldest first */
    size_t count;
};

struct pm_aggregator {
    struct pm_storage *storage;
    struct pm_log *log;
    bool publish_all;
    double half_width_absolute, half_width_relative;
    uint32_t sessions_for_never, pairs_for_timing;
    uint32_t scenes;
    uint32_t max_games, max_scenes; /* UINT32_MAX: any */
    /* Under write_mutex: the day on which it was logged that there is no room for more. */
    uint32_t told_games, told_scenes;
    size_t database_bytes; /* for the shaders of a database: some are kept for its head */
    uint32_t half_life_days, retention_days, token_clusters, min_tokens;
    int64_t (*clock)(void *user);
    void *clock_user;
    struct pm_waiting waiting;
    uint64_t samples_limit;     /* bytes that may wait; 0: by what the storage takes */
    pthread_mutex_t fold_mutex; /* held while samples are folded; taken before write_mutex */
    size_t fold_bytes;          /* of memory for sums before they are written; one row may need more */
    atomic_uint_fast64_t samples_bytes; /* that wait, as far as this process knows */
    atomic_uint_fast64_t stuck_bytes;   /* of these: in parts that could not be folded last time */
    uint32_t stuck_parts;               /* under fold_mutex */
    atomic_bool interrupted;
    pthread_mutex_t publish_mutex;      /* held while a body is published; before write_mutex */
    pthread_mutex_t write_mutex; /* held from begin to commit or rollback of the storage; of what
                                    follows too */
    struct pm_sources *sources;
    struct pm_claims *claims;
    uint32_t epoch;       /* of `claims` */
    int64_t claims_since; /* seconds: when `claims` last began to remember */
    struct pm_steady steady;
    uint32_t pruned_on;  /* the day on which nothing was left to prune */
    uint32_t blanked_on; /* the day on which no marks of other days were left */
};

int64_t pm_aggregator_now(const struct pm_aggregator *aggregator);
/* Days since the epoch, UTC. */
uint32_t pm_aggregator_today(const struct pm_aggregator *aggregator);

/* ---- upkeep.c ---- */

/* Makes the day the running epoch, under the write mutex. */
bool pm_aggregator_begin_epoch(struct pm_aggregator *aggregator, uint32_t day,
                               struct pm_error *error);

/* ---- quarantine.c ---- */

void pm_quarantine_add_profile(struct pm_aggregator *aggregator, const struct pm_profile *profile,
                               const char *reason);
/* Writes what waits, under the write mutex. */
bool pm_quarantine_write(struct pm_aggregator *aggregator, struct pm_error *error);
void pm_quarantine_finish(struct pm_waiting *waiting);
/* Keeps data, compressed, at once: in a transaction, under the write mutex. */
bool pm_quarantine_set_aside(struct pm_aggregator *aggregator, const char *game, const char *reason,
                             const void *data, size_t size, struct pm_error *error);

/* ---- ingest_prepare.c ---- */

/* A profile as it is put down. */
struct pm_prepared {
    const struct pm_profile *profile;
    struct pm_buffer samples;     /* of one part behind those of the part before */
    size_t ends[PM_SAMPLE_PARTS]; /* where in it */
};

/* Names the shader. */
bool pm_ingest_fail_shader(struct pm_error *error, const struct pm_shader_key *key);

/* ---- forget.c ---- */

/* Takes a shader's samples out of what waits: in a transaction, under the write mutex, before
 * anything else of it changes samples. */
bool pm_fold_forget(struct pm_aggregator *aggregator, const char *game,
                    const struct pm_shader_key *key, struct pm_error *error);

/* ---- fold.c ---- */

/* Counts what waits from before. fold_bytes: as in struct pm_aggregator_info. */
bool pm_fold_init(struct pm_aggregator *aggregator, size_t fold_bytes, struct pm_error *error);

/* Before more is added: waits while twice as much waits as may, and folds where nobody else does. A
 * part that cannot be folded holds nobody up; false: the storage failed. */
bool pm_fold_make_room(struct pm_aggregator *aggregator, struct pm_error *error);
