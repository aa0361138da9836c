#include "aggregator/storage/sqlite/storage_sqlite.h"
#include "tools/common/options.h"
#include "tools/db/db.h"
#include <signal.h>
#include <stdlib.h>

static const char help[] =
    "usage: piecemeal db backup [--storage FILE] -o COPY\n\n"
    "  --storage FILE   an aggregator's SQLite file (the one of `run --local`)\n"
    "  -o COPY          where the copy goes; one that is there is replaced\n\n"
    "The copy is what was committed at one moment, and appears whole or not at all; a server may\n"
    "use the storage meanwhile. To restore: stop the server, put the copy in the storage's place,\n"
    "remove FILE-wal and FILE-shm, start it. `piecemeal serve --check --storage COPY` checks it.\n";

int pm_db_backup(int argc, char **argv)
{
    const char *storage = NULL, *output = NULL;
    const struct pm_option known[] = {
        PM_OPTION_TEXT("storage", &storage),
        {.name = "output", .letter = 'o', .text = &output},
    };
    struct pm_error error = {0};
    const int status = pm_tool_options("db backup", help, known, sizeof(known) / sizeof(known[0]),
                                       argc, argv, NULL);
    if (status >= 0)
        return status;
    if (!output)
        return pm_tool_usage("db backup", "-o is needed");
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is an error like a full disk */
    char *local = storage ? NULL : pm_tool_local_storage();
    const char *from = storage ? storage : local;
    const bool done = !from ? pm_fail(&error, PM_ERROR_MEMORY, "no place for the local storage")
                      : pm_aggregator_is_remote(from)
                          ? pm_fail(&error, PM_ERROR_UNSUPPORTED,
                                    "a PostgreSQL has backups of its own: pg_dump, pg_basebackup")
                          : pm_storage_sqlite_backup(from, output, &error);
    free(local);
    return done ? PM_EXIT_OK : pm_tool_failed("db backup", &error);
}
