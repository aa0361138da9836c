/* The API: uploads that cannot be, and why. */
#include "aggregator/dashboard/api.h"

#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_state.h"
#include <stdlib.h>

struct entries {
    struct pm_json json;
    cJSON *array;
    struct pm_page page;
    uint64_t count;
};

static bool visit(void *user, const struct pm_quarantined *entry, struct pm_error *error)
{
    struct entries *entries = user;
    const uint64_t at = entries->count++;
    (void)error;
    if (at < entries->page.offset || at - entries->page.offset >= entries->page.limit)
        return true;
    struct pm_json *json = &entries->json;
    cJSON *object = pm_json_item(json, entries->array);
    pm_json_number(json, object, "time", (double)entry->time);
    pm_json_text(json, object, "game", entry->game);
    pm_json_text(json, object, "reason", entry->reason);
    if (entry->body)
        pm_json_number(json, object, "body_bytes", (double)entry->body_size);
    else
        pm_json_null(json, object, "body_bytes");
    return true;
}

enum MHD_Result pm_api_quarantine(struct pm_get *get)
{
    struct pm_params params = {.connection = get->connection};
    struct entries entries = {.page = pm_params_page(&params)};
    char *game = pm_params_text(&params, "game");
    struct pm_error error;
    enum MHD_Result result;
    if (params.field) {
        free(game);
        return pm_api_refuse(get, &params);
    }
    pm_json_init(&entries.json);
    entries.array = pm_json_array(&entries.json, entries.json.root, "entries");
    if (pm_aggregator_quarantine(get->service->aggregator, game, visit, &entries, &error)) {
        pm_json_page(&entries.json, &entries.page, entries.count);
        result = pm_json_answer(get, &entries.json);
    } else {
        cJSON_Delete(entries.json.root);
        pm_log_error(get->service->log, "cannot read the quarantine: %s", error.message);
        result = pm_http_answer_unread(get->connection, &error,
                                       "the quarantine cannot be read; the log says why");
    }
    free(game);
    return result;
}
