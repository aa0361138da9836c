#include "tools/common/options.h"
#include "tools/db/db.h"
#include <stdio.h>

static const char help[] =
    "usage: piecemeal db drop --game NAME [--shader KEY] --yes [--storage FILE]\n\n"
    "  --game NAME      the game\n"
    "  --shader KEY     only this shader of it; the whole key, 48 digits\n"
    "  --storage FILE   an aggregator's SQLite file (the one of `run --local`)\n"
    "  --yes            needed: what is dropped cannot be had back\n"
    "  --config FILE, --dev\n"
    "                   with --shader: as for `db curate`, since the game's database is curated "
    "then\n\n"
    "A dropped game's databases go too. A dropped shader leaves the current one, and the previous "
    "version has it still.\n"
    "Clients that send more make either known again.\n";

static bool drop(const struct pm_serve_options *settings, const char *game,
                 const struct pm_shader_key *key, struct pm_error *error)
{
    uint64_t blobs;
    struct pm_aggregator *aggregator =
        pm_tool_open_storage(settings->storage, &settings->aggregator, error);
    const bool done = aggregator && pm_aggregator_drop(aggregator, game, key, &blobs, error);
    pm_aggregator_destroy(aggregator);
    if (done)
        printf("dropped %llu statistics of %s\n", (unsigned long long)blobs, game);
    return done;
}

int pm_db_drop(int argc, char **argv)
{
    struct pm_db_where where = {0};
    const char *game = NULL, *shader = NULL;
    bool yes = false;
    const struct pm_option known[] = {
        PM_OPTION_TEXT("storage", &where.storage), PM_OPTION_TEXT("game", &game),
        PM_OPTION_TEXT("shader", &shader),         PM_OPTION_TEXT("config", &where.config),
        PM_OPTION_FLAG("dev", &where.dev),         PM_OPTION_FLAG("yes", &yes),
    };
    struct pm_serve_options settings;
    struct pm_error error = {0};
    struct pm_shader_key key;
    const int status =
        pm_tool_options("db drop", help, known, sizeof(known) / sizeof(known[0]), argc, argv, NULL);
    if (status >= 0)
        return status;
    if (!game)
        return pm_tool_usage("db drop", "--game is needed");
    if (shader && !pm_shader_key_parse(shader, &key))
        return pm_tool_usage("db drop", "--shader: '%s' is not a shader's key", shader);
    if (!yes)
        return pm_tool_usage("db drop", "nothing was dropped: it takes --yes");
    const bool done = pm_db_settings(&settings, &where, &error) &&
                      drop(&settings, game, shader ? &key : NULL, &error);
    pm_db_settings_finish(&settings);
    return done ? PM_EXIT_OK : pm_tool_failed("db drop", &error);
}
