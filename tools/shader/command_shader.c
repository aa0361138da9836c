#include "tools/shader/command_shader.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/ir/ir_module.h"
#include "tools/common/out_file.h"
#include "tools/common/print_json.h"
#include "tools/common/tool.h"
#include "tools/shader/block_passes.h"
#include "tools/shader/constant_passes.h"
#include "tools/shader/partition_pass.h"
#include "tools/shader/shader_input.h"
#include "tools/shader/variant_pass.h"
#include "tools/shader/zero_profile_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool write_words(const struct pm_shader_options *options, const struct pm_words *words,
                        struct pm_error *error)
{
    return !options->out || pm_out_bytes(options->out, words->data, words->count * 4, error);
}

/* The stage of the entry point called so, from the module's own OpEntryPoint. */
static bool find_stage(const struct pm_words *words, const char *entry, enum pm_stage *stage,
                       struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(words->data, words->count, error);
    bool ok = module && pm_shader_stage(module, entry, stage, error);
    pm_ir_module_destroy(module);
    return ok;
}

static bool canonicalize(struct pm_shader_options *options, const struct pm_words *in,
                         struct pm_error *error)
{
    if (!options->stage_set && !find_stage(in, options->entry, &options->stage, error))
        return false;
    struct pm_error kept;
    struct pm_canonicalize_info info = {
        .words = in->data,
        .word_count = in->count,
        .stage = options->stage,
        .entry_point = options->entry,
        .spec_values = options->specs,
        .spec_value_count = options->spec_count,
        .target = options->target,
        .times = options->times,
        .kept = &kept,
    };
    struct pm_words out = {0};
    bool ok = pm_canonicalize(&info, &out, error) && write_words(options, &out, error);
    if (ok) {
        struct pm_shader_key key =
            pm_shader_key_compute(pm_canonicalize_recipe(), out.data, out.count);
        char text[PM_SHADER_KEY_TEXT];
        pm_shader_key_format(&key, text);
        if (options->json) {
            cJSON *json = cJSON_CreateObject();
            cJSON_AddStringToObject(json, "key", text);
            cJSON_AddStringToObject(json, "recipe", pm_canonicalize_recipe());
            cJSON_AddNumberToObject(json, "words", (double)out.count);
            if (kept.message[0])
                cJSON_AddStringToObject(json, "not_simplified", kept.message);
            pm_tool_print_json(json);
        } else {
            printf("%s\n", text);
            if (kept.message[0])
                fprintf(stderr, "not simplified: %s\n", kept.message);
        }
    }
    pm_words_finish(&out);
    return ok;
}

static bool points_blocks(struct pm_shader_options *options, const struct pm_words *in,
                          struct pm_error *error)
{
    struct pm_block_points points = {0};
    if (!pm_points_blocks(in->data, in->count, &points, error))
        return false;
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < points.count; i++) {
        if (!options->json) {
            printf("%u: %%%u%s%s\n", i, points.points[i].label,
                   points.points[i].at_most_once ? "" : " (in a loop)",
                   points.points[i].is_whole ? ", whole workgroups" : "");
            continue;
        }
        cJSON *point = cJSON_CreateObject();
        cJSON_AddNumberToObject(point, "label", points.points[i].label);
        cJSON_AddBoolToObject(point, "at_most_once", points.points[i].at_most_once);
        cJSON_AddBoolToObject(point, "whole_workgroups", points.points[i].is_whole);
        cJSON_AddItemToArray(list, point);
    }
    if (options->json)
        pm_tool_print_json(list);
    else
        cJSON_Delete(list);
    pm_block_points_finish(&points);
    return true;
}

static bool points_turns(struct pm_shader_options *options, const struct pm_words *in,
                         struct pm_error *error)
{
    struct pm_turn_points points = {0};
    if (!pm_points_turns(in->data, in->count, &points, error))
        return false;
    cJSON *list = cJSON_CreateArray();
    for (uint32_t l = 0; l < points.loop_count; l++) {
        const struct pm_turn_loop *loop = &points.loops[l];
        const uint32_t first = l * PM_TURN_POINTS;
        if (!options->json) {
            printf("%u to %u: turns of the loop at %%%u, which %%%u leads back to%s\n", first,
                   first + PM_TURN_POINTS - 1, loop->header, loop->latch,
                   loop->at_most_once ? "" : " (in a loop)");
            continue;
        }
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "first", first);
        cJSON_AddNumberToObject(json, "header", loop->header);
        cJSON_AddNumberToObject(json, "latch", loop->latch);
        cJSON_AddBoolToObject(json, "at_most_once", loop->at_most_once);
        cJSON_AddItemToArray(list, json);
    }
    if (options->json)
        pm_tool_print_json(list);
    else
        cJSON_Delete(list);
    pm_turn_points_finish(&points);
    return true;
}

