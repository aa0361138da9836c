#include "tools/shader/constant_passes.h"

#include "tools/common/out_file.h"
#include "tools/common/print_json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (!pm_points_constant(in->data, in->count, false, &points, error))
        return false;
    if (options->json) {
        cJSON *list = cJSON_CreateArray();
        for (uint32_t i = 0; i < points.count; i++)
            cJSON_AddItemToArray(list, json_of_point(&points.points[i]));
        pm_tool_print_json(list);
    } else {
        for (uint32_t i = 0; i < points.count; i++)
            print_point(i, &points.points[i]);
        printf("%u words that the shader loads are left out as not worth measuring\n",
               points.candidates - points.count);
    }
    pm_constant_points_finish(&points);
    return true;
}

/* Keeps those of uniform buffers that the option names. */
static bool choose_points(const char *text, struct pm_constant_points *points,
                          struct pm_error *error)
{
    uint32_t kept = 0;
    const bool all = strcmp(text, "all") == 0;
    for (uint32_t i = 0; i < points->count; i++) {
        bool named = all && points->points[i].source == PM_CONSTANT_UNIFORM;
        for (const char *at = text; !all && at; at = strchr(at, ',')) {
            at += *at == ',';
            named = named || strtoul(at, NULL, 10) == i;
        }
        if (named)
            points->points[kept++] = points->points[i];
    }
    points->count = kept;
    return kept ||
           pm_fail(error, PM_ERROR_INPUT, "--points %s: names no point of a uniform buffer", text);
}

bool pm_shader_instrument_constants(struct pm_shader_options *options, const struct pm_words *in,
                                    struct pm_error *error)
{
    struct pm_constant_points points = {0};
    struct pm_instrumented out = {0};
    options->instrument.target = options->target;
    options->instrument.times = options->times;
    bool ok =
        pm_points_constant(in->data, in->count, false, &points, error) &&
        choose_points(options->points, &points, error) &&
        pm_instrument_constants(in->data, in->count, points.points, points.count,
                                &options->instrument, &out, error) &&
        (!options->out || pm_out_bytes(options->out, out.words.data, out.words.count * 4, error));
    if (ok)
        printf("%u points, %llu counter bytes, address in SpecIds %u and %u\n", points.count,
               (unsigned long long)out.counter_bytes, out.spec_id_low, out.spec_id_high);
    pm_instrumented_finish(&out);
    pm_constant_points_finish(&points);
    return ok;
}

static void say_specialized(const struct pm_shader_options *options, const struct pm_words *in,
                            const struct pm_specialized_constants *out)
{
    if (options->json) {
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "words", (double)out->words.count);
        cJSON_AddNumberToObject(json, "cycles_before", out->cycles_before);
        cJSON_AddNumberToObject(json, "cycles_after", out->cycles_after);
        cJSON_AddNumberToObject(json, "guarded", out->guarded);
        pm_tool_print_json(json);
    } else if (out->words.count) {
        printf("%.0f cycles for %.0f, %zu words for %zu, %u words guarded\n", out->cycles_after,
               out->cycles_before, out->words.count, in->count, out->guarded);
    } else {
        printf("not worth it: %.0f cycles for %.0f\n", out->cycles_after, out->cycles_before);
    }
}

bool pm_shader_specialize_constants(struct pm_shader_options *options, const struct pm_words *in,
                                    struct pm_error *error)
{
    const struct pm_specialize_constants_info info = {
        .known = options->known,
        .known_count = (uint32_t)options->known_count,
        .costs = options->specialize.costs,
        .float_zero = options->specialize.float_zero,
        .target = options->target,
        .driver = options->specialize.driver,
        .times = options->times,
        .least_share = options->specialize.least_share,
        .take_all = options->specialize.take_all,
    };
    struct pm_specialized_constants out;
    if (!info.known_count)
        return pm_fail(error, PM_ERROR_INPUT, "it needs --known");
    if (!pm_specialize_constants(in->data, in->count, &info, &out, error))
        return false;
    say_specialized(options, in, &out);
    const struct pm_words *words = out.words.count ? &out.words : in;
    const bool ok =
        !options->out || pm_out_bytes(options->out, words->data, words->count * 4, error);
    pm_specialized_constants_finish(&out);
    return ok;
}
