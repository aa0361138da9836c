/* The API: the shaders of a game, and its zero candidates. */
#include "aggregator/dashboard/api.h"

#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_state.h"
#include "aggregator/statistics/expectation.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one shader ---- */

void pm_api_profile_name(enum pm_kind kind, const struct pm_environment *environment,
                         char name[static PM_PROFILE_NAME])
{
    const bool more = environment->vendor_id || environment->device_id || environment->driver_id ||
                      environment->driver_version;
    const int length =
        snprintf(name, PM_PROFILE_NAME, "%s-%u", pm_kind_name(kind), environment->subgroup_size);
    if (more)
        snprintf(name + length, PM_PROFILE_NAME - (size_t)length, "-%x-%x-%x-%x",
                 environment->vendor_id, environment->device_id, environment->driver_id,
                 environment->driver_version);
}

void pm_api_add_environment(struct pm_json *json, cJSON *object,
                            const struct pm_environment *environment)
{
    cJSON *inner = pm_json_object(json, object, "environment");
    pm_json_number(json, inner, "subgroup_size", environment->subgroup_size);
    pm_json_number(json, inner, "vendor_id", environment->vendor_id);
    pm_json_number(json, inner, "device_id", environment->device_id);
    pm_json_number(json, inner, "driver_id", environment->driver_id);
    pm_json_number(json, inner, "driver_version", environment->driver_version);
}

/* What it is called, where somebody said. */
static void add_name(struct pm_json *json, cJSON *object, const struct pm_summary *summary,
                     const struct pm_shader_key *key)
{
    const char *name = pm_summary_name_of(summary, key);
    if (name)
        pm_json_text(json, object, "name", name);
    else
        pm_json_null(json, object, "name");
}

static void add_flags(struct pm_json *json, cJSON *object, uint32_t flags)
{
    cJSON *inner = pm_json_object(json, object, "flags");
    pm_json_flag(json, inner, "occluded", (flags & PM_PROFILE_OCCLUDED) != 0);
    pm_json_flag(json, inner, "no_quads", (flags & PM_PROFILE_NO_QUADS) != 0);
}

/* A verdict is what the layer would make of the timing once it is published. */
static void add_time(struct pm_json *json, cJSON *inner, const struct pm_summary_time *time)
{
    pm_json_number(json, inner, "ratio", (double)time->mean);
    pm_json_number(json, inner, "low", (double)time->low);
    pm_json_number(json, inner, "high", (double)time->high);
    pm_json_number(json, inner, "sessions", time->sessions);
    if (time->spreads > 0)
        pm_json_number(json, inner, "spread", (double)time->spread);
    else
        pm_json_null(json, inner, "spread");
    pm_json_text(json, inner, "verdict",
                 time->high < 1  ? "faster"
                 : time->low > 1 ? "slower"
                                 : "undecided");
}

static void add_timing(struct pm_json *json, cJSON *object, const struct pm_summary_shader *shader)
{
    char original[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->original, original);
    if (shader->time.sessions > 0)
        add_time(json, pm_json_object(json, object, "time"), &shader->time);
    else
        pm_json_null(json, object, "time");
    if (!pm_shader_key_is_none(&shader->original))
        pm_json_text(json, object, "original", original);
    else
        pm_json_null(json, object, "original");
    pm_json_flag(json, object, "original_known", shader->original_known);
}

/* Why it is not published. */
static void add_waits(struct pm_json *json, cJSON *object, const struct pm_summary_shader *shader)
{
    const struct pm_reason *waits = &shader->waits;
    if (shader->published || waits->kind == PM_REASON_NONE) {
        pm_json_null(json, object, "waits");
        return;
    }
    cJSON *inner = pm_json_object(json, object, "waits");
    pm_json_text(json, inner, "for", pm_reason_name(waits->kind));
    pm_json_number(json, inner, "point", waits->point);
    pm_json_number(json, inner, "have", (double)waits->have);
    pm_json_number(json, inner, "need", (double)waits->need);
    pm_json_number(json, inner, "sessions_a_day", (double)waits->sessions_a_day);
    if (isfinite(waits->days))
        pm_json_number(json, inner, "days", (double)waits->days);
    else
        pm_json_null(json, inner, "days");
    if (waits->players > 0)
        pm_json_number(json, inner, "players", (double)waits->players);
    else
        pm_json_null(json, inner, "players");
}

