#include "aggregator/intake/rehearse.h"

#include "base/random.h"

static bool rehearse_once(struct pm_world *world, struct pm_error *error)
{
    struct pm_storage *storage = world->storage;
    const struct pm_storage_operations *operations = storage->operations;
    uint8_t id[PM_UPLOAD_ID_BYTES]; /* nobody's: taking it back must not take back another's */
    struct pm_storage_upload upload = {.game = "", .id = id, .taken = pm_world_today(world)};
    if (!pm_random_system(id, sizeof(id)))
        return pm_fail(error, PM_ERROR_IO, "the system gives no random numbers");
    if (!operations->begin_uploads(storage, &upload, 1, error))
        return false;
    const bool done = operations->return_uploads(storage, &upload, 1, error);
    return pm_storage_end(storage, done, error);
}

bool pm_rehearse(struct pm_world *world, struct pm_error *error)
{
    struct pm_error reason = {0};
    uint32_t tries = 0;
    bool done;
    do {
        pthread_mutex_lock(&world->write_mutex);
        done = rehearse_once(world, &reason);
        pthread_mutex_unlock(&world->write_mutex);
    } while (!done && pm_world_again(world, &tries, &reason));
    if (!done && error)
        *error = reason;
    return done;
}
