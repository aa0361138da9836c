/* The SQLite storage: transactions, and what uploads and their sums need written. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include "aggregator/storage/seal.h"
#include <stdlib.h>
#include <string.h>

static bool run_plain(struct pm_sqlite *sqlite, enum pm_sqlite_statement which,
                      struct pm_error *error)
{
    sqlite3_stmt *statement = pm_sqlite_prepared(sqlite, which, error);
    return statement && pm_sqlite_run(sqlite, statement, SQLITE_OK, NULL, error);
}

void pm_sqlite_rollback(struct pm_storage *storage)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    /* A failure may have ended the transaction already. */
    if (!sqlite3_get_autocommit(sqlite->writer))
        run_plain(sqlite, PM_SQLITE_ROLLBACK, NULL);
    pm_spaces_forget(&sqlite->spaces);
    /* What the log still holds of earlier transactions would fill the disk until one succeeds,
     * which none may. */
    if (sqlite->full)
        pm_sqlite_log_shrink(sqlite);
    sqlite->full = false;
    sqlite->dropped = false;
}

/* durable: whether the commit waits for the disk. The log is written in order, so what is
 * synchronized later takes with it what was written before. */
static bool begin_as(struct pm_sqlite *sqlite, bool durable, struct pm_error *error)
{
    int64_t version = 0;
    if (sqlite->lazy == durable &&
        sqlite3_exec(sqlite->writer,
                     durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", NULL,
                     NULL, NULL) != SQLITE_OK)
        return pm_sqlite_fail(sqlite->path, sqlite->writer, "cannot begin a transaction", error);
    sqlite->lazy = !durable;
    sqlite3_stmt *statement = pm_sqlite_prepared(sqlite, PM_SQLITE_DATA_VERSION, error);
    if (!statement || !run_plain(sqlite, PM_SQLITE_BEGIN, error))
        return false;
    if (!pm_sqlite_run(sqlite, statement, SQLITE_OK, &version, error)) {
        pm_sqlite_rollback(&sqlite->storage);
        return false;
    }
    /* Another process wrote: it may have deleted what is remembered. */
    if (version != sqlite->data_version)
        pm_spaces_forget(&sqlite->spaces);
    sqlite->data_version = version;
    return true;
}

bool pm_sqlite_begin(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_sqlite *)storage, true, error);
}

bool pm_sqlite_begin_lazily(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_sqlite *)storage, false, error);
}

bool pm_sqlite_commit(struct pm_storage *storage, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    if (!run_plain(sqlite, PM_SQLITE_COMMIT, error)) {
        pm_sqlite_rollback(storage);
        return false;
    }
    if (sqlite->dropped)
        pm_sqlite_log_empty(sqlite);
    sqlite->dropped = false;
    return true;
}

/* ---- uploads ---- */

static bool change_cap(struct pm_sqlite *sqlite, enum pm_sqlite_statement which, uint32_t day,
                       const uint8_t mark[static PM_CAP_BYTES], uint32_t most, bool *changed,
                       struct pm_error *error)
{
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, which, error);
    if (!s || !pm_sqlite_run(sqlite, s,
                             PM_SQLITE_BOUND(pm_sqlite_bind_count(s, 1, day),
                                             pm_sqlite_bind_blob(s, 2, mark, PM_CAP_BYTES),
                                             which == PM_SQLITE_RAISE_CAP
                                                 ? pm_sqlite_bind_count(s, 3, most)
                                                 : SQLITE_OK),
                             NULL, error))
        return false;
    *changed = sqlite3_changes(sqlite->writer) > 0;
    return true;
}

static bool count_upload(struct pm_sqlite *sqlite, struct pm_storage_upload *upload,
                         struct pm_error *error)
{
    const struct pm_storage_cap *cap = upload->caps;
    bool counts, lowered;
    if (!upload->fresh || !cap)
        return true;
    if (!change_cap(sqlite, PM_SQLITE_RAISE_CAP, cap->day, cap->of_game, cap->most_of_game, &counts,
                    error))
        return false;
    upload->over = !counts;
    if (!counts)
        return true;
    if (!change_cap(sqlite, PM_SQLITE_RAISE_CAP, cap->day, cap->of_all, cap->most, &counts, error))
        return false;
    upload->over = !counts;
    return counts ||
           change_cap(sqlite, PM_SQLITE_LOWER_CAP, cap->day, cap->of_game, 0, &lowered, error);
}

