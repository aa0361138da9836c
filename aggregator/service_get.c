/* Answers: JSON, and databases, whose bodies all connections share. */
#include "aggregator/service_private.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAMES "/v1/games"
#define DATABASE "/database"
#define BODY_CAP ((size_t)1 << 30)
#define NAME_CAP 1024

/* ---- JSON ---- */

enum MHD_Result pm_http_answer_json(struct MHD_Connection *connection, unsigned status,
                                    const char *json)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(json), (void *)(uintptr_t)json, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static char *error_text(const char *message)
{
    char *text = NULL;
    cJSON *object = cJSON_CreateObject();
    if (object && cJSON_AddStringToObject(object, "error", message))
        text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

enum MHD_Result pm_http_answer_error(struct MHD_Connection *connection, unsigned status,
                                     const char *message, unsigned retry_seconds)
{
    enum MHD_Result result = MHD_NO;
    char seconds[16];
    char *text = error_text(message);
    struct MHD_Response *response =
        text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY) : NULL;
    if (response) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
        if (status == MHD_HTTP_UNAUTHORIZED)
            MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
        if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
            MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
        if (retry_seconds > 0) {
            snprintf(seconds, sizeof(seconds), "%u", retry_seconds);
            MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, seconds);
        }
        result = MHD_queue_response(connection, status, response);
        MHD_destroy_response(response);
    }
    cJSON_free(text);
    return result;
}

/* ---- health and games ---- */

static enum MHD_Result answer_health(struct pm_service *service, struct MHD_Connection *connection)
{
    pthread_mutex_lock(&service->mutex);
    const bool failed = service->commit_failed;
    pthread_mutex_unlock(&service->mutex);
    if (failed)
        return pm_http_answer_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                    "the last uploads could not be stored; the log says why", 0);
    return pm_http_answer_json(connection, MHD_HTTP_OK, "{\"status\":\"ok\"}");
}

static bool add_game(void *user, const char *name, uint64_t uploads, struct pm_error *error)
{
    cJSON *games = user, *game = cJSON_CreateObject();
    if (game && cJSON_AddStringToObject(game, "name", name) &&
        cJSON_AddNumberToObject(game, "uploads", (double)uploads) &&
        cJSON_AddItemToArray(games, game))
        return true;
    cJSON_Delete(game);
    return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a list of games");
}

static enum MHD_Result answer_games(struct pm_service *service, struct MHD_Connection *connection)
{
    struct pm_storage *storage = pm_aggregator_storage(service->aggregator);
    struct pm_error error = {0};
    char *text = NULL;
    cJSON *object = cJSON_CreateObject(), *games = cJSON_AddArrayToObject(object, "games");
    if (games && storage->operations->list_games(storage, add_game, games, &error))
        text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    if (!text) {
        pm_log_error(service->log, "cannot list the games: %s", error.message);
        return pm_http_answer_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                    "the games cannot be listed; the log says why", 0);
    }
    const enum MHD_Result result = pm_http_answer_json(connection, MHD_HTTP_OK, text);
    cJSON_free(text);
    return result;
}

/* ---- databases ---- */

/* RFC 9110, 13.1.2: a list of entity tags, or *; the weak comparison. */
static bool matches(const char *condition, const char *etag)
{
    const size_t length = strlen(etag);
    if (!condition)
        return false;
    while (*condition) {
        condition += strspn(condition, " \t,");
        if (*condition == '*')
            return true;
        if (strncmp(condition, "W/", 2) == 0)
            condition += 2;
        if (*condition == '"' && strncmp(condition + 1, etag, length) == 0 &&
            condition[1 + length] == '"')
            return true;
        condition += strcspn(condition, ",");
    }
    return false;
}

static struct MHD_Response *make_response(struct pm_buffer *body, const char *etag)
{
    char quoted[PM_ETAG_TEXT + 2];
    snprintf(quoted, sizeof(quoted), "\"%s\"", etag);
    struct MHD_Response *response =
        body ? MHD_create_response_from_buffer(body->size, body->data, MHD_RESPMEM_MUST_FREE)
             : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return NULL;
    if (body)
        *body = (struct pm_buffer){.cap = body->cap}; /* the response frees it */
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, quoted);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    if (body)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/zstd");
    return response;
}

