#include "aggregator/storage/names.h"
#include "tools/common/options.h"
#include "tools/db/db.h"
#include <stdio.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal db curate [OPTION…]\n\n"
    "  --storage FILE   an aggregator's SQLite file (that of --config, or the one of `run "
    "--local`)\n"
    "  --game NAME      only this game\n"
    "  --config FILE    the one of `piecemeal serve`: what it says of publishing holds here too\n"
    "  --dev            publish every covered shader, whatever its intervals and however few sent "
    "it\n\n"
    "Without --config, shaders of a named storage need 5 tokens; the local storage is curated as "
    "with --dev.\n"
    "`piecemeal serve` and `piecemeal run --local` do this by themselves.\n";

bool pm_db_settings(struct pm_serve_options *options, const struct pm_db_where *where,
                    struct pm_error *error)
{
    if (!pm_serve_options_init(options, error) ||
        (where->config && !pm_serve_options_load(options, where->config, error)))
        return false;
    if (where->storage)
        options->storage = where->storage;
    /* The local storage is this machine's alone; and of any other without a word on who may see
     * what, nothing is published that the strictest server would hold back. */
    options->aggregator.publish_all =
        options->aggregator.publish_all || where->dev || !options->storage;
    if (!pm_serve_options_settle(options, error))
        return false;
    if (!where->config && !options->aggregator.publish_all) {
        options->aggregator.min_tokens = PM_MIN_TOKENS;
        options->aggregator.publish_seconds = PM_PUBLISH_SECONDS;
    }
    options->aggregator.epoch_file = NULL; /* the server's own; nothing is taken in here */
    options->aggregator.log = pm_log_create(NULL, STDERR_FILENO, PM_LOG_WARNING, error);
    return options->aggregator.log != NULL;
}

void pm_db_settings_finish(struct pm_serve_options *options)
{
    pm_log_destroy(options->aggregator.log);
    pm_serve_options_finish(options);
}

static bool curate(struct pm_aggregator *aggregator, const char *game, struct pm_error *error)
{
    char etag[PM_ETAG_TEXT];
    struct pm_buffer body;
    pm_buffer_init(&body, 2 * PM_DATABASE_BYTES);
    const bool done = pm_aggregator_curate(aggregator, game, error) &&
                      pm_aggregator_database(aggregator, game, etag, &body, error);
    if (done)
        printf("%s: %zu bytes, ETag %s\n", game, body.size, etag);
    pm_buffer_finish(&body);
    return done;
}

static bool curate_all(const struct pm_serve_options *options, const char *game,
                       struct pm_error *error)
{
    struct pm_names games = {0};
    struct pm_aggregator *aggregator =
        pm_tool_open_storage(options->storage, &options->aggregator, error);
    bool done =
        aggregator && pm_names_of_games(&games, pm_aggregator_storage(aggregator), game, error);
    for (size_t i = 0; done && i < games.count; i++)
        done = curate(aggregator, games.names[i], error);
    pm_names_finish(&games);
    pm_aggregator_destroy(aggregator);
    return done;
}

int pm_db_curate(int argc, char **argv)
{
    struct pm_db_where where = {0};
    const char *game = NULL;
    const struct pm_option known[] = {
        PM_OPTION_TEXT("storage", &where.storage),
        PM_OPTION_TEXT("game", &game),
        PM_OPTION_TEXT("config", &where.config),
        PM_OPTION_FLAG("dev", &where.dev),
    };
    struct pm_serve_options options;
    struct pm_error error = {0};
    const int status = pm_tool_options("db curate", help, known, sizeof(known) / sizeof(known[0]),
                                       argc, argv, NULL);
    if (status >= 0)
        return status;
    const bool done =
        pm_db_settings(&options, &where, &error) && curate_all(&options, game, &error);
    pm_db_settings_finish(&options);
    return done ? PM_EXIT_OK : pm_tool_failed("db curate", &error);
}
