#include "aggregator/storage/world.h"

#include "base/clock.h"
#include "base/random.h"
#include <time.h>

#define SECONDS_A_DAY 86400
#define HURRY_SECONDS 2
#define TRIES 12
#define FIRST_WAIT_NS 500000 /* twice as long each time, up to a second */

void pm_world_init(struct pm_world *world, struct pm_storage *storage)
{
    *world = (struct pm_world){.storage = storage};
    pthread_mutex_init(&world->write_mutex, NULL);
}

void pm_world_finish(struct pm_world *world)
{
    world->storage->operations->destroy(world->storage);
    pthread_mutex_destroy(&world->write_mutex);
}

int64_t pm_world_now(const struct pm_world *world)
{
    return world->clock ? world->clock(world->clock_user) : (int64_t)time(NULL);
}

uint32_t pm_world_today(const struct pm_world *world)
{
    const int64_t now = pm_world_now(world);
    return now < 0 ? 0 : (uint32_t)(now / SECONDS_A_DAY);
}

void pm_world_interrupt(struct pm_world *world, bool set)
{
    struct pm_storage *storage = world->storage;
    const int64_t until = set ? pm_now() + HURRY_SECONDS * PM_SECOND : INT64_MAX;
    atomic_store(&world->hurry, until);
    atomic_store(&world->interrupted, set);
    storage->operations->hurry(storage, until);
}

bool pm_world_is_interrupted(const struct pm_world *world)
{
    return atomic_load(&world->interrupted);
}

bool pm_world_may_go_on(const struct pm_world *world, const char *doing, struct pm_error *error)
{
    return !pm_world_is_interrupted(world) ||
           pm_fail(error, PM_ERROR_STATE, "interrupted %s", doing);
}

/* ---- transactions ---- */

bool pm_world_again(struct pm_world *world, uint32_t *tries, struct pm_error *error)
{
    uint64_t number = 0;
    if (error->code != PM_ERROR_CONFLICT)
        return false;
    const bool last = ++*tries == TRIES;
    if (pm_world_is_interrupted(world) && (last || pm_now() >= atomic_load(&world->hurry)))
        error->code = PM_ERROR_STATE;
    if (last || error->code != PM_ERROR_CONFLICT)
        return false;
    /* Those that met wait for different times. */
    pm_random_system(&number, sizeof(number));
    const int64_t longest = (int64_t)FIRST_WAIT_NS << *tries;
    const int64_t wait = longest / 2 + (int64_t)(number % (uint64_t)(longest / 2));
    nanosleep(&(struct timespec){wait / PM_SECOND, wait % PM_SECOND}, NULL);
    return true;
}

static bool transact(struct pm_world *world, enum pm_durability durability, pm_world_work work,
                     void *user, struct pm_error *error)
{
    struct pm_storage *storage = world->storage;
    pthread_mutex_lock(&world->write_mutex);
    bool done = durability == PM_LAZY ? storage->operations->begin_lazily(storage, error)
                                      : storage->operations->begin(storage, error);
    done = done && pm_storage_end(storage, work(user, storage, error), error);
    pthread_mutex_unlock(&world->write_mutex);
    return done;
}

bool pm_world_transact(struct pm_world *world, enum pm_durability durability, pm_world_work work,
                       void *user, struct pm_error *error)
{
    struct pm_error reason = {0};
    uint32_t tries = 0;
    while (!transact(world, durability, work, user, &reason)) {
        if (pm_world_again(world, &tries, &reason))
            continue;
        if (error)
            *error = reason;
        return false;
    }
    return true;
}