/* How many tokens could be lying. */
static void add_breakdown(struct pm_json *json, cJSON *object,
                          const struct pm_summary_shader *shader)
{
    if (!shader->strangers || shader->breakdown.tokens == UINT32_MAX) {
        pm_json_null(json, object, "lying");
        return;
    }
    cJSON *inner = pm_json_object(json, object, "lying");
    pm_json_number(json, inner, "tokens", shader->breakdown.tokens);
    pm_json_number(json, inner, "error", shader->breakdown.error);
}

void pm_api_add_shader(struct pm_json *json, cJSON *object, const struct pm_summary *summary,
                       const struct pm_summary_shader *shader)
{
    char key[PM_SHADER_KEY_TEXT], profile[PM_PROFILE_NAME];
    const uint32_t batch = shader->space < PM_SUMMARY_BATCH ? shader->space : PM_SUMMARY_BATCH;
    const bool timing = shader->kind == PM_KIND_TIMING;
    pm_shader_key_format(&shader->key, key);
    pm_api_profile_name(shader->kind, &shader->environment, profile);
    pm_json_text(json, object, "key", key);
    add_name(json, object, summary, &shader->key);
    pm_json_text(json, object, "profile", profile);
    pm_json_text(json, object, "kind", pm_kind_name(shader->kind));
    pm_api_add_environment(json, object, &shader->environment);
    add_flags(json, object, shader->flags);
    pm_json_flag(json, object, "published", shader->published);
    pm_json_number(json, object, "points", shader->space);
    pm_json_number(json, object, "points_covered", shader->covered);
    pm_json_number(json, object, "points_measured", shader->measured);
    pm_json_number(json, object, "points_lacking", shader->lacking);
    if (shader->candidates != 0)
        pm_json_number(json, object, "left_out", shader->candidates - shader->space);
    else
        pm_json_null(json, object, "left_out");
    pm_json_number(json, object, "entry_lanes", (double)shader->entry_lanes);
    pm_json_number(json, object, "share",
                   summary->entry_lanes ? (double)shader->entry_lanes / (double)summary->entry_lanes
                                        : 0);
    pm_json_number(json, object, "calls", (double)shader->calls);
    /* A timing has no batches: its one point is timed in every pair. */
    pm_json_number(json, object, "samples", (double)shader->calls / (timing ? 1 : batch));
    pm_json_number(json, object, "samples_expected",
                   timing ? 1 : pm_expected_samples(shader->space, PM_SUMMARY_BATCH));
    pm_json_number(json, object, "samples_expected_single",
                   timing ? 1 : pm_expected_samples(shader->space, 1));
    add_timing(json, object, shader);
    add_waits(json, object, shader);
    add_breakdown(json, object, shader);
}

/* ---- lists of them ---- */

enum shader_sort { BY_LANES, BY_KEY, BY_POINTS, BY_MISSING, BY_LACKING, BY_CALLS, BY_TIME };

/* Greater comes first; the key sorts by itself. */
static double sort_value(const struct pm_summary_shader *shader, enum shader_sort sort)
{
    switch (sort) {
    case BY_POINTS:
        return shader->space;
    case BY_MISSING:
        return shader->space - shader->covered;
    case BY_LACKING:
        return shader->lacking;
    case BY_CALLS:
        return (double)shader->calls;
    case BY_TIME: /* what is surely fastest first, what is no timing last */
        return shader->time.sessions > 0 ? -(double)shader->time.high : -HUGE_VAL;
    case BY_LANES:
    case BY_KEY:
        break;
    }
    return (double)shader->entry_lanes;
}

struct sorted {
    const struct pm_summary_shader *shader;
    double value;
};

static int compare_values(const void *a, const void *b)
{
    const struct sorted *left = a, *right = b;
    if (left->value != right->value)
        return left->value > right->value ? -1 : 1;
    return left->shader < right->shader ? -1 : left->shader > right->shader;
}