bool pm_sqlite_begin_uploads(struct pm_storage *storage, struct pm_storage_upload *uploads,
                             size_t count, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    if (!pm_sqlite_begin(storage, error))
        return false;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_UPLOAD_ID, error);
    bool done = s != NULL;
    for (size_t i = 0; done && i < count; i++) {
        done = pm_sqlite_run(
            sqlite, s,
            PM_SQLITE_BOUND(
                pm_sqlite_bind_blob(s, 1, uploads[i].id, PM_UPLOAD_ID_BYTES),
                sqlite3_bind_int64(s, 2, uploads[i].day > 0 ? uploads[i].day : uploads[i].taken)),
            NULL, error);
        uploads[i].fresh = done && sqlite3_changes(sqlite->writer) > 0;
        uploads[i].over = false;
        done = done && count_upload(sqlite, &uploads[i], error);
    }
    if (!done)
        pm_sqlite_rollback(storage);
    return done;
}

bool pm_sqlite_return_uploads(struct pm_storage *storage, const struct pm_storage_upload *uploads,
                              size_t count, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_DROP_UPLOAD_ID, error);
    bool done = s != NULL, lowered;
    for (size_t i = 0; done && i < count; i++) {
        const struct pm_storage_cap *cap = uploads[i].over ? NULL : uploads[i].caps;
        done =
            pm_sqlite_run(
                sqlite, s,
                PM_SQLITE_BOUND(pm_sqlite_bind_blob(s, 1, uploads[i].id, PM_UPLOAD_ID_BYTES)), NULL,
                error) &&
            (!cap ||
             (change_cap(sqlite, PM_SQLITE_LOWER_CAP, cap->day, cap->of_game, 0, &lowered, error) &&
              change_cap(sqlite, PM_SQLITE_LOWER_CAP, cap->day, cap->of_all, 0, &lowered, error)));
    }
    return done;
}

bool pm_sqlite_commit_uploads(struct pm_storage *storage, struct pm_storage_batch *batch,
                              struct pm_error *error)
{
    if (pm_sqlite_put_spaces(storage, batch->spaces, batch->space_count, error) &&
        pm_sqlite_add_marks(storage, batch->marks, batch->mark_count, error) &&
        pm_sqlite_put_originals(storage, batch->originals, batch->original_count, error) &&
        pm_sqlite_add_games(storage, batch->games, batch->game_count, error) &&
        pm_sqlite_add_scenes(storage, batch->scenes, batch->scene_count, error) &&
        pm_sqlite_add_samples(storage, batch->samples, batch->sample_count, error))
        return pm_sqlite_commit(storage, error);
    pm_sqlite_rollback(storage);
    return false;
}

bool pm_sqlite_add_games(struct pm_storage *storage, const struct pm_storage_game *games,
                         size_t count, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_UPLOADS, error);
    bool done = s != NULL;
    for (size_t i = 0; done && i < count; i++)
        done = pm_sqlite_run(sqlite, s,
                             PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, games[i].name),
                                             pm_sqlite_bind_count(s, 2, games[i].uploads)),
                             NULL, error);
    return done;
}

/* ---- scenes ---- */

static int bind_scene(sqlite3_stmt *s, const struct pm_storage_scene *scene)
{
    return PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, scene->game),
                           pm_sqlite_bind_text(s, 2, scene->name));
}

static bool add_scene(struct pm_sqlite *sqlite, struct pm_storage_scene *scene,
                      struct pm_error *error)
{
    static const enum pm_sqlite_statement steps[] = {PM_SQLITE_COUNT_SCENE, PM_SQLITE_ADD_SCENE};
    scene->known = false;
    for (size_t i = 0; !scene->known && i < sizeof(steps) / sizeof(*steps); i++) {
        sqlite3_stmt *s = pm_sqlite_prepared(sqlite, steps[i], error);
        if (!s ||
            !pm_sqlite_run(
                sqlite, s,
                PM_SQLITE_BOUND(bind_scene(s, scene), pm_sqlite_bind_count(s, 3, scene->uploads),
                                sqlite3_bind_int64(s, 4, scene->day),
                                i > 0 ? sqlite3_bind_int64(s, 5, scene->most) : SQLITE_OK),
                NULL, error))
            return false;
        scene->known = sqlite3_changes(sqlite->writer) > 0;
    }
    return true;
}

bool pm_sqlite_add_scenes(struct pm_storage *storage, struct pm_storage_scene *scenes, size_t count,
                          struct pm_error *error)
{
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = add_scene((struct pm_sqlite *)storage, &scenes[i], error);
    return done;
}

bool pm_sqlite_find_scenes(struct pm_storage *storage, struct pm_storage_scene *scenes,
                           size_t count, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_FIND_SCENE, error);
        int64_t found = 0;
        done = s && pm_sqlite_run(sqlite, s, bind_scene(s, &scenes[i]), &found, error);
        scenes[i].known = found != 0;
    }
    return done;
}

/* ---- numbers of points ---- */

