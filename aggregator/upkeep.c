/* What has to be done now and then. */
#include "aggregator/aggregator_private.h"
#include "aggregator/statistics/ageing.h"

#include "base/clock.h"

#include <inttypes.h>
#include <time.h>

#define ROWS 500 /* of one transaction, so that uploads wait no longer than for another one */
#define SECONDS 1
#define REMEMBER_SECONDS 300 /* after which another process's changes to claims are seen */

static bool prune_once(struct pm_storage *storage, uint32_t first, uint64_t *deleted,
                       struct pm_error *error)
{
    if (!storage->operations->begin(storage, error))
        return false;
    if (storage->operations->prune(storage, first, ROWS, deleted, error))
        return storage->operations->commit(storage, error);
    storage->operations->rollback(storage);
    return false;
}

static bool may_go_on(const struct pm_aggregator *aggregator, int64_t end)
{
    return pm_now() < end && !pm_world_is_interrupted(&aggregator->world);
}

/* Whatever the clock shows: the key that made the marks of another day is gone. */
static bool blank(struct pm_aggregator *aggregator, struct pm_error *error)
{
    struct pm_storage *storage = aggregator->world.storage;
    const uint32_t today = pm_world_today(&aggregator->world);
    const int64_t end = pm_now() + SECONDS * PM_SECOND;
    bool done = true;
    while (done && aggregator->blanked_on != today && may_go_on(aggregator, end)) {
        uint64_t blanked = 0;
        pthread_mutex_lock(&aggregator->world.write_mutex);
        done = storage->operations->blank_marks(storage, today, ROWS, &blanked, error);
        if (done && blanked == 0)
            aggregator->blanked_on = today;
        pthread_mutex_unlock(&aggregator->world.write_mutex);
    }
    return done;
}

/* A clock that the caller gave is not doubted. */
static bool may_prune(struct pm_aggregator *aggregator)
{
    struct timespec boot;
    int64_t jump;
    if (aggregator->world.clock)
        return true;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    pthread_mutex_lock(&aggregator->world.write_mutex);
    const bool steady = pm_steady(&aggregator->steady, pm_world_now(&aggregator->world),
                                  (int64_t)boot.tv_sec, &jump);
    pthread_mutex_unlock(&aggregator->world.write_mutex);
    if (jump != 0)
        pm_log_warning(aggregator->world.log,
                       "the system's clock was set %s by %" PRId64 " seconds: uploads count for "
                       "the day that it shows; nothing that is beyond the retention is deleted "
                       "before it has gone evenly for %d hours. Check it (`timedatectl`)",
                       jump > 0 ? "forward" : "back", jump > 0 ? jump : -jump,
                       PM_STEADY_SECONDS / 3600);
    return steady;
}

/* Deletes until nothing is left or the time is over; uploads come in between. */
static bool prune(struct pm_aggregator *aggregator, bool *expired, struct pm_error *error)
{
    const uint32_t today = pm_world_today(&aggregator->world);
    const uint32_t first = pm_ageing_first_day(today, aggregator->world.retention_days);
    const int64_t end = pm_now() + SECONDS * PM_SECOND;
    bool done = true;
    while (done && aggregator->pruned_on != today && may_go_on(aggregator, end)) {
        uint64_t deleted = 0;
        pthread_mutex_lock(&aggregator->world.write_mutex);
        done = prune_once(aggregator->world.storage, first, &deleted, error);
        if (done && deleted == 0)
            aggregator->pruned_on = today;
        *expired = *expired || (done && deleted > 0);
        if (done && deleted > 0)
            pm_claims_forget(aggregator->claims);
        pthread_mutex_unlock(&aggregator->world.write_mutex);
    }
    return done;
}

bool pm_aggregator_upkeep(struct pm_aggregator *aggregator, bool *expired, struct pm_error *error)
{
    const int64_t now = pm_world_now(&aggregator->world);
    *expired = false;
    pthread_mutex_lock(&aggregator->world.write_mutex);
    if (now - aggregator->claims_since >= REMEMBER_SECONDS || now < aggregator->claims_since) {
        pm_claims_forget(aggregator->claims);
        aggregator->claims_since = now;
    }
    bool done =
        pm_claims_begin_epoch(aggregator->claims, pm_world_today(&aggregator->world), error) &&
        pm_quarantine_write(&aggregator->quarantine, error);
    pm_sources_save(aggregator->sources);
    pthread_mutex_unlock(&aggregator->world.write_mutex);
    return done && blank(aggregator, error) &&
           (!may_prune(aggregator) || prune(aggregator, expired, error));
}