static int compare_keys(const void *a, const void *b)
{
    const struct sorted *left = a, *right = b;
    const int order =
        memcmp(left->shader->key.bytes, right->shader->key.bytes, PM_SHADER_KEY_BYTES);
    return order != 0 ? order : left->shader < right->shader ? -1 : left->shader > right->shader;
}

struct shader_filter {
    char search[PM_SHADER_KEY_TEXT]; /* lower case; what a key begins with */
    unsigned kind;                   /* 0: any */
};

static bool passes(const struct shader_filter *filter, const struct pm_summary_shader *shader)
{
    char key[PM_SHADER_KEY_TEXT];
    if (filter->kind != 0 && shader->kind != (enum pm_kind)filter->kind)
        return false;
    if (!filter->search[0])
        return true;
    pm_shader_key_format(&shader->key, key);
    return strncmp(key, filter->search, strlen(filter->search)) == 0;
}

static enum MHD_Result list_shaders(struct pm_get *get, const struct pm_summary *summary,
                                    const struct shader_filter *filter, enum shader_sort sort,
                                    bool reverse, const struct pm_page *page)
{
    struct pm_json json;
    size_t count = 0;
    struct sorted *order = calloc(summary->shader_count + 1, sizeof(*order));
    if (!order)
        return pm_http_answer_error(get->connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                    "out of memory for an answer", 0);
    for (size_t i = 0; i < summary->shader_count; i++) {
        const struct pm_summary_shader *shader = &summary->shaders[i];
        if (passes(filter, shader))
            order[count++] = (struct sorted){shader, sort_value(shader, sort)};
    }
    qsort(order, count, sizeof(*order), sort == BY_KEY ? compare_keys : compare_values);
    pm_json_init(&json);
    cJSON *shaders = pm_json_array(&json, json.root, "shaders");
    for (size_t i = page->offset; i < count && i - page->offset < page->limit; i++)
        pm_api_add_shader(&json, pm_json_item(&json, shaders), summary,
                          order[reverse ? count - 1 - i : i].shader);
    free(order);
    pm_json_page(&json, page, count);
    pm_json_number(&json, json.root, "shaders_known", (double)summary->shaders_known);
    pm_json_number(&json, json.root, "batch", PM_SUMMARY_BATCH);
    return pm_json_answer(get, &json);
}

/* A search is the beginning of a key; what is none finds nothing. */
static void set_search(struct shader_filter *filter, const char *text)
{
    size_t length = 0;
    for (; text[length] && length < PM_SHADER_KEY_TEXT - 1; length++)
        filter->search[length] = (char)tolower((unsigned char)text[length]);
    if (text[length])
        filter->search[0] = 'x'; /* longer than any key */
}

enum MHD_Result pm_api_shaders(struct pm_get *get)
{
    static const char *const sorts[] = {"entry_lanes",    "key",   "points", "points_missing",
                                        "points_lacking", "calls", "time",   NULL};
    static const char *const orders[] = {"natural", "reverse", NULL};
    static const char *const kinds[] = {"any",      "block", "zero", "timing",
                                        "constant", "turns", NULL};
    static const unsigned of_choice[] = {
        0, PM_KIND_BLOCK, PM_KIND_ZERO, PM_KIND_TIMING, PM_KIND_CONSTANT, PM_KIND_TURNS};
    struct pm_params params = {.connection = get->connection};
    const struct pm_page page = pm_params_page(&params);
    const enum shader_sort sort = pm_params_choice(&params, "sort", sorts);
    const bool reverse = pm_params_choice(&params, "order", orders) == 1;
    struct shader_filter filter = {.kind = of_choice[pm_params_choice(&params, "kind", kinds)]};
    enum MHD_Result result;
    char *search = pm_params_text(&params, "search");
    if (search)
        set_search(&filter, search);
    free(search);
    struct pm_summary *summary = pm_api_summary(get, &params, &result);
    if (!summary)
        return result;
    result = list_shaders(get, summary, &filter, sort, reverse, &page);
    pm_summary_drop(summary);
    return result;
}