static int bind_shader(sqlite3_stmt *s, const struct pm_storage_space *space)
{
    return PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, space->game),
                           pm_sqlite_bind_key(s, 2, &space->key),
                           sqlite3_bind_int(s, 3, (int)space->kind));
}

static bool find_space(struct pm_sqlite *sqlite, struct pm_storage_space *space,
                       struct pm_error *error)
{
    space->space = pm_spaces_find(&sqlite->spaces, space->game, &space->key, space->kind);
    if (space->space != 0)
        return true;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_FIND_SPACE, error);
    int64_t value = 0;
    if (!s || !pm_sqlite_run(sqlite, s, bind_shader(s, space), &value, error))
        return false;
    space->space = (uint32_t)value;
    if (space->space != 0)
        pm_spaces_remember(&sqlite->spaces, space->game, &space->key, space->kind, space->space);
    return true;
}

bool pm_sqlite_find_spaces(struct pm_storage *storage, struct pm_storage_space *spaces,
                           size_t count, struct pm_error *error)
{
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = find_space((struct pm_sqlite *)storage, &spaces[i], error);
    return done;
}

bool pm_sqlite_put_spaces(struct pm_storage *storage, const struct pm_storage_space *spaces,
                          size_t count, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    bool done = true;
    for (size_t i = 0; done && i < count; i++) {
        const struct pm_storage_space *one = &spaces[i];
        sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_PUT_SPACE, error);
        done = s && pm_sqlite_run(
                        sqlite, s,
                        PM_SQLITE_BOUND(bind_shader(s, one), sqlite3_bind_int64(s, 4, one->space)),
                        NULL, error);
        if (done)
            pm_spaces_remember(&sqlite->spaces, one->game, &one->key, one->kind, one->space);
    }
    return done;
}

/* ---- blobs, origins, coverage ---- */

static bool add_blob(struct pm_sqlite *sqlite, const struct pm_storage_blob *blob,
                     struct pm_error *error)
{
    const struct pm_storage_key *key = &blob->key;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_BLOB, error);
    uint8_t environment[PM_SQLITE_ENVIRONMENT_BYTES];
    const uint64_t of = pm_seal_of(key);
    uint8_t *sealed = malloc(blob->size + PM_SEAL_BYTES);
    if (!sealed)
        return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory for statistics", sqlite->path);
    memcpy(sealed + PM_SEAL_BYTES, blob->data, blob->size);
    pm_seal_make(of, blob->data, blob->size, sealed);
    pm_sqlite_pack_environment(&key->environment, environment);
    const bool done =
        s && pm_sqlite_run(
                 sqlite, s,
                 PM_SQLITE_BOUND(
                     pm_sqlite_bind_text(s, 1, key->game), pm_sqlite_bind_key(s, 2, &key->key),
                     sqlite3_bind_blob(s, 3, environment, sizeof(environment), SQLITE_STATIC),
                     sqlite3_bind_int(s, 4, (int)key->kind), sqlite3_bind_int64(s, 5, key->flags),
                     sqlite3_bind_int64(s, 6, key->day), pm_sqlite_bind_text(s, 7, key->scene),
                     sqlite3_bind_blob64(s, 8, sealed, blob->size + PM_SEAL_BYTES, SQLITE_STATIC),
                     sqlite3_bind_int64(s, 9, (int64_t)of)),
                 NULL, error);
    free(sealed);
    return done;
}

bool pm_sqlite_add_blobs(struct pm_storage *storage, const struct pm_storage_blob *blobs,
                         size_t count, struct pm_error *error)
{
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = add_blob((struct pm_sqlite *)storage, &blobs[i], error);
    return done;
}

bool pm_sqlite_add_origin(struct pm_storage *storage, const char *game, const void *origin,
                          size_t size, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_ORIGIN, error);
    return s &&
           pm_sqlite_run(sqlite, s,
                         PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game),
                                         sqlite3_bind_blob64(s, 2, origin, size, SQLITE_STATIC)),
                         NULL, error);
}

bool pm_sqlite_add_coverage(struct pm_storage *storage, const char *game, int64_t time,
                            uint64_t uploads, uint64_t points_covered, uint64_t points,
                            struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_COVERAGE, error);
    if (!s || !pm_sqlite_run(sqlite, s,
                             PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game),
                                             sqlite3_bind_int64(s, 2, time),
                                             pm_sqlite_bind_count(s, 3, uploads),
                                             pm_sqlite_bind_count(s, 4, points_covered),
                                             pm_sqlite_bind_count(s, 5, points)),
                             NULL, error))
        return false;
    s = pm_sqlite_prepared(sqlite, PM_SQLITE_THIN_COVERAGE, error);
    return s && pm_sqlite_run(sqlite, s,
                              PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game),
                                              sqlite3_bind_int64(s, 2, time)),
                              NULL, error);
}
