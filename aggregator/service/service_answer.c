#include "aggregator/service/service_answer.h"

#include "aggregator/service/service_rules.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

static void add_headers(struct MHD_Response *response, unsigned status, const char *rules)
{
    if (rules)
        MHD_add_response_header(response, PM_RULES_HEADER, rules);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (status == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
}

enum MHD_Result pm_http_answer_json(struct MHD_Connection *connection, unsigned status,
                                    const char *json, const char *rules)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(json), (void *)(uintptr_t)json, MHD_RESPMEM_MUST_COPY);
    if (!response)
        return MHD_NO;
    add_headers(response, status, rules);
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static char *error_text(const char *message, const char *field)
{
    char *text = NULL;
    cJSON *object = cJSON_CreateObject();
    if (object && cJSON_AddStringToObject(object, "error", message) &&
        (!field || cJSON_AddStringToObject(object, "field", field)))
        text = cJSON_PrintUnformatted(object);
    cJSON_Delete(object);
    return text;
}

enum MHD_Result pm_http_answer_field(struct MHD_Connection *connection, unsigned status,
                                     const char *message, const char *field, unsigned retry_seconds,
                                     const char *rules)
{
    enum MHD_Result result = MHD_NO;
    char seconds[16];
    char *text = error_text(message, field);
    struct MHD_Response *response =
        text ? MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY) : NULL;
    if (response) {
        add_headers(response, status, rules);
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

enum MHD_Result pm_http_answer_error(struct MHD_Connection *connection, unsigned status,
                                     const char *message, unsigned retry_seconds)
{
    return pm_http_answer_field(connection, status, message, NULL, retry_seconds, NULL);
}

enum MHD_Result pm_http_answer_unread(struct MHD_Connection *connection,
                                      const struct pm_error *error, const char *message)
{
    const bool away = error->code == PM_ERROR_NETWORK;
    return pm_http_answer_error(
        connection, away ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_INTERNAL_SERVER_ERROR, message,
        away ? PM_HTTP_RETRY_SECONDS : 0);
}

bool pm_http_matches(const char *condition, const char *etag)
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
