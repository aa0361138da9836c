/* The SQLite storage: opening, transactions and everything that writes. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include "aggregator/statistics/statistics.h"
#include "base/clock.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool run_plain(struct pm_sqlite *sqlite, enum pm_sqlite_statement which,
                      struct pm_error *error)
{
    sqlite3_stmt *statement = pm_sqlite_prepared(sqlite, which, error);
    return statement && pm_sqlite_run(sqlite, statement, SQLITE_OK, NULL, error);
}

/* ---- the merge function ---- */

static void merge_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct pm_sqlite *sqlite = sqlite3_user_data(context);
    struct pm_buffer out;
    (void)count;
    pm_buffer_init(&out, PM_STATISTICS_BLOB_CAP);
    const void *old = sqlite3_value_blob(values[0]), *added = sqlite3_value_blob(values[1]);
    const size_t old_size = (size_t)sqlite3_value_bytes(values[0]);
    const size_t added_size = (size_t)sqlite3_value_bytes(values[1]);
    if (sqlite->merge(old ? old : "", old_size, added ? added : "", added_size, &out,
                      &sqlite->merge_error))
        sqlite3_result_blob64(context, out.data, out.size, SQLITE_TRANSIENT);
    else
        sqlite3_result_error(context, sqlite->merge_error.message, -1);
    pm_buffer_finish(&out);
}

/* ---- waiting for other processes ---- */

#define WAIT_MOST 10 /* milliseconds between two looks */

/* Milliseconds that were waited before the look of this number, which waits for one more than the
 * one before did, up to WAIT_MOST. */
static uint32_t waited(int look)
{
    const uint32_t n = look < WAIT_MOST ? (uint32_t)look : WAIT_MOST;
    return n * (n + 1) / 2 + ((uint32_t)look - n) * WAIT_MOST;
}

static int wait_on(const struct pm_sqlite *sqlite, uint32_t patience, int look)
{
    const int64_t until = atomic_load(&sqlite->hurry);
    const uint32_t before = waited(look), after = waited(look + 1);
    if (before >= patience || pm_now() >= until)
        return 0;
    nanosleep(&(struct timespec){.tv_nsec = (after - before) * 1000000L}, NULL);
    return 1;
}

static int writer_waits(void *user, int look)
{
    const struct pm_sqlite *sqlite = user;
    return wait_on(sqlite, sqlite->patience, look);
}

static int reader_waits(void *user, int look)
{
    return wait_on(user, PM_SQLITE_BUSY_MILLISECONDS, look);
}

void pm_sqlite_let_reader_wait(struct pm_sqlite *sqlite, sqlite3 *db)
{
    sqlite3_busy_handler(db, reader_waits, sqlite);
}

static void hurry(struct pm_storage *storage, int64_t until)
{
    atomic_store(&((struct pm_sqlite *)storage)->hurry, until);
}

/* ---- writer functions ---- */

static void rollback(struct pm_storage *storage)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    /* A failure may have ended the transaction already. */
    if (!sqlite3_get_autocommit(sqlite->writer))
        run_plain(sqlite, PM_SQLITE_ROLLBACK, NULL);
    pm_sqlite_spaces_forget(sqlite);
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
        rollback(&sqlite->storage);
        return false;
    }
    /* Another process wrote: it may have deleted what is remembered. */
    if (version != sqlite->data_version)
        pm_sqlite_spaces_forget(sqlite);
    sqlite->data_version = version;
    return true;
}

static bool begin(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_sqlite *)storage, true, error);
}

static bool begin_lazily(struct pm_storage *storage, struct pm_error *error)
{
    return begin_as((struct pm_sqlite *)storage, false, error);
}

static bool commit(struct pm_storage *storage, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    if (!run_plain(sqlite, PM_SQLITE_COMMIT, error)) {
        rollback(storage);
        return false;
    }
    if (sqlite->dropped)
        pm_sqlite_log_empty(sqlite);
    sqlite->dropped = false;
    return true;
}

static bool add_upload_id(struct pm_storage *storage, const uint8_t id[static PM_UPLOAD_ID_BYTES],
                          uint32_t day, bool *fresh, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_UPLOAD_ID, error);
    if (!s || !pm_sqlite_run(
                  sqlite, s,
                  PM_SQLITE_BOUND(sqlite3_bind_blob(s, 1, id, PM_UPLOAD_ID_BYTES, SQLITE_STATIC),
                                  sqlite3_bind_int64(s, 2, day)),
                  NULL, error))
        return false;
    *fresh = sqlite3_changes(sqlite->writer) > 0;
    return true;
}

