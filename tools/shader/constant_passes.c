#include "tools/shader/constant_passes.h"

#include <cjson/cJSON.h>
#include <stdio.h>

static const char *name_of(enum pm_constant_source source)
{
    return source == PM_CONSTANT_PUSH ? "push" : "uniform";
}

static cJSON *json_of_point(const struct pm_constant_point *point)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "source", name_of(point->source));
    if (point->source == PM_CONSTANT_UNIFORM) {
        cJSON_AddNumberToObject(json, "set", point->set);
        cJSON_AddNumberToObject(json, "binding", point->binding);
    }
    cJSON_AddNumberToObject(json, "offset", point->offset);
    cJSON_AddBoolToObject(json, "every_path", point->every_path);
    cJSON_AddBoolToObject(json, "is_float", point->is_float);
    return json;
}

static void print_point(uint32_t number, const struct pm_constant_point *point)
{
    printf("%u: %s", number, name_of(point->source));
    if (point->source == PM_CONSTANT_UNIFORM)
        printf(" %u.%u", point->set, point->binding);
    printf(" byte %u, %s%s\n", point->offset, point->is_float ? "float" : "integer",
           point->every_path ? "" : " (not on every path)");
}

bool pm_shader_points_constant(struct pm_shader_options *options, const struct pm_words *in,
                               struct pm_error *error)
{
    struct pm_constant_points points = {0};
    if (!pm_points_constant(in->data, in->count, &points, error))
        return false;
    if (options->json) {
        cJSON *list = cJSON_CreateArray();
        for (uint32_t i = 0; i < points.count; i++)
            cJSON_AddItemToArray(list, json_of_point(&points.points[i]));
        char *text = cJSON_Print(list);
        if (text)
            puts(text);
        cJSON_free(text);
        cJSON_Delete(list);
    } else {
        for (uint32_t i = 0; i < points.count; i++)
            print_point(i, &points.points[i]);
        printf("%u words that the shader loads are left out as not worth measuring\n",
               points.candidates - points.count);
    }
    pm_constant_points_finish(&points);
    return true;
}
