#include "aggregator_client/disk/database_cache.h"
#include "aggregator_client/sync.h"
#include "aggregator_client/sync_races.h"
#include "aggregator_client/sync_verdicts.h"
#include "base/file.h"
#include "base/names.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_TAG = 256 };

/* The first checkpoint tells a session's game; the others need not be read. */
static bool take_game(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    pm_names_add(user, checkpoint->game);
    return pm_fail(error, PM_OK, "enough");
}

static void names_of_spool(struct pm_names *names, const char *folder)
{
    struct pm_spool_session *sessions;
    size_t count;
    if (!pm_spool_list(folder, &sessions, &count, NULL))
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t damaged_at;
        pm_spool_read(sessions[i].path, take_game, names, &damaged_at, NULL);
    }
    pm_spool_list_free(sessions, count);
}

/* Decodes the body in a file; its game goes to *game (malloc'ed). */
static bool decode_file(const char *path, char **game)
{
    struct pm_buffer body;
    struct pm_database database;
    struct pm_arena *arena = pm_arena_create(PM_DATABASE_MEMORY_BYTES);
    pm_buffer_init(&body, PM_DATABASE_BODY_BYTES);
    *game = NULL;
    if (arena && pm_file_read(path, &body, NULL) &&
        pm_database_body_decode(body.data, body.size, arena, &database, NULL))
        *game = strdup(database.game);
    pm_buffer_finish(&body);
    pm_arena_destroy(arena);
    return *game != NULL;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);
    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

/* The name that pm_game_remember wrote; malloc'ed, NULL when the file is not one of its. */
static char *read_name(const char *path)
{
    struct pm_buffer text;
    char *name = NULL;
    pm_buffer_init(&text, pm_profile_limits_default.name_bytes);
    if (pm_file_read(path, &text, NULL) && text.size > 0 && strlen((char *)text.data) == text.size)
        name = strdup((char *)text.data);
    pm_buffer_finish(&text);
    return name;
}

static void names_of_cache(struct pm_names *names, const char *folder)
{
    DIR *directory = opendir(folder);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char *path = NULL, *game = NULL;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
            continue;
        if (has_suffix(entry->d_name, PM_GAME_SUFFIX))
            game = read_name(path);
        else if (has_suffix(entry->d_name, ".pmdb"))
            decode_file(path, &game);
        if (game)
            pm_names_add(names, game);
        free(game);
        free(path);
    }
    if (directory)
        closedir(directory);
}

/* The ETag of the cached body, "" when there is none or the body would not be usable. */
static void cached_tag(const char *path, const char *tag_path, const char *game,
                       char tag[static LARGEST_TAG])
{
    struct pm_buffer text;
    char *cached = NULL;
    pm_buffer_init(&text, LARGEST_TAG - 1);
    tag[0] = '\0';
    if (access(tag_path, F_OK) == 0 && pm_file_read(tag_path, &text, NULL) && text.size > 0 &&
        decode_file(path, &cached) && strcmp(cached, game) == 0)
        snprintf(tag, LARGEST_TAG, "%s", (char *)text.data);
    free(cached);
    pm_buffer_finish(&text);
}

/* The old tag goes first: a body without a tag is asked for again, one with a wrong tag would never
 * be. */
static bool replace(const char *path, const char *tag_path, const struct pm_http_answer *answer,
                    struct pm_error *error)
{
    unlink(tag_path);
    return pm_file_write(path, answer->body.data, answer->body.size, error) &&
           pm_database_cache_pack(path, error) &&
           (answer->etag[0] == '\0' ||
            pm_file_write(tag_path, answer->etag, strlen(answer->etag), error));
}

/* *again: what came is not what was sent, or not the aggregator's. What is whole and cannot be read
 * is the same when it comes again, and says nothing of other games (PM_ERROR_INPUT). */
