/* JSON: races of variants, one line each. */
#include "tools/export/export.h"

#include "profile/variant_point.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

bool pm_export_selected_race(const struct pm_race *race, const char *prefix)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&race->key, key);
    return !prefix || strncmp(key, prefix, strlen(prefix)) == 0;
}

static void add_name(cJSON *json, const char *name, uint32_t point)
{
    char text[PM_VARIANT_POINT_NAME];
    pm_variant_point_name(point, text);
    cJSON_AddStringToObject(json, name, text);
}

static cJSON *race_json(const struct pm_race *race)
{
    const struct pm_environment *environment = &race->environment;
    char key[PM_SHADER_KEY_TEXT];
    cJSON *json = cJSON_CreateObject();
    pm_shader_key_format(&race->key, key);
    cJSON_AddStringToObject(json, "key", key);
    cJSON_AddNumberToObject(json, "subgroup_size", environment->subgroup_size);
    cJSON_AddNumberToObject(json, "vendor_id", environment->vendor_id);
    cJSON_AddNumberToObject(json, "device_id", environment->device_id);
    cJSON_AddNumberToObject(json, "driver_id", environment->driver_id);
    cJSON_AddNumberToObject(json, "driver_version", environment->driver_version);
    if (race->winner != 0) {
        add_name(json, "winner", race->winner);
        cJSON_AddNumberToObject(json, "time", exp(race->mean));
        cJSON_AddNumberToObject(json, "low", exp(race->low));
        cJSON_AddNumberToObject(json, "high", exp(race->high));
    }
    cJSON *variants = cJSON_AddArrayToObject(json, "variants");
    for (size_t i = 0; i < race->variant_count; i++) {
        const struct pm_race_variant *from = &race->variants[i];
        cJSON *variant = cJSON_CreateObject();
        add_name(variant, "variant", from->point);
        cJSON_AddNumberToObject(variant, "share", from->share);
        if (from->clusters > 0)
            cJSON_AddNumberToObject(variant, "time", exp(from->log_time));
        cJSON_AddNumberToObject(variant, "clusters", from->clusters);
        cJSON_AddBoolToObject(variant, "lost", from->lost);
        cJSON_AddItemToArray(variants, variant);
    }
    return json;
}

bool pm_export_races(const struct pm_export *export, FILE *out, struct pm_error *error)
{
    const char *separator = "\n";
    fputs("\"races\":[", out);
    for (size_t i = 0; i < export->races->race_count; i++) {
        const struct pm_race *race = &export->races->races[i];
        if (!pm_export_selected_race(race, export->shader))
            continue;
        cJSON *json = race_json(race);
        char *text = cJSON_PrintUnformatted(json);
        cJSON_Delete(json);
        if (!text)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        fprintf(out, "%s%s", separator, text);
        cJSON_free(text);
        separator = ",\n";
    }
    fputs("\n],\n", out);
    return true;
}