static bool add_uploads(struct pm_storage *storage, const char *game, uint64_t uploads,
                        struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_UPLOADS, error);
    return s && pm_sqlite_run(sqlite, s,
                              PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game),
                                              pm_sqlite_bind_count(s, 2, uploads)),
                              NULL, error);
}

static int bind_scene(sqlite3_stmt *s, const char *game, const char *scene)
{
    return PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game), pm_sqlite_bind_text(s, 2, scene));
}

static bool add_scene(struct pm_storage *storage, const char *game, const char *scene,
                      uint64_t uploads, uint32_t day, uint32_t most, bool *known,
                      struct pm_error *error)
{
    static const enum pm_sqlite_statement steps[] = {PM_SQLITE_COUNT_SCENE, PM_SQLITE_ADD_SCENE};
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    *known = false;
    for (size_t i = 0; !*known && i < sizeof(steps) / sizeof(*steps); i++) {
        sqlite3_stmt *s = pm_sqlite_prepared(sqlite, steps[i], error);
        if (!s ||
            !pm_sqlite_run(sqlite, s,
                           PM_SQLITE_BOUND(bind_scene(s, game, scene),
                                           pm_sqlite_bind_count(s, 3, uploads),
                                           sqlite3_bind_int64(s, 4, day),
                                           i > 0 ? sqlite3_bind_int64(s, 5, most) : SQLITE_OK),
                           NULL, error))
            return false;
        *known = sqlite3_changes(sqlite->writer) > 0;
    }
    return true;
}

static bool find_scene(struct pm_storage *storage, const char *game, const char *scene, bool *known,
                       struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_FIND_SCENE, error);
    int64_t found = 0;
    if (!s || !pm_sqlite_run(sqlite, s, bind_scene(s, game, scene), &found, error))
        return false;
    *known = found != 0;
    return true;
}

static bool find_space(struct pm_storage *storage, const char *game,
                       const struct pm_shader_key *key, enum pm_kind kind, uint32_t *space,
                       struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    *space = pm_sqlite_spaces_find(sqlite, game, key, kind);
    if (*space != 0)
        return true;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_FIND_SPACE, error);
    int64_t value = 0;
    if (!s || !pm_sqlite_run(sqlite, s,
                             PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game),
                                             pm_sqlite_bind_key(s, 2, key),
                                             sqlite3_bind_int(s, 3, (int)kind)),
                             &value, error))
        return false;
    *space = (uint32_t)value;
    if (*space != 0)
        pm_sqlite_spaces_remember(sqlite, game, key, kind, *space);
    return true;
}

static bool put_space(struct pm_storage *storage, const char *game, const struct pm_shader_key *key,
                      enum pm_kind kind, uint32_t space, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_PUT_SPACE, error);
    if (!s ||
        !pm_sqlite_run(
            sqlite, s,
            PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game), pm_sqlite_bind_key(s, 2, key),
                            sqlite3_bind_int(s, 3, (int)kind), sqlite3_bind_int64(s, 4, space)),
            NULL, error))
        return false;
    pm_sqlite_spaces_remember(sqlite, game, key, kind, space);
    return true;
}

static bool add_blob(struct pm_storage *storage, const struct pm_storage_key *key, const void *blob,
                     size_t size, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_BLOB, error);
    uint8_t environment[PM_SQLITE_ENVIRONMENT_BYTES];
    pm_sqlite_pack_environment(&key->environment, environment);
    return s &&
           pm_sqlite_run(
               sqlite, s,
               PM_SQLITE_BOUND(
                   pm_sqlite_bind_text(s, 1, key->game), pm_sqlite_bind_key(s, 2, &key->key),
                   sqlite3_bind_blob(s, 3, environment, sizeof(environment), SQLITE_STATIC),
                   sqlite3_bind_int(s, 4, (int)key->kind), sqlite3_bind_int64(s, 5, key->flags),
                   sqlite3_bind_int64(s, 6, key->day), pm_sqlite_bind_text(s, 7, key->scene),
                   sqlite3_bind_blob64(s, 8, blob, size, SQLITE_STATIC)),
               NULL, error);
}

