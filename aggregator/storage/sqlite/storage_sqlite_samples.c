/* Samples that wait in the SQLite storage: a table of rows in order of arrival. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Against what disks and other programs do to the file; not against who knows it. */
static int64_t hash_of(const void *data, size_t size)
{
    return (int64_t)XXH3_64bits(data, size);
}

static int bind_part(sqlite3_stmt *s, const char *game, unsigned part)
{
    return PM_SQLITE_BOUND(pm_sqlite_bind_text(s, 1, game), sqlite3_bind_int(s, 2, (int)part));
}

bool pm_sqlite_add_samples(struct pm_storage *storage, const struct pm_storage_samples *rows,
                           size_t count, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_ADD_SAMPLES, error);
    bool done = s != NULL;
    for (size_t i = 0; done && i < count; i++) {
        const struct pm_storage_samples *row = &rows[i];
        done =
            pm_sqlite_run(sqlite, s,
                          PM_SQLITE_BOUND(bind_part(s, row->game, row->part),
                                          pm_sqlite_bind_count(s, 3, row->size),
                                          sqlite3_bind_int64(s, 4, row->day),
                                          pm_sqlite_bind_blob(s, 5, row->data, row->size),
                                          sqlite3_bind_int64(s, 6, hash_of(row->data, row->size))),
                          NULL, error);
    }
    return done;
}

bool pm_sqlite_delete_samples(struct pm_storage *storage, const char *game, unsigned part,
                              const uint64_t *rows, size_t count, uint64_t *deleted,
                              struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3_stmt *s = pm_sqlite_prepared(sqlite, PM_SQLITE_DELETE_SAMPLES, error);
    bool done = s != NULL;
    *deleted = 0;
    for (size_t i = 0; done && i < count; i++) {
        done = pm_sqlite_run(
            sqlite, s,
            PM_SQLITE_BOUND(bind_part(s, game, part), pm_sqlite_bind_count(s, 3, rows[i])), NULL,
            error);
        *deleted += done ? (uint64_t)sqlite3_changes64(sqlite->writer) : 0;
    }
    return done;
}

/* ---- reading ---- */

/* Steps through a bound statement; *more false: it has ended. */
static bool next(struct pm_sqlite *sqlite, sqlite3 *db, sqlite3_stmt *statement, bool *more,
                 struct pm_error *error)
{
    const int code = sqlite3_step(statement);
    *more = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE ||
           pm_sqlite_fail(sqlite->path, db, "cannot read the database", error);
}

bool pm_sqlite_read_samples(struct pm_storage *storage, const char *game, unsigned part,
                            size_t bytes, pm_storage_visit_samples visit, void *user,
                            struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3 *db = pm_sqlite_take_reader(sqlite, error);
    sqlite3_stmt *statement = NULL;
    if (!db)
        return false;
    bool more = true;
    bool done = (sqlite3_prepare_v2(db,
                                    "SELECT row, day, d, hash FROM samples"
                                    " WHERE game = ?1 AND part = ?2 ORDER BY row",
                                    -1, &statement, NULL) == SQLITE_OK &&
                 bind_part(statement, game, part) == SQLITE_OK) ||
                pm_sqlite_fail(sqlite->path, db, "cannot read the database", error);
    for (size_t visited = 0; done && more && visited < bytes;) {
        done = next(sqlite, db, statement, &more, error);
        if (!done || !more)
            break;
        const void *data = sqlite3_column_blob(statement, 2);
        struct pm_storage_samples row = {.game = game,
                                         .part = part,
                                         .row = (uint64_t)sqlite3_column_int64(statement, 0),
                                         .day = (uint32_t)sqlite3_column_int64(statement, 1),
                                         .data = data ? data : "",
                                         .size = (size_t)sqlite3_column_bytes(statement, 2)};
        row.damaged = sqlite3_column_type(statement, 3) != SQLITE_NULL &&
                      sqlite3_column_int64(statement, 3) != hash_of(row.data, row.size);
        visited += row.size;
        done = visit(user, &row, error);
    }
    sqlite3_finalize(statement);
    pm_sqlite_give_reader(sqlite, db);
    return done;
}

bool pm_sqlite_list_samples(struct pm_storage *storage, const char *game,
                            pm_storage_visit_part visit, void *user, struct pm_error *error)
{
    struct pm_sqlite *sqlite = (struct pm_sqlite *)storage;
    sqlite3 *db = pm_sqlite_take_reader(sqlite, error);
    sqlite3_stmt *statement = NULL;
    if (!db)
        return false;
    /* The index has it all. */
    bool more = true;
    bool done =
        (sqlite3_prepare_v2(db,
                            game ? "SELECT game, part, count(*), sum(size) FROM samples"
                                   " WHERE game = ?1 GROUP BY game, part"
                                 : "SELECT game, part, count(*), sum(size) FROM samples"
                                   " GROUP BY game, part",
                            -1, &statement, NULL) == SQLITE_OK &&
         (!game || sqlite3_bind_text(statement, 1, game, -1, SQLITE_STATIC) == SQLITE_OK)) ||
        pm_sqlite_fail(sqlite->path, db, "cannot read the database", error);
    while (done && more) {
        done = next(sqlite, db, statement, &more, error);
        if (!done || !more)
            break;
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        done = visit(user, name ? name : "", (unsigned)sqlite3_column_int(statement, 1),
                     (uint64_t)sqlite3_column_int64(statement, 2),
                     (uint64_t)sqlite3_column_int64(statement, 3), error);
    }
    sqlite3_finalize(statement);
    pm_sqlite_give_reader(sqlite, db);
    return done;
}
