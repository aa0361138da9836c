#include "aggregator_client/sync_races.h"

#include "aggregator_client/disk/database_cache.h"
#include "base/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HTTP_OK 200
#define HTTP_NOT_MODIFIED 304
#define HTTP_NOT_FOUND 404

enum { LARGEST_TAG = 256 };

/* The ETag of what is there and can be read; else "". */
static void read_tag(const char *game, const char *tag_path, char tag[static LARGEST_TAG])
{
    struct pm_buffer text;
    struct pm_races races;
    struct pm_arena *arena = pm_arena_create(PM_RACES_MEMORY_BYTES);
    pm_buffer_init(&text, LARGEST_TAG - 1);
    tag[0] = '\0';
    if (arena && access(tag_path, F_OK) == 0 && pm_file_read(tag_path, &text, NULL) &&
        text.size > 0 && pm_races_cache_load(game, arena, &races, NULL))
        snprintf(tag, LARGEST_TAG, "%s", (const char *)text.data);
    pm_buffer_finish(&text);
    pm_arena_destroy(arena);
}

static bool keep(const struct pm_http_answer *answer, const char *game, const char *path,
                 const char *tag_path, struct pm_error *error)
{
    struct pm_races races;
    struct pm_arena *arena = pm_arena_create(PM_RACES_MEMORY_BYTES);
    bool done = arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (done && answer->too_large)
        done = pm_fail(error, PM_ERROR_INPUT, "more than %zu bytes", PM_RACES_BODY_BYTES);
    done = done &&
           pm_races_body_decode(answer->body.data, answer->body.size, arena, &races, error) &&
           (strcmp(races.game, game) == 0 ||
            pm_fail(error, PM_ERROR_INPUT, "they are of another game, \"%.100s\"", races.game));
    pm_arena_destroy(arena);
    if (!done)
        return false;
    /* Before the first pull there is no folder. */
    char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));
    done = (folder || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
           pm_make_folder(folder, error);
    free(folder);
    if (!done)
        return false;
    /* The old tag goes first: a body without one is asked for again. */
    unlink(tag_path);
    return pm_file_write(path, answer->body.data, answer->body.size, error) &&
           (answer->etag[0] == '\0' ||
            pm_file_write(tag_path, answer->etag, strlen(answer->etag), error));
}

static bool take(const struct pm_sync_info *info, const struct pm_http_answer *answer,
                 const char *game, const char *path, const char *tag_path, bool *takes,
                 struct pm_error *error)
{
    struct pm_error why = {0};
    switch (answer->status) {
    case HTTP_NOT_FOUND: /* an older one */
        return true;
    case HTTP_NOT_MODIFIED:
        return *takes = true;
    case HTTP_OK:
        if (keep(answer, game, path, tag_path, &why))
            return *takes = true;
        if (why.code == PM_ERROR_IO) {
            pm_log_warning(info->log, "the races of \"%.100s\" are not kept: %s", game,
                           why.message);
            return *takes = true;
        }
        /* Somebody's page, or a server's that is newer. */
        return pm_fail(error, PM_ERROR_NETWORK, "the aggregator's races of \"%.100s\": %s", game,
                       why.message);
    default: /* a token that is no good, or who stands between: it says nothing of races */
        return pm_answer_fail(answer, "pulling races", error);
    }
}

bool pm_sync_pull_races(const struct pm_sync_info *info, struct pm_http *http,
                        const struct pm_retry *retry, const char *game, bool *takes,
                        enum pm_trouble *trouble, struct pm_error *error)
{
    struct pm_http_answer answer = {0};
    char tag[LARGEST_TAG];
    const uint32_t left = pm_retry_left(retry);
    char *escaped = pm_http_escape(game), *path = pm_races_cache_path(game);
    char *target = NULL, *tag_path = NULL;
    *takes = false;
    if (!escaped || asprintf(&target, "/v1/games/%s/races", escaped) < 0)
        target = NULL;
    if (!path || asprintf(&tag_path, "%s.etag", path) < 0)
        tag_path = NULL;
    bool done = (target && tag_path) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (done && left == 0)
        done = pm_fail(error, PM_ERROR_NETWORK, "pulling races: no time is left");
    *trouble = PM_TROUBLE_SERVER;
    if (done) {
        read_tag(game, tag_path, tag);
        done =
            pm_http_request(http, target, NULL, tag, PM_RACES_BODY_BYTES, left, &answer, error) &&
            take(info, &answer, game, path, tag_path, takes, error);
        if (!done && answer.status != 0)
            *trouble = answer.status == HTTP_OK ? PM_TROUBLE_UPLOAD : pm_answer_trouble(&answer);
    }
    pm_buffer_finish(&answer.body);
    free(escaped);
    free(target);
    free(path);
    free(tag_path);
    return done;
}
