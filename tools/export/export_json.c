/* JSON: everything that is known, one line a shader, so that a large game is never held as a tree.
 */
#include "tools/export/export.h"

#include "tools/common/estimates.h"
#include <cjson/cJSON.h>

static cJSON *ratio_json(const struct pm_ratio *ratio)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "clusters", ratio->clusters);
    if (ratio->clusters) {
        cJSON_AddNumberToObject(json, "ratio_of_sums", ratio->ratio);
        cJSON_AddNumberToObject(json, "ratio_of_sums_low", ratio->ratio_low);
        cJSON_AddNumberToObject(json, "ratio_of_sums_high", ratio->ratio_high);
        cJSON_AddNumberToObject(json, "mean_of_ratios", ratio->mean);
        cJSON_AddNumberToObject(json, "mean_of_ratios_low", ratio->mean_low);
        cJSON_AddNumberToObject(json, "mean_of_ratios_high", ratio->mean_high);
    }
    return json;
}

static cJSON *point_json(const struct pm_shader_estimates *shader, uint32_t index)
{
    const struct pm_point_estimate *point = &shader->points[index];
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddNumberToObject(entry, "point", index);
    cJSON_AddNumberToObject(entry, "calls", point->calls);
    cJSON_AddNumberToObject(entry, "sessions", point->sessions);
    for (unsigned i = 0; i < pm_measure_count(shader->kind); i++)
        cJSON_AddItemToObject(entry, pm_measure_name(shader->kind, i),
                              ratio_json(&point->measures[i]));
    return entry;
}

static void add_environment(cJSON *json, const struct pm_shader_estimates *shader)
{
    const struct pm_environment *environment = &shader->environment;
    cJSON_AddNumberToObject(json, "subgroup_size", environment->subgroup_size);
    if (shader->kind != PM_KIND_TIMING)
        return;
    cJSON_AddNumberToObject(json, "vendor_id", environment->vendor_id);
    cJSON_AddNumberToObject(json, "device_id", environment->device_id);
    cJSON_AddNumberToObject(json, "driver_id", environment->driver_id);
    cJSON_AddNumberToObject(json, "driver_version", environment->driver_version);
}

static void add_provisional(cJSON *json, const struct pm_shader_estimates *shader)
{
    static const char *const names[] = {"unknown", "likely", "unlikely"};
    if (!shader->provisional)
        return;
    cJSON *levels = cJSON_AddArrayToObject(json, "provisional");
    for (uint32_t i = 0; i < shader->space; i++)
        cJSON_AddItemToArray(levels, cJSON_CreateString(names[shader->provisional[i]]));
}

/* What nobody said is not there. */
static void add_lying(cJSON *json, const struct pm_lying *lying)
{
    if (lying->error <= 0)
        return;
    cJSON *inner = cJSON_AddObjectToObject(json, "lying");
    cJSON_AddNumberToObject(inner, "tokens", lying->tokens);
    cJSON_AddNumberToObject(inner, "error", lying->error);
}

static cJSON *shader_json(const struct pm_shader_estimates *shader)
{
    char key[PM_SHADER_KEY_TEXT];
    struct pm_coverage coverage;
    if (!pm_estimates_coverage(shader, &coverage))
        return NULL;
    cJSON *json = cJSON_CreateObject();
    pm_shader_key_format(&shader->key, key);
    cJSON_AddStringToObject(json, "key", key);
    cJSON_AddStringToObject(json, "kind", pm_kind_name(shader->kind));
    add_environment(json, shader);
    if (!pm_shader_key_is_none(&shader->original)) {
        pm_shader_key_format(&shader->original, key);
        cJSON_AddStringToObject(json, "original", key);
    }
    cJSON_AddBoolToObject(json, "published", shader->published);
    cJSON_AddBoolToObject(json, "occluded", (shader->flags & PM_PROFILE_OCCLUDED) != 0);
    if (shader->kind == PM_KIND_ZERO)
        cJSON_AddBoolToObject(json, "no_quads", (shader->flags & PM_PROFILE_NO_QUADS) != 0);
    cJSON_AddNumberToObject(json, "space", shader->space);
    if (shader->candidates != 0)
        cJSON_AddNumberToObject(json, "left_out", shader->candidates - shader->space);
    cJSON_AddNumberToObject(json, "covered", coverage.covered);
    cJSON_AddNumberToObject(json, "entry_lanes", (double)shader->entry_lanes);
    add_lying(json, &shader->lying);
    add_provisional(json, shader);
    cJSON *points = cJSON_AddArrayToObject(json, "points");
    for (uint32_t i = 0; shader->points && i < shader->space; i++)
        cJSON_AddItemToArray(points, point_json(shader, i));
    return json;
}

/* Prints the tree and deletes it. */
static bool print(cJSON *json, FILE *out, struct pm_error *error)
{
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;
    if (text)
        fputs(text, out);
    cJSON_free(text);
    cJSON_Delete(json);
    return text || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

static cJSON *left_alone_json(const struct pm_left_alone *left)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "shaders", (double)left->shaders);
    cJSON *reasons = cJSON_AddArrayToObject(json, "reasons");
    for (size_t i = 0; i < left->reason_count; i++) {
        cJSON *reason = cJSON_CreateObject();
        cJSON_AddStringToObject(reason, "reason", left->reasons[i].text);
        cJSON_AddNumberToObject(reason, "shaders", (double)left->reasons[i].shaders);
        cJSON_AddItemToArray(reasons, reason);
    }
    return json;
}

bool pm_export_json(const struct pm_export *export, FILE *out, struct pm_error *error)
{
    const struct pm_database *database = export->database;
    fputs("{\"game\":", out);
    bool done = print(cJSON_CreateString(database->game), out, error);
    fprintf(out, ",\n\"curated_at\":%llu,\n", (unsigned long long)database->curated_at);
    if (done && export->left_alone) {
        fputs("\"left_alone\":", out);
        done = print(left_alone_json(export->left_alone), out, error);
        fputs(",\n", out);
    }
    if (done && export->races)
        done = pm_export_races(export, out, error);
    fputs("\"shaders\":[", out);
    const char *separator = "\n";
    for (size_t i = 0; done && i < database->shader_count; i++) {
        if (!pm_export_selected(&database->shaders[i], export->shader))
            continue;
        fputs(separator, out);
        done = print(shader_json(&database->shaders[i]), out, error);
        separator = ",\n";
    }
    fputs("\n]}\n", out);
    return done;
}
