#include "aggregator_client/sync_verdicts.h"

#include "aggregator_client/disk/database_cache.h"
#include "aggregator_client/signature.h"
#include "base/file.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HTTP_OK 200
#define HTTP_NOT_FOUND 404

/* Of the file that is there; 0: there is none that is signed with the key. */
static uint64_t serial_of(const struct pm_config *config, const char *path, struct pm_arena *arena)
{
    struct pm_signed_verdicts there;
    struct pm_buffer text;
    uint64_t serial = 0;
    pm_buffer_init(&text, PM_SIGNED_VERDICTS_BYTES);
    if (access(path, F_OK) == 0 && pm_file_read(path, &text, NULL) &&
        pm_signed_verdicts_read((const char *)text.data, text.size, arena, &there, NULL) &&
        pm_signature_check(config->aggregator.verdict_key_file, text.data, there.signed_bytes,
                           there.signature, NULL))
        serial = there.serial;
    pm_buffer_finish(&text);
    return serial;
}

static bool is_good(const struct pm_config *config, const struct pm_buffer *body, const char *game,
                    const char *path, struct pm_arena *arena, struct pm_error *error)
{
    struct pm_signed_verdicts verdicts;
    if (!pm_signed_verdicts_read((const char *)body->data, body->size, arena, &verdicts, error) ||
        !pm_signature_check(config->aggregator.verdict_key_file, body->data, verdicts.signed_bytes,
                            verdicts.signature, error))
        return false;
    if (strcmp(verdicts.game, game) != 0)
        return pm_fail(error, PM_ERROR_INPUT, "they are of another game, \"%.100s\"",
                       verdicts.game);
    if (verdicts.expires <= (uint64_t)time(NULL))
        return pm_fail(error, PM_ERROR_INPUT, "they have ended");
    const uint64_t serial = serial_of(config, path, arena);
    return verdicts.serial >= serial ||
           pm_fail(error, PM_ERROR_INPUT,
                   "their serial, %" PRIu64 ", is before that of those here, %" PRIu64,
                   verdicts.serial, serial);
}

static bool take(const struct pm_config *config, const struct pm_http_answer *answer,
                 const char *game, const char *path, struct pm_error *error)
{
    if (answer->status == HTTP_NOT_FOUND)
        return true; /* nobody signed any; those that are here end by themselves */
    if (answer->status != HTTP_OK)
        return pm_answer_fail(answer, "pulling verdicts", error);
    if (answer->too_large)
        return pm_fail(error, PM_ERROR_INPUT, "more than %zu bytes", PM_SIGNED_VERDICTS_BYTES);
    struct pm_arena *arena = pm_arena_create(4 * PM_SIGNED_VERDICTS_BYTES);
    const bool done = (arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
                      is_good(config, &answer->body, game, path, arena, error) &&
                      pm_file_write(path, answer->body.data, answer->body.size, error);
    pm_arena_destroy(arena);
    return done;
}

struct others {
    const char *path;
    size_t stem; /* of its length, up to the hash */
};

/* Removes a file of the game's that another key signed. */
static void remove_other(void *user, const char *path)
{
    const struct others *others = user;
    const size_t length = strlen(path);
    const char *hash = path + others->stem;
    if (strcmp(path, others->path) != 0 && length == strlen(others->path) &&
        strncmp(path, others->path, others->stem) == 0 &&
        hash + strspn(hash, "0123456789abcdef") == path + length - strlen(PM_VERDICTS_SUFFIX))
        unlink(path);
}

/* What was signed with the key that was configured before. */
static void remove_others(const char *path)
{
    struct others others = {path, strlen(path) - strlen(PM_VERDICTS_SUFFIX)};
    while (others.stem > 0 && path[others.stem - 1] != '.')
        others.stem--;
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path)), *before = NULL;
    if (folder)
        pm_folder_each(folder, PM_VERDICTS_SUFFIX, remove_other, &others);
    /* Earlier versions had one name for all keys. */
    if (asprintf(&before, "%.*s%s", (int)others.stem - 1, path, PM_VERDICTS_SUFFIX) >= 0) {
        unlink(before);
        free(before);
    }
    free(folder);
}

void pm_sync_pull_verdicts(const struct pm_sync_info *info, const struct pm_config *config,
                           struct pm_http *http, const struct pm_retry *retry, const char *game)
{
    struct pm_http_answer answer = {0};
    struct pm_error error = {0};
    const uint32_t left = pm_retry_left(retry);
    char *escaped = NULL, *target = NULL, *path = NULL;
    if (!config->aggregator.verdict_key_file || left == 0)
        return;
    escaped = pm_http_escape(game);
    path = pm_verdicts_cache_path(game, config->aggregator.verdict_key_file, &error);
    bool done = path != NULL;
    if (done)
        remove_others(path);
    if (done && (!escaped || asprintf(&target, "/v1/games/%s/verdicts", escaped) < 0)) {
        target = NULL;
        done = pm_fail(&error, PM_ERROR_MEMORY, "out of memory");
    }
    done =
        done &&
        pm_http_request(http, target, NULL, "", PM_SIGNED_VERDICTS_BYTES, left, &answer, &error) &&
        take(config, &answer, game, path, &error);
    if (!done)
        pm_log_warning(info->log, "the verdicts on \"%.100s\" are not taken: %s", game,
                       error.message);
    pm_buffer_finish(&answer.body);
    free(escaped);
    free(target);
    free(path);
}
