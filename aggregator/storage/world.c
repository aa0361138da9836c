#include "aggregator/storage/world.h"

#include "base/clock.h"
#include <time.h>

#define SECONDS_A_DAY 86400
#define HURRY_SECONDS 2

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
    atomic_store(&world->interrupted, set);
    storage->operations->hurry(storage, set ? pm_now() + HURRY_SECONDS * PM_SECOND : INT64_MAX);
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