/* The slot of the game, or the one used longest ago. */
static struct pm_cached_database *cache_slot(struct pm_service *service, const char *game)
{
    struct pm_cached_database *oldest = &service->cache[0];
    for (size_t i = 0; i < PM_CACHED_DATABASES; i++) {
        struct pm_cached_database *slot = &service->cache[i];
        if (slot->game && strcmp(slot->game, game) == 0)
            return slot;
        if (slot->used < oldest->used)
            oldest = slot;
    }
    return oldest;
}

static void cache_clear(struct pm_cached_database *slot)
{
    free(slot->game);
    if (slot->response)
        MHD_destroy_response(slot->response);
    memset(slot, 0, sizeof(*slot));
}

/* Queues the body that is current; one lock holds for all, so that a body that many ask for is read
 * once. */
static bool queue_database(struct pm_service *service, struct MHD_Connection *connection,
                           const char *game, enum MHD_Result *result, struct pm_error *error)
{
    char etag[PM_ETAG_TEXT];
    struct pm_buffer body;
    bool done = true;
    pm_buffer_init(&body, BODY_CAP);
    pthread_mutex_lock(&service->cache_mutex);
    struct pm_cached_database *slot = cache_slot(service, game);
    done = pm_aggregator_database(service->aggregator, game, etag, NULL, error);
    if (done && (!slot->game || strcmp(slot->game, game) != 0 || strcmp(slot->etag, etag) != 0)) {
        cache_clear(slot);
        done = pm_aggregator_database(service->aggregator, game, slot->etag, &body, error);
        if (done) {
            slot->game = strdup(game);
            slot->response = make_response(&body, slot->etag);
            if (!slot->game || !slot->response) {
                cache_clear(slot);
                done = pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database");
            }
        }
    }
    if (done) {
        slot->used = ++service->cache_uses;
        *result = MHD_queue_response(connection, MHD_HTTP_OK, slot->response);
    }
    pthread_mutex_unlock(&service->cache_mutex);
    pm_buffer_finish(&body);
    return done;
}

static enum MHD_Result answer_database(struct pm_service *service,
                                       struct MHD_Connection *connection, const char *game)
{
    char etag[PM_ETAG_TEXT];
    struct pm_error error = {0};
    enum MHD_Result result = MHD_NO;
    const char *condition =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
    bool done = pm_aggregator_database(service->aggregator, game, etag, NULL, &error);
    if (done && matches(condition, etag)) {
        struct MHD_Response *response = make_response(NULL, etag);
        if (!response)
            return MHD_NO;
        result = MHD_queue_response(connection, MHD_HTTP_NOT_MODIFIED, response);
        MHD_destroy_response(response);
        return result;
    }
    if (done && queue_database(service, connection, game, &result, &error))
        return result;
    if (error.code == PM_ERROR_STATE)
        return pm_http_answer_error(connection, MHD_HTTP_NOT_FOUND, error.message, 0);
    pm_log_error(service->log, "cannot read the database of \"%s\": %s", game, error.message);
    return pm_http_answer_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                "the database cannot be read; the log says why", 0);
}

enum MHD_Result pm_get_answer(struct pm_service *service, struct MHD_Connection *connection,
                              const char *url)
{
    char game[NAME_CAP];
    if (strcmp(url, "/healthz") == 0)
        return answer_health(service, connection);
    if (strcmp(url, GAMES) == 0)
        return answer_games(service, connection);
    /* The name may itself have slashes, once it is unescaped. */
    const size_t length = strlen(url), around = strlen(GAMES "/") + strlen(DATABASE);
    if (length > around && length - around < sizeof(game) &&
        strncmp(url, GAMES "/", strlen(GAMES "/")) == 0 &&
        strcmp(url + length - strlen(DATABASE), DATABASE) == 0) {
        memcpy(game, url + strlen(GAMES "/"), length - around);
        game[length - around] = 0;
        return answer_database(service, connection, game);
    }
    return pm_http_answer_error(connection, MHD_HTTP_NOT_FOUND, "there is nothing at this path", 0);
}

void pm_get_finish(struct pm_service *service)
{
    for (size_t i = 0; i < PM_CACHED_DATABASES; i++)
        cache_clear(&service->cache[i]);
}
