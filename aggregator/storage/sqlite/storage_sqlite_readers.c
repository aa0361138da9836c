/* The SQLite storage's connections that read: a few are kept for who reads next. */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

sqlite3 *pm_sqlite_take_reader(struct pm_sqlite *sqlite, struct pm_error *error)
{
    sqlite3 *db = NULL;
    pthread_mutex_lock(&sqlite->readers_mutex);
    if (sqlite->reader_count > 0)
        db = sqlite->readers[--sqlite->reader_count];
    pthread_mutex_unlock(&sqlite->readers_mutex);
    if (!db && (db = pm_sqlite_connect(sqlite->path, SQLITE_OPEN_READONLY, error)))
        pm_sqlite_let_reader_wait(sqlite, db);
    return db;
}

void pm_sqlite_give_reader(struct pm_sqlite *sqlite, sqlite3 *db)
{
    pthread_mutex_lock(&sqlite->readers_mutex);
    if (sqlite->reader_count < PM_SQLITE_IDLE_READERS) {
        sqlite->readers[sqlite->reader_count++] = db;
        db = NULL;
    }
    pthread_mutex_unlock(&sqlite->readers_mutex);
    sqlite3_close(db);
}

void pm_sqlite_close_readers(struct pm_sqlite *sqlite)
{
    while (sqlite->reader_count > 0)
        sqlite3_close(sqlite->readers[--sqlite->reader_count]);
}
