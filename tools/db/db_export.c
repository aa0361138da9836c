#include "base/config.h"
#include "base/file.h"
#include "tools/common/options.h"
#include "tools/common/out_file.h"
#include "tools/db/db.h"
#include "tools/export/export.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal db export --format FORMAT [-o FILE] [OPTION…]\n\n"
    "  --format FORMAT   json, csv: everything, with intervals;\n"
    "                    llvm: text for llvm-profdata; pprof: for pprof; collapsed: for flame "
    "graph "
    "tools;\n"
    "                    foz: the shaders, what they are specialized to, and their pipelines, for "
    "Fossilize's tools;\n"
    "                    piecemeal: the statistics themselves, for `piecemeal db import`\n"
    "  -o FILE           where it goes (standard output; piecemeal needs it)\n"
    "  --game NAME       the game; needed where there are several\n"
    "  --scene NAME      of a storage: only the profiles of this scene; not with piecemeal\n"
    "  --storage FILE    an aggregator's SQLite file (the one of `run --local`)\n"
    "  --database FILE   a PGO database that was pulled; not with piecemeal\n"
    "  --shader KEY      only the shaders whose key starts so; not with piecemeal\n"
    "  --store FOLDER    the shader store, for foz and llvm (this machine's)\n\n"
    "llvm, pprof and collapsed have counts of blocks: a block's frequency times the invocations of "
    "its shader that\n"
    "were sampled. In llvm a function is KEY.block, its counters its blocks in order, and shaders "
    "that are not sampled\n"
    "whole are left out; a comment says which blocks are uniform (optimize.uniform_share; ?: not "
    "known), and of "
    "compute shaders in the\n"
    "store another which blocks whole workgroups enter (W). In "
    "pprof "
    "a function is a shader,\n"
    "a line its block. foz has what this machine has seen; with -o a line for each goes to "
    "standard "
    "output: its hash,\n"
    "whether it is an original, canonical or specialized module, a pipeline or a "
    "specialized-pipeline, and the shader's key.\n";

struct options {
    struct pm_estimates_source source;
    const char *shader, *format, *out, *store;
};

static const struct format {
    const char *name;
    pm_exporter export; /* NULL: the statistics */
} formats[] = {
    {"json", pm_export_json},   {"csv", pm_export_csv},
    {"llvm", pm_export_llvm},   {"collapsed", pm_export_collapsed},
    {"pprof", pm_export_pprof}, {"foz", pm_export_foz},
    {"piecemeal", NULL},
};

static const struct format *find_format(const char *name)
{
    for (size_t i = 0; name && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

/* ---- formats of others ---- */

struct writing {
    const struct options *options;
    const struct format *format;
};

static bool write_database(void *user, FILE *out, struct pm_error *error)
{
    const struct writing *writing = user;
    struct pm_estimates estimates;
    if (!pm_estimates_load(&writing->options->source, &estimates, error))
        return false;
    struct pm_config config;
    pm_config_init(&config);
    bool done = pm_out_spares(writing->options->out, estimates.origin, error) &&
                pm_config_load_game(&config, estimates.database.game, error);
    const struct pm_export export = {.database = &estimates.database,
                                     .shader = writing->options->shader,
                                     .store = writing->options->store,
                                     .index = writing->options->out ? stdout : NULL,
                                     .uniform_share = config.optimize.uniform_share};
    done = done && writing->format->export(&export, out, error);
    pm_config_finish(&config);
    pm_estimates_finish(&estimates);
    return done;
}

/* ---- statistics ---- */

static bool copy_game(struct pm_aggregator *from, const char *game, const char *path,
                      struct pm_error *error)
{
    const struct pm_aggregator_info info = {0};
    struct pm_imported imported;
    struct pm_aggregator *into = pm_aggregator_open(path, &info, error);
    const bool done = into && pm_aggregator_import(into, from, game, &imported, error);
    pm_aggregator_destroy(into); /* which leaves one file */
    return done;
}

static bool export_statistics(const struct options *options, struct pm_error *error)
{
    const struct pm_aggregator_info info = {0};
    struct pm_aggregator *from = pm_tool_open_storage(options->source.storage, &info, error);
    char *place = from ? pm_out_place(options->out) : NULL;
    const char *path = place ? place : options->out;
    char *beside = from ? pm_out_beside(path, error) : NULL;
    char *game = NULL;
    bool done = beside != NULL;
    if (done && !options->source.game) {
        const char *name = options->source.storage ? options->source.storage : "the storage";
        done = (game = pm_tool_only_game(pm_aggregator_storage(from), name, error)) != NULL;
    }
    done = done && copy_game(from, game ? game : options->source.game, beside, error) &&
           pm_file_replace(beside, path, error);
    if (!done && beside)
        unlink(beside);
    free(game);
    free(beside);
    free(place);
    pm_aggregator_destroy(from);
    return done;
}

/* -1: they are good. */
static int check(const struct options *options, const struct format *format)
{
    struct stat status;
    if (!options->format)
        return pm_tool_usage("db export", "--format is needed");
    if (!format)
        return pm_tool_usage("db export",
                             "--format: '%s' is not json, csv, llvm, pprof, collapsed, "
                             "foz or piecemeal",
                             options->format);
    if (format->export)
        return -1;
    if (options->source.database || options->source.scene || options->shader)
        return pm_tool_usage("db export", "piecemeal is of a whole game in a storage");
    if (!options->out)
        return pm_tool_usage("db export", "-o is needed");
    if (stat(options->out, &status) == 0)
        return pm_tool_usage("db export", "%s: is there already", options->out);
    return -1;
}

int pm_db_export(int argc, char **argv)
{
    struct options options = {0};
    const struct pm_option known[] = {
        {.letter = 'o', .text = &options.out},
        PM_OPTION_TEXT("format", &options.format),
        PM_OPTION_TEXT("game", &options.source.game),
        PM_OPTION_TEXT("scene", &options.source.scene),
        PM_OPTION_TEXT("storage", &options.source.storage),
        PM_OPTION_TEXT("database", &options.source.database),
        PM_OPTION_TEXT("shader", &options.shader),
        PM_OPTION_TEXT("store", &options.store),
    };
    struct pm_error error = {0};
    int status = pm_tool_options("db export", help, known, sizeof(known) / sizeof(known[0]), argc,
                                 argv, NULL);
    if (status >= 0)
        return status;
    const struct format *format = find_format(options.format);
    status = check(&options, format);
    if (status >= 0)
        return status;
    struct writing writing = {&options, format};
    const bool done = format->export ? pm_out_file(options.out, write_database, &writing, &error)
                                     : export_statistics(&options, &error);
    return done ? PM_EXIT_OK : pm_tool_failed("db export", &error);
}
