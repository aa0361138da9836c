/* A copy of the file while it is in use. */
#include "aggregator/storage/sqlite/storage_sqlite.h"
#include "aggregator/storage/sqlite/storage_sqlite_private.h"

#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The whole copy is one step, and so one read transaction: writers go on in the write-ahead log,
 * and the copy is what was committed when it began. With several steps SQLite would start again
 * after every commit of another process, and never end under load. */
static bool copy(const char *path, sqlite3 *from, const char *beside, struct pm_error *error)
{
    sqlite3 *to = pm_sqlite_connect(beside, SQLITE_OPEN_READWRITE, error);
    if (!to)
        return false;
    /* Nobody sees it before it is whole; what is left of a crash is not looked at. */
    sqlite3_exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL, NULL);
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    const int code = backup ? sqlite3_backup_step(backup, -1) : SQLITE_ERROR;
    sqlite3_backup_finish(backup);
    /* The cause is at the copy's connection, also when it was reading that failed. */
    const bool done = code == SQLITE_DONE ||
                      (code == SQLITE_BUSY || code == SQLITE_LOCKED
                           ? pm_fail(error, PM_ERROR_STATE, "%s: another process locks it", path)
                           : pm_sqlite_fail(beside, to, "cannot copy the database", error));
    return (sqlite3_close(to) == SQLITE_OK || !done) && done;
}

/* A log that lies beside the copy's place would be replayed over the copy. An empty one, which
 * whoever only read an earlier copy leaves, would not. */
static bool has_no_log(const char *to, struct pm_error *error)
{
    static const char *const suffixes[] = {"-wal", "-journal"};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        char *name = NULL;
        if (asprintf(&name, "%s%s", to, suffixes[i]) < 0)
            return pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", to);
        struct stat status;
        const bool there = stat(name, &status) == 0 && status.st_size > 0;
        free(name);
        if (there)
            return pm_fail(error, PM_ERROR_STATE,
                           "%s: is in use, or was when its process ended: %s%s is there", to, to,
                           suffixes[i]);
    }
    return true;
}

bool pm_storage_sqlite_backup(const char *path, const char *to, struct pm_error *error)
{
    char *beside = NULL;
    int64_t version;
    if (pm_file_is_same(path, to))
        return pm_fail(error, PM_ERROR_INPUT, "%s: is the database itself", to);
    if (!has_no_log(to, error))
        return false;
    sqlite3 *from = pm_sqlite_connect(path, SQLITE_OPEN_READONLY, error);
    if (!from)
        return false;
    bool done = pm_sqlite_read_version(path, from, &version, error) &&
                (beside = pm_file_make_beside(to, error)) != NULL;
    if (done) {
        done = copy(path, from, beside, error) && pm_file_replace(beside, to, error);
        if (!done)
            unlink(beside);
        free(beside);
    }
    sqlite3_close(from);
    return done;
}