static bool check_body(const struct pm_http_answer *answer, const char *game, bool *again,
                       struct pm_error *error)
{
    struct pm_database database;
    struct pm_buffer raw;
    struct pm_arena *arena = pm_arena_create(PM_DATABASE_MEMORY_BYTES);
    pm_buffer_init(&raw, PM_DATABASE_BYTES);
    *again = false;
    bool good = arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (good && answer->too_large)
        good = pm_fail(error, PM_ERROR_INPUT, "more than %zu bytes", PM_DATABASE_BODY_BYTES);
    if (good && !pm_decompress(answer->body.data, answer->body.size, &raw, error)) {
        good = false;
        *again = !error || error->code == PM_ERROR_INPUT;
    }
    good = good && pm_database_decode(raw.data ? (const void *)raw.data : "", raw.size, arena,
                                      &database, error);
    if (good && strcmp(database.game, game) != 0) {
        good = pm_fail(error, PM_ERROR_NETWORK, "it is of another game, \"%.100s\"", database.game);
        *again = true;
    }
    pm_buffer_finish(&raw);
    pm_arena_destroy(arena);
    if (!good && error && error->code != PM_ERROR_MEMORY)
        error->code = *again ? PM_ERROR_NETWORK : PM_ERROR_INPUT;
    return good || pm_fail_prefix(error, "the aggregator's database of \"%.100s\"", game);
}

static void note_not_pulled(struct pm_sync_report *report, const char *format, const char *game)
    __attribute__((format(printf, 2, 0)));
static void note_not_pulled(struct pm_sync_report *report, const char *format, const char *game)
{
    if (report->not_pulled[0] == '\0')
        snprintf(report->not_pulled, sizeof(report->not_pulled), format, game);
}

/* What an answer means; *again: another try may help. */
static bool take_answer(const struct pm_http_answer *answer, const char *game, const char *path,
                        const char *tag_path, struct pm_sync_report *report, bool *again,
                        struct pm_error *error)
{
    *again = false;
    if (answer->status == 304) {
        report->database_unchanged = true;
        return true;
    }
    if (answer->status == 404) {
        note_not_pulled(report, "the aggregator knows nothing of \"%.400s\" yet", game);
        return true;
    }
    if (answer->status == 200) {
        /* Cut short or mangled on its way, or somebody else's page. */
        if (!check_body(answer, game, again, error) || !replace(path, tag_path, answer, error))
            return false;
        report->database_pulled = true;
        return true;
    }
    *again = pm_answer_is_temporary(answer);
    return pm_answer_fail(answer, "pulling the database", error);
}

