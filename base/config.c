#include "base/config.h"
#include "base/config_keys.h"
#include "base/file.h"
#include "base/json_text.h"
#include "base/shared_name.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_VARIABLE = 128, LONGEST_LIST = 256, MOST_ELEMENTS = 16 };

static const char prefix[] = "PIECEMEAL_";

void pm_config_init(struct pm_config *config)
{
    *config = (struct pm_config){
        .sampler = {.window_probability = 0.0001,
                    .window_frames = 1024,
                    .api_probability = 0.01,
                    .batch = 8,
                    .uniformity = true,
                    .follow = true,
                    .kinds = PM_KIND_BITS_ALL},
        .optimize = {.zero = true,
                     .blocks = true,
                     .block_passes = PM_BLOCK_PASS_BITS_ALL,
                     .variants = false,
                     .constants = true,
                     .float_zero = PM_FLOAT_ZERO_SHADER,
                     .agreeing_sessions = 2,
                     .retry_share = 0.05,
                     .doubt_share = 0.05,
                     .uniform_share = PM_UNIFORM_SHARE},
        .limits = {.compile_threads = 1,
                   .counter_memory_mib = 8,
                   .scratch_mib = 64,
                   .spool_mib = 64,
                   .shader_store_mib = 256,
                   .pipeline_cache_mib = 64,
                   .variants = 256,
                   .variants_per_minute = 240,
                   .creation_ms = 20,
                   .loading_ms = 200,
                   .proven_ms_per_pipeline = 2,
                   .proven_ms_per_second = 20,
                   .predicates = 16384,
                   .synchronous_words = 256u << 10,
                   .first_draw_words = 16384,
                   .background_share = PM_BACKGROUND_SHARE,
                   .trial_share = 0.005},
        .log = {.level = PM_LOG_WARNING},
        .ab = {.frames = 32},
        .debug = {.checkpoint_heartbeats = 64, .settle_seconds = 600},
    };
}

void pm_config_finish(struct pm_config *config)
{
    for (const struct pm_config_entry *entry = pm_config_entries; entry->key; entry++) {
        if (!pm_config_is_string(entry))
            continue;
        char **string = (char **)(void *)((char *)config + entry->offset);
        free(*string);
        *string = NULL;
    }
}

/* Is the text a JSON number? */
static bool is_number(const char *text)
{
    struct pm_json_text json = {"", text, strlen(text)};
    return (text[0] == '-' || isdigit((unsigned char)text[0])) &&
           !isspace((unsigned char)text[json.size - 1]) && pm_json_check(&json, NULL);
}

/* Splits "block,zero" in place. */
static size_t split(char *text, const char *list[static MOST_ELEMENTS])
{
    size_t count = 0;
    char *rest = text[0] ? text : NULL;
    while (rest && count < MOST_ELEMENTS)
        list[count++] = strsep(&rest, ",");
    return count;
}

/* On failure the message says only what is wrong with the value. */
static bool set_text(struct pm_config *config, const struct pm_config_entry *entry,
                     const char *text, struct pm_error *error)
{
    struct pm_config_value value = {.type = PM_VALUE_STRING, .text = text};
    char copy[LONGEST_LIST];
    const char *list[MOST_ELEMENTS];
    switch (entry->type) {
    case PM_CONFIG_BOOLEAN:
    case PM_CONFIG_CONSENT:
        value.boolean = strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
        if (value.boolean || strcmp(text, "false") == 0 || strcmp(text, "0") == 0)
            value.type = PM_VALUE_BOOLEAN;
        break;
    case PM_CONFIG_PROBABILITY:
    case PM_CONFIG_COUNT:
    case PM_CONFIG_BATCH:
    case PM_CONFIG_SEED:
        if (is_number(text))
            value.type = PM_VALUE_NUMBER;
        break;
    case PM_CONFIG_LIST:
        if (strlen(text) >= sizeof(copy))
            return pm_fail(error, PM_ERROR_INPUT, "is too long");
        strcpy(copy, text);
        value.type = PM_VALUE_LIST;
        value.list = list;
        value.list_count = split(copy, list);
        break;
    case PM_CONFIG_STRING:
    case PM_CONFIG_GAME:
    case PM_CONFIG_NAME:
    case PM_CONFIG_CHOICE:
        break;
    }
    size_t bad;
    return pm_config_store(config, entry, &value, &bad, error);
}

