#include "aggregator/intake/fold_day.h"

#include "aggregator/intake/day_sum.h"

/* Of what the samples that are looked at together become, in bytes. */
#define ENCODED_CAP ((size_t)2 << 30)

struct folding {
    const struct pm_fold_place *place;
    struct pm_day_sum *sum;
    bool at_once; /* what is summed is written class by class: all of it is too much to keep */
    bool careful; /* then: each row is looked at as a whole */
    bool again;
    uint64_t disagreements;
};

static bool fold(struct folding *folding, struct pm_error *error)
{
    const struct pm_fold_place *place = folding->place;
    struct pm_day_sum *sum = folding->sum;
    struct pm_storage *storage = place->world->storage;
    uint64_t deleted;
    if (!(folding->at_once
              ? pm_day_sum_write(sum, place, folding->careful, &folding->disagreements, error)
              : pm_deltas_write(place->world, &sum->deltas, &folding->disagreements, error)))
        return false;
    const size_t rows = sum->rows.size / sizeof(uint64_t);
    if (!pm_damaged_set_aside(&sum->damaged, place->quarantine, error) ||
        !storage->operations->delete_samples(storage, place->game, place->part,
                                             (const uint64_t *)(const void *)sum->rows.data, rows,
                                             &deleted, error))
        return false;
    folding->again = deleted != rows;
    return true;
}

/* Lazily: until it is durable, so is that the samples wait. */
static bool commit(struct folding *folding, struct pm_error *error)
{
    struct pm_world *world = folding->place->world;
    struct pm_storage *storage = world->storage;
    pthread_mutex_lock(&world->write_mutex);
    bool done =
        pm_storage_begin_piece(storage, folding->place->game, (int)folding->place->part, error);
    if (done) {
        done = fold(folding, error);
        if (done && !folding->again)
            done = storage->operations->commit(storage, error);
        else
            storage->operations->rollback(storage);
    }
    pthread_mutex_unlock(&world->write_mutex);
    if (done && !folding->again)
        atomic_fetch_add(&world->disagreements, folding->disagreements);
    return done;
}

/* Sums first, so that uploads go on meanwhile, and where that is too much, while it writes. */
static bool sum_and_commit(struct folding *folding, struct pm_error *error)
{
    struct pm_day_sum *sum = folding->sum;
    struct pm_error reason = {0};
    if (pm_day_sum_read(sum, folding->place, NULL, &reason))
        return sum->rows.size == 0 || commit(folding, error);
    if (reason.code == PM_ERROR_MEMORY) {
        folding->at_once = true;
        pm_day_sum_begin_again(sum, ENCODED_CAP);
        return commit(folding, error);
    }
    if (error)
        *error = reason;
    return false;
}

bool pm_fold_day(const struct pm_fold_place *place, struct pm_fold_tries *tries,
                 struct pm_error *error)
{
    struct pm_day_sum sum;
    struct folding folding = {.place = place, .sum = &sum, .careful = tries->careful};
    struct pm_error reason = {0};
    pm_day_sum_init(&sum, place->sum_bytes);
    bool done = sum_and_commit(&folding, &reason);
    tries->again = done && folding.again;
    if (done && !tries->again)
        pm_damaged_log(&sum.damaged, place->world->log);
    else if (!done && pm_world_again(place->world, &tries->conflicts, &reason))
        done = tries->again = true; /* whoever came between may have folded the same rows */
    else if (!done && folding.at_once && reason.code == PM_ERROR_INPUT && !tries->careful)
        done = tries->again = tries->careful = true;
    else if (!done && error)
        *error = reason;
    pm_day_sum_finish(&sum);
    return done;
}
