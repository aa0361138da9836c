#include "profile/variant_point.h"
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* By kind, in the order of the counts; NULL where a kind has no such count. */
static const char *const count_names[][PM_COUNTS] = {
    [PM_KIND_BLOCK] = {"lanes", "uniform_lanes", "subgroups"},
    [PM_KIND_ZERO] = {"writes", "zero_writes", NULL},
    [PM_KIND_TIMING] = {"original_ns", "variant_ns", "spread_ns"},
    [PM_KIND_CONSTANT] = {"loads", "same", "zero"},
    [PM_KIND_VARIANT] = {"most", "said", NULL},
    [PM_KIND_TURNS] = {"lanes", "uniform_lanes", "subgroups"},
};

/* A double, which is what cJSON keeps numbers in, would round counts above 2^53. */
static bool add_u64(cJSON *object, const char *name, uint64_t value)
{
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, value);
    return cJSON_AddRawToObject(object, name, digits) != NULL;
}

static bool add_environment(cJSON *shader, const struct pm_environment *environment,
                            enum pm_kind kind)
{
    cJSON *object = cJSON_AddObjectToObject(shader, "environment");
    bool added = object && add_u64(object, "subgroup_size", environment->subgroup_size);
    if (kind == PM_KIND_TIMING || kind == PM_KIND_VARIANT)
        added = added && add_u64(object, "vendor_id", environment->vendor_id) &&
                add_u64(object, "device_id", environment->device_id) &&
                add_u64(object, "driver_id", environment->driver_id) &&
                add_u64(object, "driver_version", environment->driver_version);
    return added;
}

static bool add_at_most_once(cJSON *shader, const struct pm_shader_profile *profile)
{
    cJSON *list = cJSON_AddArrayToObject(shader, "at_most_once");
    if (!list)
        return false;
    for (uint32_t i = 0; i < profile->space; i++) {
        if (!(profile->at_most_once[i / 8] >> (i % 8) & 1))
            continue;
        cJSON *number = cJSON_CreateNumber(i);
        if (!number || !cJSON_AddItemToArray(list, number))
            return false;
    }
    return true;
}

static bool add_point(cJSON *points, const struct pm_point_counts *point, enum pm_kind kind)
{
    cJSON *object = cJSON_CreateObject();
    if (!object || !cJSON_AddItemToArray(points, object))
        return false;
    bool added = add_u64(object, "point", point->point) && add_u64(object, "calls", point->calls) &&
                 add_u64(object, "entry_lanes", point->entry_lanes) &&
                 add_u64(object, "entry_subgroups", point->entry_subgroups);
    if (kind == PM_KIND_VARIANT) {
        char name[PM_VARIANT_POINT_NAME];
        pm_variant_point_name(point->point, name);
        added = added && cJSON_AddStringToObject(object, "variant", name);
    }
    for (int i = 0; i < PM_COUNTS && added; i++) {
        if (count_names[kind][i])
            added = add_u64(object, count_names[kind][i], point->counts[i]);
    }
    if (point->lanes_alone > 0)
        added = added && add_u64(object, "lanes_alone", point->lanes_alone);
    return added;
}

static bool add_shader(cJSON *shaders, const struct pm_shader_profile *profile)
{
    if (profile->kind < PM_KIND_BLOCK || profile->kind > PM_KIND_LAST)
        return false;
    cJSON *object = cJSON_CreateObject();
    if (!object || !cJSON_AddItemToArray(shaders, object))
        return false;
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&profile->key, key);
    if (!cJSON_AddStringToObject(object, "key", key) ||
        !cJSON_AddStringToObject(object, "kind", pm_kind_name(profile->kind)) ||
        !add_environment(object, &profile->environment, profile->kind) ||
        !cJSON_AddBoolToObject(object, "occluded", (profile->flags & PM_PROFILE_OCCLUDED) != 0) ||
        !add_u64(object, "space", profile->space))
        return false;
    char original[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&profile->original, original);
    if (!pm_shader_key_is_none(&profile->original) &&
        !cJSON_AddStringToObject(object, "original", original))
        return false;
    if (profile->kind == PM_KIND_ZERO &&
        !cJSON_AddBoolToObject(object, "no_quads", (profile->flags & PM_PROFILE_NO_QUADS) != 0))
        return false;
    if (profile->candidates != 0 &&
        !add_u64(object, "left_out", profile->candidates - profile->space))
        return false;
    if (profile->at_most_once && !add_at_most_once(object, profile))
        return false;
    cJSON *points = cJSON_AddArrayToObject(object, "points");
    bool added = points != NULL;
    for (size_t i = 0; i < profile->point_count && added; i++)
        added = add_point(points, &profile->points[i], profile->kind);
    return added;
}

/* Only what there is. */
static bool add_left_alone(cJSON *root, const struct pm_profile *profile)
{
    cJSON *object = NULL;
    for (enum pm_left_alone_why why = 0; why < PM_LEFT_ALONE_WHYS; why++) {
        if (profile->left_alone[why] == 0)
            continue;
        object = object ? object : cJSON_AddObjectToObject(root, "left_alone");
        if (!object || !add_u64(object, pm_left_alone_name(why), profile->left_alone[why]))
            return false;
    }
    return true;
}

static bool fill(cJSON *root, const struct pm_profile *profile)
{
    char id[2 * PM_UPLOAD_ID_BYTES + 1];
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", profile->upload_id[i]);
    if (!add_u64(root, "version", PM_PROFILE_VERSION) ||
        !cJSON_AddStringToObject(root, "upload_id", id) ||
        !cJSON_AddStringToObject(root, "game", profile->game) ||
        !cJSON_AddStringToObject(root, "scene", profile->scene) ||
        !cJSON_AddStringToObject(root, "layer_version", profile->layer_version) ||
        (profile->day > 0 && !add_u64(root, "day", profile->day)) || !add_left_alone(root, profile))
        return false;
    cJSON *shaders = cJSON_AddArrayToObject(root, "shaders");
    bool added = shaders != NULL;
    for (size_t i = 0; i < profile->shader_count && added; i++)
        added = add_shader(shaders, &profile->shaders[i]);
    return added;
}

bool pm_profile_to_json(const struct pm_profile *profile, struct pm_buffer *out,
                        struct pm_error *error)
{
    cJSON *root = cJSON_CreateObject();
    char *text = root && fill(root, profile) ? cJSON_Print(root) : NULL;
    bool printed = text && pm_buffer_append_string(out, text);
    if (!printed)
        pm_fail(error, PM_ERROR_MEMORY, "no room for a profile as JSON");
    cJSON_free(text);
    cJSON_Delete(root);
    return printed;
}
