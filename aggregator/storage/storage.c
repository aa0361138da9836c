#include "aggregator/storage/storage.h"

#include "base/random.h"

bool pm_storage_end(struct pm_storage *storage, bool done, struct pm_error *error)
{
    if (done)
        return storage->operations->commit(storage, error);
    storage->operations->rollback(storage);
    return false;
}

bool pm_storage_note_change(struct pm_storage *storage, const char *game, struct pm_error *error)
{
    uint8_t origin[16];
    return (pm_random_system(origin, sizeof(origin)) ||
            pm_fail(error, PM_ERROR_IO, "the system gives no random numbers")) &&
           storage->operations->add_origin(storage, game, origin, sizeof(origin), error);
}

/* ---- leases ---- */

bool pm_storage_take_lease(struct pm_storage *storage, const char *game, int piece, bool *taken,
                           struct pm_error *error)
{
    *taken = true;
    return !storage->operations->take_lease ||
           storage->operations->take_lease(storage, game, piece, taken, error);
}

void pm_storage_drop_lease(struct pm_storage *storage, const char *game, int piece)
{
    if (storage->operations->drop_lease)
        storage->operations->drop_lease(storage, game, piece);
}

bool pm_storage_begin_piece(struct pm_storage *storage, const char *game, int piece,
                            struct pm_error *error)
{
    return storage->operations->begin_piece
               ? storage->operations->begin_piece(storage, game, piece, error)
               : storage->operations->begin_lazily(storage, error);
}

/* ---- sets of one ---- */

bool pm_storage_find_space(struct pm_storage *storage, const char *game,
                           const struct pm_shader_key *key, enum pm_kind kind, uint32_t *space,
                           struct pm_error *error)
{
    struct pm_storage_space one = {.game = game, .key = *key, .kind = kind};
    const bool done = storage->operations->find_spaces(storage, &one, 1, error);
    *space = one.space;
    return done;
}

bool pm_storage_put_space(struct pm_storage *storage, const char *game,
                          const struct pm_shader_key *key, enum pm_kind kind, uint32_t space,
                          struct pm_error *error)
{
    const struct pm_storage_space one = {.game = game, .key = *key, .kind = kind, .space = space};
    return storage->operations->put_spaces(storage, &one, 1, error);
}

bool pm_storage_add_blob(struct pm_storage *storage, const struct pm_storage_key *key,
                         const void *blob, size_t size, struct pm_error *error)
{
    const struct pm_storage_blob one = {*key, blob, size};
    return storage->operations->add_blobs(storage, &one, 1, error);
}

bool pm_storage_add_game(struct pm_storage *storage, const char *game, uint64_t uploads,
                         struct pm_error *error)
{
    const struct pm_storage_game one = {game, uploads};
    return storage->operations->add_games(storage, &one, 1, error);
}

bool pm_storage_find_scene(struct pm_storage *storage, const char *game, const char *scene,
                           bool *known, struct pm_error *error)
{
    struct pm_storage_scene one = {.game = game, .name = scene};
    const bool done = storage->operations->find_scenes(storage, &one, 1, error);
    *known = one.known;
    return done;
}
