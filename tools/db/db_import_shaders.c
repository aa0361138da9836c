#include "base/file.h"
#include "base/name.h"
#include "base/utf8.h"
#include "tools/common/options.h"
#include "tools/db/db.h"
#include "tools/stored/known_points.h"
#include "tools/stored/shader_name.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: piecemeal db import-shaders --game NAME --store FOLDER [--storage FILE]\n\n"
    "  --game NAME      the game that the shaders are of\n"
    "  --store FOLDER   a shader store, as a machine that played the game has one\n"
    "  --storage FILE   an aggregator's SQLite file (the one of `run --local`)\n"
    "  --config FILE    as for `db curate`\n\n"
    "What follows from a shader's words (how many points it has, and which run at most once) is "
    "known\nfrom then on: what clients say otherwise is left out. The dashboard says what it is "
    "called. The words stay\nhere. Statistics of a shader whose number of points was a lie are "
    "deleted.\n";

struct import {
    struct pm_aggregator *aggregator;
    struct pm_shader_store *store;
    const char *game;
    uint64_t shaders, facts, replaced, unread;
    struct pm_error *error;
    bool failed;
};

static bool know(struct import *import, const struct pm_shader_key *key,
                 const struct pm_known_points *facts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pm_shader_profile shader = {.key = *key,
                                                 .kind = facts[i].kind,
                                                 .space = facts[i].space,
                                                 .at_most_once = facts[i].at_most_once};
        bool replaced;
        if (!pm_aggregator_know_shader(import->aggregator, import->game, &shader, &replaced,
                                       import->error))
            return false;
        import->facts++;
        import->replaced += replaced;
    }
    return true;
}

/* As much of it as a name may have. Its stage alone tells nobody which shader it is. */
static bool name(struct import *import, const struct pm_shader_key *key,
                 const struct pm_stored_shader *stored, struct pm_arena *arena)
{
    const char *text = pm_shader_name(stored, arena);
    const size_t length = text ? strlen(text) : 0;
    const size_t size = pm_utf8_check_line(text, length < PM_NAME_BYTES ? length : PM_NAME_BYTES);
    const char *line = text ? pm_arena_printf(arena, "%.*s", (int)size, text) : NULL;
    if (!line)
        return pm_fail(import->error, PM_ERROR_MEMORY, "out of memory for the name of a shader");
    return size == 0 || strcmp(line, pm_stored_stage(stored)) == 0 ||
           pm_aggregator_name_shader(import->aggregator, import->game, key, line, import->error);
}

static void visit(void *user, const char *path)
{
    struct import *import = user;
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    char text[PM_SHADER_KEY_TEXT] = "";
    struct pm_shader_key key;
    struct pm_stored_shader stored;
    struct pm_known_points facts[PM_KNOWN_POINTS];
    size_t count;
    if (import->failed || strlen(file) < sizeof(text))
        return;
    memcpy(text, file, sizeof(text) - 1);
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_error why = {0};
    if (arena && pm_shader_key_parse(text, &key) &&
        pm_shader_store_read(import->store, &key, arena, &stored, &why) &&
        pm_known_points_of(&stored, arena, facts, &count, &why)) {
        import->shaders++;
        import->failed = !know(import, &key, facts, count) || !name(import, &key, &stored, arena);
    } else {
        import->unread++;
        fprintf(stderr, "piecemeal db import-shaders: %s: %s\n", path,
                why.code != PM_OK ? why.message : "is no stored shader");
    }
    pm_arena_destroy(arena);
}

static bool import_all(const struct pm_serve_options *settings, const char *game,
                       const char *folder, struct pm_error *error)
{
    struct import import = {.game = game, .error = error};
    import.store = pm_shader_store_open(folder, 0);
    import.aggregator =
        import.store ? pm_tool_open_storage(settings->storage, &settings->aggregator, error) : NULL;
    const bool opened = import.aggregator || (!import.store && pm_fail(error, PM_ERROR_MEMORY,
                                                                       "there is no shader store"));
    if (opened)
        pm_folder_each(folder, ".pmshader", visit, &import);
    pm_aggregator_destroy(import.aggregator);
    pm_shader_store_close(import.store);
    if (!opened || import.failed)
        return false;
    if (import.shaders == 0)
        return pm_fail(error, PM_ERROR_STATE, "%s: has no shader that can be read", folder);
    printf("%llu shaders: %llu numbers of points are known; %llu were otherwise before\n",
           (unsigned long long)import.shaders, (unsigned long long)import.facts,
           (unsigned long long)import.replaced);
    return true;
}

int pm_db_import_shaders(int argc, char **argv)
{
    struct pm_db_where where = {0};
    const char *game = NULL, *store = NULL;
    const struct pm_option known[] = {
        PM_OPTION_TEXT("storage", &where.storage),
        PM_OPTION_TEXT("game", &game),
        PM_OPTION_TEXT("store", &store),
        PM_OPTION_TEXT("config", &where.config),
    };
    struct pm_serve_options settings;
    struct pm_error error = {0};
    const int status = pm_tool_options("db import-shaders", help, known,
                                       sizeof(known) / sizeof(known[0]), argc, argv, NULL);
    if (status >= 0)
        return status;
    if (!game || !store)
        return pm_tool_usage("db import-shaders", "--game and --store are needed");
    const bool done =
        pm_db_settings(&settings, &where, &error) && import_all(&settings, game, store, &error);
    pm_db_settings_finish(&settings);
    return done ? PM_EXIT_OK : pm_tool_failed("db import-shaders", &error);
}
