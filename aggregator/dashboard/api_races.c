/* The API: races of variants, as they are published. */
#include "aggregator/dashboard/api.h"

#include "aggregator/curation/publish_races.h"
#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_state.h"
#include "profile/variant_point.h"
#include <math.h>

#define MEMORY_CAP ((size_t)256 << 20)

static void add_variant(struct pm_json *json, cJSON *list, const struct pm_race_variant *variant)
{
    char name[PM_VARIANT_POINT_NAME];
    cJSON *object = pm_json_item(json, list);
    pm_variant_point_name(variant->point, name);
    pm_json_text(json, object, "variant", name);
    pm_json_number(json, object, "share", variant->share);
    if (variant->clusters > 0)
        pm_json_number(json, object, "time", exp(variant->log_time));
    else
        pm_json_null(json, object, "time");
    pm_json_number(json, object, "clusters", (double)variant->clusters);
    pm_json_flag(json, object, "lost", variant->lost);
}

static void add_winner(struct pm_json *json, cJSON *race, const struct pm_race *from)
{
    char name[PM_VARIANT_POINT_NAME];
    if (from->winner == 0) {
        pm_json_null(json, race, "winner");
        return;
    }
    cJSON *winner = pm_json_object(json, race, "winner");
    pm_variant_point_name(from->winner, name);
    pm_json_text(json, winner, "variant", name);
    pm_json_number(json, winner, "time", exp(from->mean));
    pm_json_number(json, winner, "low", exp(from->low));
    pm_json_number(json, winner, "high", exp(from->high));
}

static void add_race(struct pm_json *json, cJSON *list, const struct pm_race *from)
{
    char key[PM_SHADER_KEY_TEXT];
    cJSON *race = pm_json_item(json, list);
    pm_shader_key_format(&from->key, key);
    pm_json_text(json, race, "key", key);
    pm_api_add_environment(json, race, &from->environment);
    add_winner(json, race, from);
    cJSON *variants = pm_json_array(json, race, "variants");
    for (size_t i = 0; i < from->variant_count; i++)
        add_variant(json, variants, &from->variants[i]);
}

static enum MHD_Result answer(struct pm_get *get, const struct pm_page *page,
                              const struct pm_races *races)
{
    struct pm_json json;
    pm_json_init(&json);
    cJSON *list = pm_json_array(&json, json.root, "races");
    for (size_t i = page->offset; i < races->race_count && i - page->offset < page->limit; i++)
        add_race(&json, list, &races->races[i]);
    pm_json_page(&json, page, races->race_count);
    return pm_json_answer(get, &json);
}

enum MHD_Result pm_api_variants(struct pm_get *get)
{
    struct pm_storage *storage = pm_aggregator_storage(get->service->aggregator);
    struct pm_params params = {.connection = get->connection};
    const struct pm_page page = pm_params_page(&params);
    struct pm_races races = {0};
    struct pm_error error = {0};
    char etag[PM_ETAG_TEXT];
    enum MHD_Result result;
    if (params.field)
        return pm_api_refuse(get, &params);
    struct pm_arena *arena = pm_arena_create(MEMORY_CAP);
    if (!arena || (!pm_races_published(storage, get->names[0], arena, &races, etag, &error) &&
                   error.code != PM_ERROR_STATE)) {
        pm_log_error(get->service->log, "cannot read races of variants: %s", error.message);
        result = pm_http_answer_unread(get->connection, &error,
                                       "the races cannot be read; the log says why");
    } else {
        result = answer(get, &page, &races);
    }
    pm_arena_destroy(arena);
    return result;
}
