/*
 * The SQLite storage's write-ahead log: when it is written back to the file. It grows until then,
 * and writing back what is new takes as much again in the file; so where there is little space it
 * must not be let grow, or a log that filled the disk could never be written back.
 */
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include <sys/statvfs.h>

#define PAGES 16384 /* of log; a page that changes often is written back once for all of them */
#define SHARE 4     /* of the free space that the log may take */
#define EMPTY_LOG_MILLISECONDS 1000

/* Bytes that may still be written where the file is. */
static uint64_t free_space(const char *path)
{
    struct statvfs status;
    return statvfs(path, &status) == 0 ? (uint64_t)status.f_bavail * status.f_frsize : UINT64_MAX;
}

/* After each commit; pages: of the log. */
static int after_commit(void *user, sqlite3 *db, const char *name, int pages)
{
    const struct pm_sqlite *sqlite = user;
    if (pages >= PAGES ||
        (uint64_t)pages * PM_SQLITE_PAGE_BYTES >= free_space(sqlite->path) / SHARE)
        sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return SQLITE_OK; /* what could not be written back is with the next commit */
}

void pm_sqlite_log_init(struct pm_sqlite *sqlite)
{
    sqlite3_wal_hook(sqlite->writer, after_commit, sqlite);
}

void pm_sqlite_log_shrink(struct pm_sqlite *sqlite)
{
    sqlite3_wal_checkpoint_v2(sqlite->writer, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

void pm_sqlite_log_empty(struct pm_sqlite *sqlite)
{
    const uint32_t patience = sqlite->patience;
    sqlite->patience = EMPTY_LOG_MILLISECONDS;
    pm_sqlite_log_shrink(sqlite);
    sqlite->patience = patience;
}
