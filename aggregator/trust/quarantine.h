/*
 * Uploads that cannot be. They wait in memory until the next upkeep writes them: whoever sends
 * nothing but such uploads must not make the service write.
 *
 * Thread safety: any thread, but where a function says that it is under the world's write mutex.
 */
#pragma once

#include "aggregator/storage/world.h"

#define PM_QUARANTINE_WAITING 64 /* entries; of more at once the latest are kept */

/* One that waits to be written; all of it is malloc'ed. */
struct pm_quarantine_entry {
    int64_t time; /* seconds since the epoch, to the hour */
    char *game, *reason;
    void *body;
    size_t body_size;
};

struct pm_quarantine {
    struct pm_world *world;
    pthread_mutex_t mutex;                                     /* of what follows */
    struct pm_quarantine_entry entries[PM_QUARANTINE_WAITING]; /* the oldest first */
    size_t count;
};

/* The world stays the caller's and lives longer. */
void pm_quarantine_init(struct pm_quarantine *quarantine, struct pm_world *world);
/* What was not written is lost. */
void pm_quarantine_finish(struct pm_quarantine *quarantine);

/* Puts an upload aside: as pm_aggregator_quarantine_add. */
void pm_quarantine_add(struct pm_quarantine *quarantine, const char *game, const char *reason,
                       const void *body, size_t body_size);
/* The same of a profile, without its upload's id. */
void pm_quarantine_add_profile(struct pm_quarantine *quarantine, const struct pm_profile *profile,
                               const char *reason);
/* Keeps data, compressed, at once: in a transaction, under the write mutex. */
bool pm_quarantine_set_aside(struct pm_quarantine *quarantine, const char *game, const char *reason,
                             const void *data, size_t size, struct pm_error *error);

/* Writes what waits, under the write mutex. What cannot be written goes on waiting. */
bool pm_quarantine_write(struct pm_quarantine *quarantine, struct pm_error *error);
/* Shows what waits and what is written: as pm_aggregator_quarantine. */
bool pm_quarantine_show(struct pm_quarantine *quarantine, const char *game,
                        pm_visit_quarantined visit, void *user, struct pm_error *error);
