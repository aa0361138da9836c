#include "aggregator/storage/names.h"
#include "tools/common/options.h"
#include "tools/db/db.h"
#include <stdio.h>

static const char help[] =
    "usage: piecemeal db import FILE [OPTION…]\n\n"
    "  FILE             what `db export --format piecemeal` wrote, or an aggregator's SQLite file\n"
    "  --storage FILE   where to; an aggregator's SQLite file (the one of `run --local`), made\n"
    "                   when missing\n"
    "  --game NAME      only this game\n\n"
    "Afterwards every sum is as if all uploads had come here. Nothing is added twice: once a "
    "game's statistics came\n"
    "in from one place, more from there is refused until the game is dropped there and begun "
    "anew. A game is imported\n"
    "whole or not at all; commits of a running aggregator wait meanwhile. Curate afterwards, where "
    "none runs.\n";

/* A game that cannot be imported does not hold the others up. false: some could not; why was
 * printed. */
static bool import_all(struct pm_aggregator *into, struct pm_aggregator *from,
                       const struct pm_names *games)
{
    bool all = true;
    for (size_t i = 0; i < games->count; i++) {
        struct pm_imported imported;
        struct pm_error error;
        if (pm_aggregator_import(into, from, games->names[i], &imported, &error)) {
            printf("%s: %llu uploads\n", games->names[i], (unsigned long long)imported.uploads);
        } else {
            pm_tool_failed("db import", &error);
            all = false;
        }
    }
    return all;
}

/* The exit status. */
static int import(const char *path, const char *storage, const char *game)
{
    const struct pm_aggregator_info info = {0};
    struct pm_error error;
    struct pm_names games = {0};
    bool done = false, found = false;
    struct pm_aggregator *from = pm_tool_open_storage(path, &info, &error);
    struct pm_aggregator *into = NULL;
    if (from && pm_names_of_games(&games, pm_aggregator_storage(from), game, &error))
        into = storage ? pm_aggregator_open(storage, &info, &error)
                       : pm_tool_open_storage(NULL, &info, &error);
    found = into && (games.count > 0 ||
                     pm_fail(&error, PM_ERROR_STATE, "%s: there is no game in it", path));
    if (found)
        done = import_all(into, from, &games);
    else
        pm_tool_failed("db import", &error);
    pm_names_finish(&games);
    pm_aggregator_destroy(into);
    pm_aggregator_destroy(from);
    return done ? PM_EXIT_OK : PM_EXIT_FAILED;
}

int pm_db_import(int argc, char **argv)
{
    const char *storage = NULL, *game = NULL;
    const struct pm_option known[] = {
        PM_OPTION_TEXT("storage", &storage),
        PM_OPTION_TEXT("game", &game),
    };
    int operands;
    const int status = pm_tool_options("db import", help, known, sizeof(known) / sizeof(known[0]),
                                       argc, argv, &operands);
    if (status >= 0)
        return status;
    if (operands + 1 != argc)
        return pm_tool_usage("db import", "takes one FILE");
    return import(argv[operands], storage, game);
}
