/* What has to be done now and then. */
#include "aggregator/aggregator_private.h"
#include "aggregator/intake/room.h"
#include "aggregator/statistics/ageing.h"

#include "base/clock.h"

#include <inttypes.h>
#include <time.h>

#define ROWS 500 /* of one transaction, so that uploads wait no longer than for another one */
#define SECONDS 1
#define PAUSE_NANOSECONDS 1000000 /* between transactions */
#define COUNT_SECONDS 60
#define REMEMBER_SECONDS 300 /* after which another process's changes to claims are seen */

/* A step of what is done in many. */
struct step {
    uint32_t today, first; /* days; first: that is kept */
    uint64_t rows;         /* that it was about */
    bool left;             /* more may be to do */
};

static bool prune_step(void *user, struct pm_storage *storage, struct pm_error *error)
{
    struct step *step = user;
    return storage->operations->prune(storage, step->first, ROWS, &step->rows, &step->left, error);
}

static bool settle_step(void *user, struct pm_storage *storage, struct pm_error *error)
{
    struct step *step = user;
    return storage->operations->settle_marks(storage, step->today, step->first, ROWS, &step->rows,
                                             &step->left, error);
}

/* After another step. Who waits for the mutex would hardly get it otherwise: it goes to whoever
 * runs when it is free. */
static bool may_go_on(const struct pm_aggregator *aggregator, int64_t end)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NANOSECONDS}, NULL);
    return pm_now() < end && !pm_world_is_interrupted(&aggregator->world);
}

/* Whatever the clock shows: the key that made the marks of another day is gone. */
static bool settle(struct pm_aggregator *aggregator, struct pm_error *error)
{
    const uint32_t today = pm_world_today(&aggregator->world);
    const uint32_t first = pm_ageing_first_day(today, aggregator->world.retention_days);
    const int64_t end = pm_now() + SECONDS * PM_SECOND;
    bool done = true;
    while (done && aggregator->settled_on != today && may_go_on(aggregator, end)) {
        struct step step = {.today = today, .first = first};
        done = pm_world_transact(&aggregator->world, PM_DURABLE, settle_step, &step, error);
        if (done && !step.left)
            aggregator->settled_on = today;
    }
    return done;
}

static bool count_step(void *user, struct pm_storage *storage, struct pm_error *error)
{
    struct pm_aggregator *aggregator = user;
    uint64_t unvouched;
    if (!pm_room_count(storage, aggregator->claims, &unvouched, error))
        return false;
    atomic_store(&aggregator->world.unvouched, unvouched);
    return true;
}

/* Who vouches for a game is only kept where there is a most of them. */
static bool count_unvouched(struct pm_aggregator *aggregator, int64_t now, struct pm_error *error)
{
    const int64_t since = aggregator->unvouched_since;
    if (aggregator->ingestion.limits.max_games == UINT32_MAX ||
        (since != 0 && now >= since && now - since < COUNT_SECONDS))
        return true;
    aggregator->unvouched_since = now;
    return pm_world_transact(&aggregator->world, PM_LAZY, count_step, aggregator, error);
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
        struct step step = {.today = today, .first = first};
        done = pm_world_transact(&aggregator->world, PM_DURABLE, prune_step, &step, error);
        if (done && !step.left)
            aggregator->pruned_on = today;
        *expired = *expired || (done && step.rows > 0);
        if (!done || step.rows == 0)
            continue;
        pthread_mutex_lock(&aggregator->world.write_mutex);
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
    const bool done =
        pm_claims_begin_epoch(aggregator->claims, pm_world_today(&aggregator->world), error);
    pm_sources_save(aggregator->sources);
    pthread_mutex_unlock(&aggregator->world.write_mutex);
    return done && pm_quarantine_write(&aggregator->quarantine, error) &&
           settle(aggregator, error) &&
           (!may_prune(aggregator) || prune(aggregator, expired, error)) &&
           count_unvouched(aggregator, now, error);
}