static bool request(const struct pm_sync_info *info, struct pm_http *http, struct pm_retry *retry,
                    const char *game, const char *path, const char *tag_path,
                    struct pm_sync_report *report, struct pm_error *error)
{
    char tag[LARGEST_TAG];
    char *escaped = pm_http_escape(game), *target = NULL;
    if (!escaped || asprintf(&target, "/v1/games/%s/database", escaped) < 0) {
        free(escaped);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    cached_tag(path, tag_path, game, tag);
    pm_retry_restart(retry);
    bool done = false, again = true;
    while (again) {
        struct pm_http_answer answer;
        struct pm_error why = {0};
        uint32_t left = pm_retry_left(retry);
        if (left == 0) {
            pm_fail(error, PM_ERROR_NETWORK, "pulling the database: no time is left");
            break;
        }
        if (pm_http_request(http, target, NULL, tag, PM_DATABASE_BODY_BYTES, left, &answer, &why))
            done = take_answer(&answer, game, path, tag_path, report, &again, &why);
        else
            again = why.code == PM_ERROR_NETWORK;
        if (!done && error)
            *error = why;
        uint32_t wait = answer.retry_after;
        pm_buffer_finish(&answer.body);
        if (again)
            pm_log_info(info->log, "%s", why.message);
        again = again && pm_retry_sleep(retry, wait);
    }
    free(escaped);
    free(target);
    return done;
}

/* What lies beside the database; without it a game runs as well. Races are for who takes part. */
static void pull_besides(const struct pm_sync_info *info, const struct pm_game_settings *settings,
                         struct pm_http *http, const struct pm_retry *retry, const char *game)
{
    struct pm_error why = {0};
    bool takes;
    enum pm_trouble trouble;
    pm_sync_pull_verdicts(info, settings->server, http, retry, game);
    if ((settings->own.optimize.variants || settings->server->optimize.variants) &&
        !pm_sync_pull_races(info, http, retry, game, &takes, &trouble, &why))
        pm_log_info(info->log, "the races of \"%.100s\" are not taken: %s", game, why.message);
}

static bool pull_game(const struct pm_sync_info *info, struct pm_http **http,
                      struct pm_retry *retry, const char *game, struct pm_sync_report *report,
                      struct pm_error *error)
{
    struct pm_game_settings settings;
    if (!pm_game_settings_init(&settings, info, game, error))
        return false;
    char *path = pm_database_cache_path(game), *tag_path = NULL;
    bool pulled = true;
    if (!path || asprintf(&tag_path, "%s.etag", path) < 0) {
        tag_path = NULL;
        pulled = pm_fail(error, PM_ERROR_MEMORY, "no place for the cached database");
    } else if (!settings.server->aggregator.url) {
        note_not_pulled(report, "the config of \"%.400s\" has no aggregator.url", game);
    } else if (strcmp(settings.server->aggregator.url, report->away) != 0) {
        struct pm_error why = {0};
        pulled = pm_sync_http(http, settings.server, &why) &&
                 request(info, *http, retry, game, path, tag_path, report, &why);
        if (pulled)
            pull_besides(info, &settings, *http, retry, game);
        if (!pulled && why.code == PM_ERROR_NETWORK)
            snprintf(report->away, sizeof(report->away), "%s", settings.server->aggregator.url);
        if (!pulled && error)
            *error = why;
    }
    free(path);
    free(tag_path);
    pm_game_settings_finish(&settings);
    return pulled;
}

/* Read before each game: it may be revoked while a sync waits or is at work. */
static bool is_granted(struct pm_sync_report *report, bool *granted, struct pm_error *error)
{
    enum pm_consent consent;
    *granted = false;
    if (!pm_consent_read(&consent, error))
        return false;
    *granted = consent == PM_CONSENT_GRANTED;
    if (!*granted)
        note_not_pulled(report, "there is no consent: `piecemeal consent grant`%s", "");
    return true;
}

static bool pull_all(const struct pm_sync_info *info, const char *folder, struct pm_retry *retry,
                     struct pm_sync_report *report, struct pm_error *error)
{
    struct pm_names names = {0};
    struct pm_http *http = NULL;
    bool pulled = true;
    if (info->game) {
        pulled =
            pm_names_add(&names, info->game) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    } else {
        names_of_cache(&names, folder);
        names_of_spool(&names, info->spool_folder);
    }
    if (names.count == 0)
        note_not_pulled(report, "no game was uploaded or pulled here before (--game names one)%s",
                        "");
    bool granted = true;
    for (size_t i = 0; i < names.count && granted; i++) {
        struct pm_error why = {0};
        pm_retry_share(retry, i + 1 < names.count);
        if (is_granted(report, &granted, &why) &&
            (!granted || pull_game(info, &http, retry, names.names[i], report, &why)))
            continue;
        if (pulled && error)
            *error = why;
        else
            pm_log_error(info->log, "%s", why.message);
        pulled = false;
    }
    pm_http_destroy(http);
    pm_names_finish(&names);
    return pulled;
}

bool pm_sync_pull(const struct pm_sync_info *info, struct pm_sync_report *report,
                  struct pm_error *error)
{
    bool granted;
    const bool known = is_granted(report, &granted, error);
    if (!known || !granted)
        return known;
    char *folder = pm_place_path(PM_PLACE_CACHE, "databases"), *lock_path = NULL;
    bool pulled = false;
    struct pm_retry retry;
    pm_retry_init(&retry, info->deadline_seconds, info->retry_seconds);
    if (!folder || asprintf(&lock_path, "%s/.lock", folder) < 0) {
        lock_path = NULL;
        pm_fail(error, PM_ERROR_MEMORY, "no place for the cached databases");
    } else if (pm_make_folder(folder, error)) {
        int lock = pm_sync_lock(lock_path, &retry, error);
        if (lock >= 0) {
            /* pm_game_remember writes there without this lock, but not for long. */
            pm_file_remove_leftovers(folder, 60);
            pulled = pull_all(info, folder, &retry, report, error);
            close(lock);
        }
    }
    free(lock_path);
    free(folder);
    return pulled;
}