static bool add_origin(struct pm_storage *storage, const char *game, const void *origin,
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

static bool add_coverage(struct pm_storage *storage, const char *game, int64_t time,
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

/* ---- opening and closing ---- */

static void destroy(struct pm_storage *storage)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    for (size_t i = 0; i < PM_SQLITE_STATEMENTS; i++)
        sqlite3_finalize(sqlite->statements[i]);
    while (sqlite->reader_count > 0)
        sqlite3_close(sqlite->readers[--sqlite->reader_count]);
    sqlite3_close(sqlite->writer);
    pthread_mutex_destroy(&sqlite->readers_mutex);
    pm_sqlite_spaces_forget(sqlite);
    free(sqlite->path);
    free(sqlite);
}

static const struct pm_storage_operations operations = {
    .destroy = destroy,
    .hurry = hurry,
    .begin = begin,
    .begin_lazily = begin_lazily,
    .commit = commit,
    .rollback = rollback,
    .add_upload_id = add_upload_id,
    .add_uploads = add_uploads,
    .add_scene = add_scene,
    .find_scene = find_scene,
    .find_space = find_space,
    .put_space = put_space,
    .add_samples = pm_sqlite_add_samples,
    .delete_samples = pm_sqlite_delete_samples,
    .add_blob = add_blob,
    .put_part = pm_sqlite_put_part,
    .put_database = pm_sqlite_put_database,
    .drop = pm_sqlite_drop,
    .add_origin = add_origin,
    .add_coverage = add_coverage,
    .count_games = pm_sqlite_count_games,
    .list_scenes = pm_sqlite_list_scenes,
    .read_origins = pm_sqlite_read_origins,
    .read_game = pm_sqlite_read_game,
    .read_shader = pm_sqlite_read_shader,
    .read_samples = pm_sqlite_read_samples,
    .list_samples = pm_sqlite_list_samples,
    .read_bytes = pm_sqlite_read_bytes,
    .find_game = pm_sqlite_find_game,
    .list_games = pm_sqlite_list_games,
    .get_database = pm_sqlite_get_database,
    .read_coverage = pm_sqlite_read_coverage,
    .find_claims = pm_sqlite_find_claims,
    .put_claim = pm_sqlite_put_claim,
    .replace_space = pm_sqlite_replace_space,
    .read_claims = pm_sqlite_read_claims,
    .put_original = pm_sqlite_put_original,
    .read_originals = pm_sqlite_read_originals,
    .add_quarantined = pm_sqlite_add_quarantined,
    .read_quarantine = pm_sqlite_read_quarantine,
    .prune = pm_sqlite_prune,
    .blank_marks = pm_sqlite_blank_marks,
};

static struct pm_sqlite *create(const char *path, pm_storage_merge merge, struct pm_error *error)
{
    struct pm_sqlite *sqlite = calloc(1, sizeof(*sqlite));
    char *copy = strdup(path);
    if (!sqlite || !copy) {
        free(sqlite);
        free(copy);
        pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", path);
        return NULL;
    }
    pthread_mutex_init(&sqlite->readers_mutex, NULL);
    sqlite->storage.operations = &operations;
    sqlite->merge = merge;
    sqlite->patience = PM_SQLITE_BUSY_MILLISECONDS;
    atomic_init(&sqlite->hurry, INT64_MAX);
    sqlite->path = copy;
    return sqlite;
}

struct pm_storage *pm_storage_sqlite_open(const char *path, pm_storage_merge merge,
                                          struct pm_error *error)
{
    struct pm_sqlite *sqlite = create(path, merge, error);
    if (!sqlite)
        return NULL;
    /* SQLite would create it readable for all; its companions get the mode of the database. One
     * that exists is not opened here: closing it would drop every lock that this process has on it
     * (POSIX, fcntl). */
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST) {
        pm_fail_errno(error, errno, "%s: cannot create the database", path);
        goto error;
    }
    if (fd >= 0)
        close(fd);
    sqlite->writer = pm_sqlite_connect(path, SQLITE_OPEN_READWRITE, error);
    if (!sqlite->writer || !pm_sqlite_prepare_schema(path, sqlite->writer, error))
        goto error;
    sqlite3_busy_handler(sqlite->writer, writer_waits, sqlite);
    pm_sqlite_log_init(sqlite);
    if (sqlite3_create_function_v2(sqlite->writer, "merge", 2,
                                   SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, sqlite,
                                   merge_function, NULL, NULL, NULL) != SQLITE_OK) {
        pm_sqlite_fail(path, sqlite->writer, "cannot prepare the database", error);
        goto error;
    }
    return &sqlite->storage;

error:
    destroy(&sqlite->storage);
    return NULL;
}

struct pm_storage *pm_storage_sqlite_open_to_read(const char *path, struct pm_error *error)
{
    int64_t version;
    sqlite3 *db = pm_sqlite_connect(path, SQLITE_OPEN_READONLY, error);
    bool fine = db && pm_sqlite_read_version(path, db, &version, error);
    sqlite3_close(db);
    if (fine && version != pm_sqlite_newest_version())
        fine = pm_fail(error, PM_ERROR_STATE, "%s: is of the older schema %d; serve it once", path,
                       (int)version);
    struct pm_sqlite *sqlite = fine ? create(path, NULL, error) : NULL;
    return sqlite ? &sqlite->storage : NULL;
}