static cJSON *json_of_candidate(const struct pm_zero_candidate *candidate)
{
    cJSON *json = cJSON_CreateObject();
    cJSON *values = cJSON_AddArrayToObject(json, "values");
    for (uint32_t i = 0; i < candidate->value_count; i++)
        cJSON_AddItemToArray(values, cJSON_CreateNumber(candidate->values[i]));
    cJSON_AddNumberToObject(json, "components", candidate->components);
    cJSON_AddNumberToObject(json, "block", candidate->block);
    cJSON_AddBoolToObject(json, "at_most_once", candidate->at_most_once);
    cJSON_AddBoolToObject(json, "is_float", candidate->is_float);
    cJSON_AddBoolToObject(json, "quad", candidate->quad);
    return json;
}

static void print_candidate(uint32_t number, const struct pm_zero_candidate *candidate)
{
    printf("%u: block %u:", number, candidate->block);
    for (uint32_t i = 0; i < candidate->value_count; i++)
        printf(" %%%u", candidate->values[i]);
    if (candidate->components > 1)
        printf(".%.*s", (int)candidate->components, "xyzw");
    printf(" %s%s%s\n", candidate->is_float ? "float" : "integer", candidate->quad ? ", quad" : "",
           candidate->at_most_once ? "" : " (in a loop)");
}

static bool points_zero(struct pm_shader_options *options, const struct pm_words *in,
                        struct pm_error *error)
{
    struct pm_zero_points points = {0};
    if (!pm_points_zero_given(in->data, in->count, NULL, options->all_candidates, &points, error))
        return false;
    cJSON *list = cJSON_CreateArray();
    for (uint32_t i = 0; i < points.count; i++) {
        if (options->json)
            cJSON_AddItemToArray(list, json_of_candidate(&points.candidates[i]));
        else
            print_candidate(i, &points.candidates[i]);
    }
    if (options->json)
        pm_tool_print_json(list);
    else
        cJSON_Delete(list);
    if (!options->json && !options->all_candidates)
        printf("%u values that may be zero are left out as not worth measuring\n", points.left_out);
    pm_zero_points_finish(&points);
    return true;
}

/* "all", or numbers in ascending order with commas between. */
static bool choose_points(const char *text, uint32_t space, uint32_t *chosen, uint32_t *count,
                          struct pm_error *error)
{
    *count = 0;
    if (!strcmp(text, "all")) {
        for (; *count < space; ++*count)
            chosen[*count] = *count;
        return true;
    }
    for (const char *at = text; *at;) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        bool ascending = *count == 0 || value > chosen[*count - 1];
        if (end == at || *at < '0' || *at > '9' || (*end && *end != ',') || value >= space ||
            !ascending)
            return pm_fail(error, PM_ERROR_INPUT,
                           "--points %s: character %zu: wanted ascending numbers below %u, or all",
                           text, (size_t)(at - text) + 1, space);
        chosen[(*count)++] = (uint32_t)value;
        at = *end ? end + 1 : end;
    }
    return true;
}

/* space: how many points there are. */
static void say_instrumented(const struct pm_shader_options *options,
                             const struct pm_instrumented *out, uint32_t points, uint32_t space)
{
    if (!options->json) {
        printf("%u points, ", points);
        if (options->flow)
            printf("%u saved, ", space - points);
        printf("%llu counter bytes, address in SpecIds %u and %u%s%s\n",
               (unsigned long long)out->counter_bytes, out->spec_id_low, out->spec_id_high,
               out->forced_early_tests ? ", early fragment tests added" : "",
               out->counts_occluded ? ", occluded pixels counted too" : "");
        return;
    }
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "points", points);
    if (options->flow)
        cJSON_AddNumberToObject(json, "saved", space - points);
    cJSON_AddNumberToObject(json, "spec_id_low", out->spec_id_low);
    cJSON_AddNumberToObject(json, "spec_id_high", out->spec_id_high);
    cJSON_AddNumberToObject(json, "slot_stride", out->slot_stride);
    cJSON_AddNumberToObject(json, "counter_bytes", (double)out->counter_bytes);
    if (out->blocks.units) {
        cJSON *units = cJSON_AddArrayToObject(json, "units");
        for (uint32_t i = 0; i < out->blocks.point_count; i++)
            cJSON_AddItemToArray(units, cJSON_CreateNumber(out->blocks.units[i]));
    }
    cJSON_AddBoolToObject(json, "forced_early_tests", out->forced_early_tests);
    cJSON_AddBoolToObject(json, "counts_occluded", out->counts_occluded);
    pm_tool_print_json(json);
}