bool pm_config_set(struct pm_config *config, const char *key, const char *value, const char *what,
                   struct pm_error *error)
{
    const struct pm_config_entry *entry = pm_config_find(key);
    if (!entry) {
        char near[LONGEST_VARIABLE];
        if (pm_config_nearest(key, false, near, sizeof(near)))
            return pm_fail(error, PM_ERROR_INPUT, "%s: unknown key \"%.96s\"; did you mean \"%s\"?",
                           what, key, near);
        return pm_fail(error, PM_ERROR_INPUT, "%s: unknown key \"%.96s\"", what, key);
    }
    struct pm_error why;
    if (!set_text(config, entry, value, &why))
        return pm_fail(error, why.code, "%s: %s: %s", what, key, why.message);
    return true;
}

bool pm_config_variable(const char *key, char *out, size_t size)
{
    size_t length = strlen(key);
    if (sizeof(prefix) + length > size)
        return false;
    memcpy(out, prefix, sizeof(prefix) - 1);
    char *to = out + sizeof(prefix) - 1;
    for (size_t i = 0; i <= length; i++) {
        char c = key[i];
        to[i] = c == '.' ? '_' : c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return true;
}

bool pm_config_apply_environment(struct pm_config *config, char *const *environment,
                                 struct pm_error *error)
{
    struct pm_config changed;
    if (!pm_config_copy(&changed, config))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for the configuration");
    for (const struct pm_config_entry *entry = pm_config_entries; entry->key; entry++) {
        char variable[LONGEST_VARIABLE];
        if (!pm_config_variable(entry->key, variable, sizeof(variable)))
            continue;
        size_t length = strlen(variable);
        /* Where a name occurs twice getenv takes the first, and so does this. */
        for (char *const *at = environment; at && *at; at++) {
            if (strncmp(*at, variable, length) != 0 || (*at)[length] != '=')
                continue;
            struct pm_error why;
            if (!set_text(&changed, entry, *at + length + 1, &why)) {
                pm_config_finish(&changed);
                return pm_fail(error, why.code, "%s in the environment: %s", variable, why.message);
            }
            break;
        }
    }
    struct pm_config old = *config;
    *config = changed;
    pm_config_finish(&old);
    return true;
}

char *pm_config_game_path(const char *game)
{
    char *safe = pm_file_safe_name(game), *name = NULL, *path = NULL;
    if (safe && asprintf(&name, "%s.json", safe) >= 0)
        path = pm_place_path(PM_PLACE_CONFIG, name);
    else
        name = NULL;
    free(name);
    free(safe);
    return path;
}

char *pm_config_shared_path(const char *game)
{
    const size_t size = pm_shared_name_in(game);
    char *shared = size > 0 ? strndup(game, size) : NULL;
    char *path = shared ? pm_config_game_path(shared) : NULL;
    free(shared);
    return path;
}

static bool load_if_there(struct pm_config *config, const char *path, struct pm_error *error)
{
    if (!path)
        return pm_fail(error, PM_ERROR_MEMORY, "no place for the configuration");
    struct stat status;
    const bool absent = lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
    return absent || pm_config_load_file(config, path, error);
}

/* Of the name that it shares with others nothing but a consent that is withheld. A file that cannot
 * be read may be what withholds it. */
static bool inherit_consent(struct pm_config *config, const char *game, struct pm_error *error)
{
    if (pm_shared_name_in(game) == 0)
        return true;
    struct pm_config shared;
    pm_config_init(&shared);
    char *path = pm_config_shared_path(game);
    const bool loaded = load_if_there(&shared, path, error);
    config->consent_withheld |= !loaded || shared.consent_withheld;
    free(path);
    pm_config_finish(&shared);
    return loaded;
}

static bool load_own_file(struct pm_config *config, const char *game, struct pm_error *error)
{
    char *own = pm_config_game_path(game);
    /* Also where its own file is bad, which another config may stand for. */
    const bool inherited = inherit_consent(config, game, error);
    const bool loaded = load_if_there(config, own, inherited ? error : NULL);
    free(own);
    return loaded && inherited;
}

bool pm_config_load_game(struct pm_config *config, const char *game, struct pm_error *error)
{
    const char *named = secure_getenv("PIECEMEAL_CONFIG");
    const bool loaded = named && named[0] != '\0' ? pm_config_load_file(config, named, error)
                                                  : !game || load_own_file(config, game, error);
    return loaded && pm_config_apply_environment(config, environ, error);
}

bool pm_config_load_waiting(struct pm_config *config, const char *game, char *const *environment,
                            struct pm_error *error)
{
    return load_own_file(config, game, error) &&
           pm_config_apply_environment(config, environment, error);
}

const char *pm_config_key(size_t index)
{
    size_t count = 0;
    while (pm_config_entries[count].key)
        count++;
    return index < count ? pm_config_entries[index].key : NULL;
}
