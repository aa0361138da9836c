#include "aggregator/storage/sqlite/storage_sqlite_check.h"

#include "aggregator/storage/sqlite/storage_sqlite_private.h"
#include <inttypes.h>
#include <string.h>

static void fail(const char *path, const char *sentence, pm_check_report report, void *user)
{
    /* Errors of the storage name the file already. */
    const bool named = strncmp(sentence, path, strlen(path)) == 0;
    pm_check_say(report, user, PM_FINDING_ERROR, "%s%s%s", named ? "" : path, named ? "" : ": ",
                 sentence);
}

static bool integrity(const char *path, sqlite3 *db, pm_check_report report, void *user)
{
    sqlite3_stmt *statement = NULL;
    struct pm_error error;
    unsigned problems = 0;
    int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check(100)", -1, &statement, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        code = SQLITE_OK;
        if (!text || strcmp(text, "ok") == 0)
            continue;
        problems++;
        fail(path, text, report, user);
    }
    const bool read = code == SQLITE_DONE;
    if (!read) {
        pm_sqlite_fail(path, db, "cannot check the database", &error);
        fail(path, error.message, report, user);
    }
    sqlite3_finalize(statement);
    return read && problems == 0;
}

struct reporting {
    const char *path;
    pm_check_report report;
    void *user;
};

static void say(void *user, const char *sentence)
{
    const struct reporting *reporting = user;
    fail(reporting->path, sentence, reporting->report, reporting->user);
}

bool pm_storage_sqlite_check(const char *path, pm_check_report report, void *user)
{
    struct pm_error error = {0};
    int64_t version = 0;
    sqlite3 *db = pm_sqlite_connect(path, SQLITE_OPEN_READONLY, &error);
    bool fine = db && pm_sqlite_read_version(path, db, &version, &error);
    if (!fine) {
        fail(path, error.message, report, user);
    } else if (version == 0) {
        pm_check_say(report, user, PM_FINDING_OK, "%s: is empty, and would be filled", path);
        fine = false;
    } else if ((fine = integrity(path, db, report, user))) {
        pm_check_say(report, user, PM_FINDING_OK,
                     "%s: is a whole SQLite database of schema %" PRId64, path, version);
        if (version < pm_sqlite_newest_version()) {
            pm_check_say(report, user, PM_FINDING_WARNING,
                         "%s: would be brought to schema %" PRId64
                         ", which older versions of Piecemeal cannot read: keep a backup; what is "
                         "in it was not checked",
                         path, pm_sqlite_newest_version());
            fine = false;
        } else {
            /* What they say is still looked at: it may be more that is wrong. */
            struct reporting reporting = {path, report, user};
            pm_sqlite_check_seals(path, db, say, &reporting);
        }
    }
    sqlite3_close(db);
    return fine;
}