/* Of blocks those whose lanes tell those of all. */
static bool choose_flow(struct pm_shader_options *options, const struct pm_words *in,
                        uint32_t *chosen, struct pm_error *error)
{
    struct pm_flow_points points;
    if (strcmp(options->pass, "instrument_blocks"))
        return pm_fail(error, PM_ERROR_INPUT, "--flow is of instrument_blocks alone");
    if (!pm_points_flow(in->data, in->count, NULL, &points, error))
        return false;
    for (uint32_t i = 0; i < points.count; i++)
        chosen[i] = points.points[i];
    options->instrument.point_count = points.count;
    options->instrument.lanes_only = true;
    pm_flow_points_finish(&points);
    return true;
}

typedef bool (*instrument_pass)(const uint32_t *words, size_t count,
                                const struct pm_instrument_info *info, struct pm_instrumented *out,
                                struct pm_error *error);

/* space: how many points the module has. */
static bool instrument(struct pm_shader_options *options, const struct pm_words *in,
                       instrument_pass pass, uint32_t space, struct pm_error *error)
{
    struct pm_instrumented out = {0};
    uint32_t *chosen = calloc(space + 1u, sizeof(*chosen));
    bool ok = chosen || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    options->instrument.points = chosen;
    options->instrument.target = options->target;
    options->instrument.times = options->times;
    ok = ok &&
         (options->flow ? choose_flow(options, in, chosen, error)
                        : choose_points(options->points, space, chosen,
                                        &options->instrument.point_count, error)) &&
         pass(in->data, in->count, &options->instrument, &out, error) &&
         write_words(options, &out.words, error);
    if (ok)
        say_instrumented(options, &out, options->instrument.point_count, space);
    pm_instrumented_finish(&out);
    free(chosen);
    return ok;
}

static bool instrument_blocks(struct pm_shader_options *options, const struct pm_words *in,
                              struct pm_error *error)
{
    struct pm_block_points points = {0};
    bool ok = pm_points_blocks(in->data, in->count, &points, error) &&
              instrument(options, in, pm_instrument_blocks, points.count, error);
    pm_block_points_finish(&points);
    return ok;
}

static bool instrument_turns(struct pm_shader_options *options, const struct pm_words *in,
                             struct pm_error *error)
{
    struct pm_turn_points points = {0};
    options->instrument.turns = &points;
    bool ok = pm_points_turns(in->data, in->count, &points, error) &&
              instrument(options, in, pm_instrument_turns, points.count, error);
    options->instrument.turns = NULL;
    pm_turn_points_finish(&points);
    return ok;
}

static bool instrument_zero(struct pm_shader_options *options, const struct pm_words *in,
                            struct pm_error *error)
{
    struct pm_zero_points points = {0};
    options->instrument.all_candidates = options->all_candidates;
    bool ok =
        pm_points_zero_given(in->data, in->count, NULL, options->all_candidates, &points, error) &&
        instrument(options, in, pm_instrument_zero, points.count, error);
    pm_zero_points_finish(&points);
    return ok;
}

/* The profile, by the module's key and its numbers of points. */
static bool load_profile(const struct pm_shader_options *options, const struct pm_words *in,
                         struct pm_zero_profile *profile, struct pm_error *error)
{
    struct pm_shader_key key = pm_shader_key_compute(pm_canonicalize_recipe(), in->data, in->count);
    struct pm_zero_points candidates = {0};
    struct pm_block_points blocks = {0};
    bool ok = pm_points_zero_given(in->data, in->count, NULL, options->all_candidates, &candidates,
                                   error) &&
              pm_points_blocks(in->data, in->count, &blocks, error) &&
              pm_zero_profile_load(options->profile, options->game, &key, candidates.count,
                                   blocks.count, profile, error);
    pm_zero_points_finish(&candidates);
    pm_block_points_finish(&blocks);
    return ok;
}

