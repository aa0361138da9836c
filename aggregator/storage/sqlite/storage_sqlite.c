#include "aggregator/storage/sqlite/storage_sqlite.h"

#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include "aggregator/statistics/statistics.h"
#include "aggregator/storage/seal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the merge function ---- */

/* What is behind the seal of a value; of: the row's (seal.h). */
static const void *unseal(uint64_t of, sqlite3_value *value, size_t *size)
{
    const void *data = sqlite3_value_blob(value);
    return pm_seal_check(of, data ? data : "", (size_t)sqlite3_value_bytes(value), size);
}

/* merge(old, added, of): both sealed, as what comes of it. */
static void merge_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    struct pm_sqlite *sqlite = sqlite3_user_data(context);
    static const uint8_t room[PM_SEAL_BYTES];
    struct pm_buffer out;
    size_t old_size, added_size;
    (void)count;
    pm_buffer_init(&out, PM_STATISTICS_BLOB_CAP + PM_SEAL_BYTES);
    const uint64_t of = (uint64_t)sqlite3_value_int64(values[2]);
    const void *old = unseal(of, values[0], &old_size);
    const void *added = unseal(of, values[1], &added_size);
    bool done = (old && added) || pm_seal_fail(&sqlite->merge_error);
    if (done && !pm_buffer_append(&out, room, sizeof(room)))
        done = pm_fail(&sqlite->merge_error, PM_ERROR_MEMORY, "out of memory for statistics");
    done = done && sqlite->merge(old, old_size, added, added_size, &out, &sqlite->merge_error);
    if (done) {
        pm_seal_make(of, out.data + PM_SEAL_BYTES, out.size - PM_SEAL_BYTES, out.data);
        sqlite3_result_blob64(context, out.data, out.size, SQLITE_TRANSIENT);
    }
    if (!done)
        sqlite3_result_error(context, sqlite->merge_error.message, -1);
    pm_buffer_finish(&out);
}

/* ---- opening and closing ---- */

static void destroy(struct pm_storage *storage)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    for (size_t i = 0; i < PM_SQLITE_STATEMENTS; i++)
        sqlite3_finalize(sqlite->statements[i]);
    pm_sqlite_close_readers(sqlite);
    sqlite3_close(sqlite->writer);
    pthread_mutex_destroy(&sqlite->readers_mutex);
    pm_spaces_forget(&sqlite->spaces);
    free(sqlite->path);
    free(sqlite);
}

static const struct pm_storage_operations operations = {
    .destroy = destroy,
    .hurry = pm_sqlite_hurry,
    .begin = pm_sqlite_begin,
    .begin_lazily = pm_sqlite_begin_lazily,
    .commit = pm_sqlite_commit,
    .rollback = pm_sqlite_rollback,
    .begin_uploads = pm_sqlite_begin_uploads,
    .return_uploads = pm_sqlite_return_uploads,
    .commit_uploads = pm_sqlite_commit_uploads,
    .add_games = pm_sqlite_add_games,
    .add_scenes = pm_sqlite_add_scenes,
    .find_scenes = pm_sqlite_find_scenes,
    .find_spaces = pm_sqlite_find_spaces,
    .put_spaces = pm_sqlite_put_spaces,
    .add_samples = pm_sqlite_add_samples,
    .delete_samples = pm_sqlite_delete_samples,
    .add_blobs = pm_sqlite_add_blobs,
    .put_part = pm_sqlite_put_part,
    .put_database = pm_sqlite_put_database,
    .drop = pm_sqlite_drop,
    .add_origin = pm_sqlite_add_origin,
    .add_coverage = pm_sqlite_add_coverage,
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
    .add_marks = pm_sqlite_add_marks,
    .put_claims = pm_sqlite_put_claims,
    .drop_claim = pm_sqlite_drop_claim,
    .replace_space = pm_sqlite_replace_space,
    .read_claims = pm_sqlite_read_claims,
    .put_originals = pm_sqlite_put_originals,
    .read_originals = pm_sqlite_read_originals,
    .put_name = pm_sqlite_put_name,
    .read_names = pm_sqlite_read_names,
    .add_quarantined = pm_sqlite_add_quarantined,
    .read_quarantine = pm_sqlite_read_quarantine,
    .prune = pm_sqlite_prune,
    .settle_marks = pm_sqlite_settle_marks,
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
    sqlite->has_marks = sqlite->has_names = true;
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
    pm_sqlite_let_writer_wait(sqlite);
    pm_sqlite_log_init(sqlite);
    if (sqlite3_create_function_v2(sqlite->writer, "merge", 3,
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
    if (fine && version < pm_sqlite_oldest_readable_version())
        fine = pm_fail(error, PM_ERROR_STATE, "%s: is of the older schema %d; serve it once", path,
                       (int)version);
    struct pm_sqlite *sqlite = fine ? create(path, NULL, error) : NULL;
    if (sqlite) {
        sqlite->has_marks = pm_sqlite_has_marks(version);
        sqlite->has_names = pm_sqlite_has_names(version);
    }
    return sqlite ? &sqlite->storage : NULL;
}
