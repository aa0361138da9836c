/* What the answers of the API are made with. */
#include "aggregator/dashboard/api.h"

#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_state.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUMMARY_RETRY_SECONDS 1

/* ---- parameters ---- */

static void blame(struct pm_params *params, const char *name, const char *message)
{
    if (params->field)
        return;
    params->field = name;
    snprintf(params->message, sizeof(params->message), "%s: %s", name, message);
}

static char *take_text(struct pm_params *params, const char *name)
{
    bool bad;
    char *text = pm_route_parameter(params->connection, name, &bad);
    if (bad)
        blame(params, name, "has a broken escape");
    return text;
}

uint64_t pm_params_number(struct pm_params *params, const char *name, uint64_t fallback,
                          uint64_t least, uint64_t most)
{
    char *text = take_text(params, name), message[96];
    if (!text)
        return fallback;
    errno = 0;
    const uint64_t value = strtoull(text, NULL, 10);
    if (!*text || strspn(text, "0123456789") != strlen(text) || errno || value < least ||
        value > most) {
        snprintf(message, sizeof(message), "must be a whole number from %llu to %llu",
                 (unsigned long long)least, (unsigned long long)most);
        blame(params, name, message);
    }
    free(text);
    return params->field ? fallback : value;
}

unsigned pm_params_choice(struct pm_params *params, const char *name, const char *const *choices)
{
    char *text = take_text(params, name), message[128] = "must be one of";
    unsigned choice = 0;
    if (!text)
        return 0;
    while (choices[choice] && strcmp(choices[choice], text) != 0)
        choice++;
    free(text);
    if (choices[choice])
        return choice;
    for (unsigned i = 0; choices[i]; i++) {
        const size_t length = strlen(message);
        snprintf(message + length, sizeof(message) - length, "%s %s", i > 0 ? "," : "", choices[i]);
    }
    blame(params, name, message);
    return 0;
}

char *pm_params_text(struct pm_params *params, const char *name)
{
    char *text = take_text(params, name);
    if (text && !*text) {
        free(text);
        text = NULL;
    }
    return text;
}

struct pm_page pm_params_page(struct pm_params *params)
{
    struct pm_page page;
    page.limit = pm_params_number(params, "limit", PM_API_LIMIT, 1, PM_API_MOST_ITEMS);
    page.offset = pm_params_number(params, "offset", 0, 0, UINT32_MAX);
    return page;
}

enum MHD_Result pm_api_refuse(struct pm_get *get, const struct pm_params *params)
{
    return pm_http_answer_field(get->connection, MHD_HTTP_BAD_REQUEST, params->message,
                                params->field, 0, NULL);
}

/* ---- answers ---- */

void pm_json_init(struct pm_json *json)
{
    json->root = cJSON_CreateObject();
    json->failed = !json->root;
}

cJSON *pm_json_object(struct pm_json *json, cJSON *parent, const char *name)
{
    cJSON *object = cJSON_AddObjectToObject(parent, name);
    json->failed |= !object;
    return object;
}

cJSON *pm_json_array(struct pm_json *json, cJSON *parent, const char *name)
{
    cJSON *array = cJSON_AddArrayToObject(parent, name);
    json->failed |= !array;
    return array;
}

cJSON *pm_json_item(struct pm_json *json, cJSON *array)
{
    cJSON *object = cJSON_CreateObject();
    if (!object || !cJSON_AddItemToArray(array, object)) {
        cJSON_Delete(object);
        object = NULL;
        json->failed = true;
    }
    return object;
}

void pm_json_number(struct pm_json *json, cJSON *object, const char *name, double value)
{
    json->failed |= !cJSON_AddNumberToObject(object, name, value);
}

void pm_json_text(struct pm_json *json, cJSON *object, const char *name, const char *value)
{
    json->failed |= !cJSON_AddStringToObject(object, name, value);
}

void pm_json_flag(struct pm_json *json, cJSON *object, const char *name, bool value)
{
    json->failed |= !cJSON_AddBoolToObject(object, name, value);
}

void pm_json_null(struct pm_json *json, cJSON *object, const char *name)
{
    json->failed |= !cJSON_AddNullToObject(object, name);
}

void pm_json_page(struct pm_json *json, const struct pm_page *page, uint64_t total)
{
    pm_json_number(json, json->root, "total", (double)total);
    pm_json_number(json, json->root, "limit", (double)page->limit);
    pm_json_number(json, json->root, "offset", (double)page->offset);
}

enum MHD_Result pm_json_answer(struct pm_get *get, struct pm_json *json)
{
    char *text = json->failed ? NULL : cJSON_PrintUnformatted(json->root);
    cJSON_Delete(json->root);
    const enum MHD_Result result =
        text ? pm_http_answer_json(get->connection, MHD_HTTP_OK, text, NULL)
             : pm_http_answer_error(get->connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                    "out of memory for an answer", 0);
    cJSON_free(text);
    return result;
}

/* ---- summaries ---- */

struct pm_summary *pm_api_summary(struct pm_get *get, const struct pm_params *params,
                                  enum MHD_Result *result)
{
    struct pm_service *service = get->service;
    struct pm_storage *storage = pm_aggregator_storage(service->aggregator);
    const char *game = get->names[0];
    struct pm_error error;
    uint64_t uploads;
    bool known;
    if (params->field) {
        *result = pm_api_refuse(get, params);
        return NULL;
    }
    struct pm_summary *summary = pm_summaries_find(&service->summaries, game);
    if (summary)
        return summary;
    if (!storage->operations->find_game(storage, game, &known, &uploads, &error)) {
        pm_log_error(service->log, "cannot look up a game: %s", error.message);
        *result = pm_http_answer_unread(get->connection, &error,
                                        "the games cannot be read; the log says why");
        return NULL;
    }
    if (!known) {
        *result =
            pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND, "this game is not known", 0);
        return NULL;
    }
    pm_curate_want(service, game);
    *result = pm_http_answer_error(get->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                   "the game is being read; try again in a moment",
                                   SUMMARY_RETRY_SECONDS);
    return NULL;
}
