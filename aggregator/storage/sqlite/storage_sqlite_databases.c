/* Publishing in the SQLite storage. A body is named by its ETag, which tells its content, so parts
 * of one that are there already are the same. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include <string.h>

bool pm_sqlite_put_part(struct pm_storage *storage, const char *etag, uint32_t part,
                        const void *data, size_t size, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_PUT_PART, error);
    return s && pm_sqlite_run(sqlite, s,
                              PM_SQLITE_BOUND(sqlite3_bind_text(s, 1, etag, -1, SQLITE_STATIC),
                                              sqlite3_bind_int64(s, 2, part),
                                              sqlite3_bind_blob64(s, 3, data, size, SQLITE_STATIC)),
                              NULL, error);
}

/* Is all of the body there? */
static bool check_body(struct pm_sqlite *sqlite, const char *etag, size_t size,
                       struct pm_error *error)
{
    int64_t found = -1;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_FIND_BODY, error);
    if (!s ||
        !pm_sqlite_run(sqlite, s, PM_SQLITE_BOUND(sqlite3_bind_text(s, 1, etag, -1, SQLITE_STATIC)),
                       &found, error))
        return false;
    return found == (int64_t)size ||
           pm_fail(error, PM_ERROR_STATE,
                   "%s: of the body that is to be published %lld of %zu bytes are there: another "
                   "process published meanwhile",
                   sqlite->path, (long long)found, size);
}

bool pm_sqlite_put_database(struct pm_storage *storage, const char *game, const char *scene,
                            const char *etag, size_t size, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    if (!check_body(sqlite, etag, size, error))
        return false;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_PUT_DATABASE, error);
    sqlite3_stmt *sweep = pm_sqlite_prepared(sqlite, PM_SQLITE_SWEEP_BODIES, error);
    return s && sweep &&
           pm_sqlite_run(sqlite, s,
                         PM_SQLITE_BOUND(sqlite3_bind_text(s, 1, game, -1, SQLITE_STATIC),
                                         sqlite3_bind_text(s, 2, scene, -1, SQLITE_STATIC),
                                         sqlite3_bind_text(s, 3, etag, -1, SQLITE_STATIC)),
                         NULL, error) &&
           pm_sqlite_run(sqlite, sweep, SQLITE_OK, NULL, error);
}