static bool specialize_zero(struct pm_shader_options *options, const struct pm_words *in,
                            struct pm_error *error)
{
    struct pm_zero_profile profile;
    if (!load_profile(options, in, &profile, error))
        return false;
    struct pm_specialized out;
    options->specialize.profile = &profile;
    options->specialize.all_candidates = options->all_candidates;
    options->specialize.subgroup_quad = options->instrument.subgroup_quad;
    options->specialize.target = options->target;
    options->specialize.times = options->times;
    bool ok = pm_specialize_zero(in->data, in->count, &options->specialize, &out, error);
    pm_zero_profile_finish(&profile);
    if (!ok)
        return false;
    if (options->json)
        puts(out.report);
    else if (out.transforms)
        printf("%u transforms, %zu words for %zu\n", out.transforms, out.words.count, in->count);
    else
        puts("nothing to specialize");
    ok = write_words(options, out.transforms ? &out.words : in, error);
    pm_specialized_finish(&out);
    return ok;
}

/* In the order in which they first ran. */
static void say_times(const struct pm_pass_times *times)
{
    for (uint32_t i = 0; i < times->count; i++) {
        const struct pm_pass_time *row = &times->rows[i];
        fprintf(stderr, "%-28s %10.3f ms, %u runs, %u changed something\n", row->name,
                (double)row->nanoseconds / 1e6, row->runs, row->changes);
    }
}

struct pass {
    const char *name;
    bool original; /* it is over what the game gave, not over the canonical module */
    bool (*run)(struct pm_shader_options *options, const struct pm_words *in,
                struct pm_error *error);
};

static bool validate(struct pm_shader_options *options, const struct pm_words *in,
                     struct pm_error *error)
{
    return pm_validate(in->data, in->count, &options->target, error);
}

static const struct pass passes[] = {
    {"canonicalize", true, canonicalize},
    {"points_blocks", false, points_blocks},
    {"instrument_blocks", false, instrument_blocks},
    {"points_turns", false, points_turns},
    {"instrument_turns", false, instrument_turns},
    {"points_zero", false, points_zero},
    {"instrument_zero", false, instrument_zero},
    {"specialize_zero", false, specialize_zero},
    {"points_constant", false, pm_shader_points_constant},
    {"instrument_constants", false, pm_shader_instrument_constants},
    {"specialize_constants", false, pm_shader_specialize_constants},
    {"make_variant", false, pm_shader_make_variant},
    {"optimize_blocks", false, pm_shader_optimize_blocks},
    {"optimize_flatten", false, pm_shader_optimize_blocks},
    {"optimize_sink", false, pm_shader_optimize_blocks},
    {"optimize_version", false, pm_shader_optimize_blocks},
    {"optimize_unroll", false, pm_shader_optimize_blocks},
    {"optimize_peel", false, pm_shader_optimize_blocks},
    {"optimize_layout", false, pm_shader_optimize_blocks},
    {"partition", false, pm_shader_partition},
    {"validate", true, validate},
};

static const struct pass *find_pass(const char *name)
{
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        if (strcmp(passes[i].name, name) == 0)
            return &passes[i];
    }
    return NULL;
}

int pm_command_shader(int argc, char **argv)
{
    struct pm_shader_options options;
    struct pm_shader_input input;
    struct pm_pass_times times = {0};
    struct pm_error error = {0};
    const int status = pm_shader_options(argc, argv, &options);
    if (status >= 0)
        return status;
    const struct pass *pass = find_pass(options.pass);
    if (!pass)
        return pm_tool_usage("shader", "unknown pass '%s'", options.pass);
    options.times = options.timed ? &times : NULL;
    const bool read = pm_shader_input_read(&options, pass->original, &input, &error);
    const bool ok = read && pass->run(&options, &input.words, &error);
    say_times(&times);
    if (read && !ok) {
        pm_shader_input_explain(&options, &input, &error);
        pm_fail_prefix(&error, "%s: %s", options.pass, options.in);
    }
    pm_shader_input_finish(&input);
    return ok ? PM_EXIT_OK : pm_tool_failed("shader", &error);
}
