/* Answers in JSON, and which path is whose. */
#include "aggregator/service_private.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAMES "/v1/games"

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

enum MHD_Result pm_get_answer(struct pm_service *service, struct MHD_Connection *connection,
                              const char *url)
{
    enum MHD_Result result;
    if (strcmp(url, "/healthz") == 0)
        return answer_health(service, connection);
    if (strcmp(url, GAMES) == 0)
        return answer_games(service, connection);
    if (strncmp(url, GAMES "/", strlen(GAMES "/")) == 0 &&
        pm_database_answer(service, connection, url + strlen(GAMES "/"), &result))
        return result;
    return pm_http_answer_error(connection, MHD_HTTP_NOT_FOUND, "there is nothing at this path", 0);
}