/* All profiles of one key. */
enum MHD_Result pm_api_shader(struct pm_get *get)
{
    struct pm_params params = {.connection = get->connection};
    const struct pm_page page = pm_params_page(&params);
    struct shader_filter filter = {.kind = 0};
    struct pm_shader_key key;
    enum MHD_Result result;
    if (params.field)
        return pm_api_refuse(get, &params);
    if (!pm_shader_key_parse(get->names[1], &key))
        return pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND, "this is no shader key",
                                    0);
    struct pm_summary *summary = pm_api_summary(get, &params, &result);
    if (!summary)
        return result;
    pm_shader_key_format(&key, filter.search);
    bool known = false;
    for (size_t i = 0; i < summary->shader_count && !known; i++)
        known = pm_shader_key_equal(&summary->shaders[i].key, &key);
    result = known ? list_shaders(get, summary, &filter, BY_LANES, false, &page)
                   : pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND,
                                          "the game has no such shader", 0);
    pm_summary_drop(summary);
    return result;
}

/* ---- zero candidates ---- */

static void add_measured(struct pm_json *json, cJSON *object,
                         const struct pm_summary_candidate *candidate)
{
    char key[PM_SHADER_KEY_TEXT], profile[PM_PROFILE_NAME];
    const struct pm_summary_shader *measured = candidate->measured;
    if (!measured) {
        pm_json_null(json, object, "measured");
        return;
    }
    cJSON *inner = pm_json_object(json, object, "measured");
    pm_shader_key_format(&measured->key, key);
    pm_api_profile_name(PM_KIND_TIMING, &measured->environment, profile);
    pm_json_text(json, inner, "key", key);
    pm_json_text(json, inner, "profile", profile);
    add_time(json, inner, &measured->time);
    pm_json_number(json, inner, "timings", candidate->timings);
}

enum MHD_Result pm_api_candidates(struct pm_get *get)
{
    struct pm_params params = {.connection = get->connection};
    const struct pm_page page = pm_params_page(&params);
    enum MHD_Result result;
    struct pm_summary *summary = pm_api_summary(get, &params, &result);
    if (!summary)
        return result;
    struct pm_json json;
    pm_json_init(&json);
    cJSON *candidates = pm_json_array(&json, json.root, "candidates");
    for (size_t i = page.offset; i < summary->candidate_count && i - page.offset < page.limit;
         i++) {
        const struct pm_summary_candidate *candidate = &summary->candidates[i];
        char key[PM_SHADER_KEY_TEXT], profile[PM_PROFILE_NAME];
        cJSON *object = pm_json_item(&json, candidates);
        pm_shader_key_format(&candidate->key, key);
        pm_api_profile_name(PM_KIND_ZERO, &candidate->environment, profile);
        pm_json_text(&json, object, "key", key);
        add_name(&json, object, summary, &candidate->key);
        pm_json_text(&json, object, "profile", profile);
        pm_api_add_environment(&json, object, &candidate->environment);
        pm_json_number(&json, object, "point", candidate->point);
        pm_json_number(&json, object, "probability", candidate->probability);
        pm_json_number(&json, object, "probability_low", candidate->low);
        pm_json_number(&json, object, "probability_high", candidate->high);
        pm_json_number(&json, object, "sessions", candidate->clusters);
        pm_json_number(&json, object, "writes", candidate->writes);
        pm_json_number(&json, object, "hits", candidate->hits);
        const double all = summary->subgroups > 0 ? summary->subgroups : 1;
        pm_json_number(&json, object, "zeros", candidate->hits / all);
        pm_json_number(&json, object, "zeros_low", candidate->hits_low / all);
        pm_json_number(&json, object, "shader_share", candidate->subgroups / all);
        pm_json_number(&json, object, "break_even", 1 / candidate->probability);
        add_measured(&json, object, candidate);
    }
    pm_json_page(&json, &page, summary->candidate_count);
    pm_json_number(&json, json.root, "candidates_known", (double)summary->candidates_known);
    pm_summary_drop(summary);
    return pm_json_answer(get, &json);
}
