/* The API: the points of one shader, estimated from the storage when they are asked for. */
#include "aggregator/dashboard/api.h"

#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_state.h"
#include <stdlib.h>
#include <string.h>

enum point_sort { BY_POINT, BY_ESTIMATE, BY_WIDTH, BY_CALLS };

struct points_answer {
    struct pm_json json;
    struct pm_page page;
    enum point_sort sort;
    bool reverse;
    unsigned measure; /* that estimates and widths are sorted by */
    bool only_lacking;
    const char *profile;
    bool found;
};

struct sorted {
    uint32_t point;
    double value;
};

static int compare(const void *a, const void *b)
{
    const struct sorted *left = a, *right = b;
    if (left->value != right->value)
        return left->value > right->value ? -1 : 1;
    return left->point < right->point ? -1 : left->point > right->point;
}

/* Greater comes first. */
static double sort_value(const struct pm_point_estimate *estimate, enum point_sort sort,
                         unsigned measure)
{
    const struct pm_ratio *ratio = &estimate->measures[measure];
    switch (sort) {
    case BY_ESTIMATE:
        return ratio->clusters ? ratio->ratio : -1;
    case BY_WIDTH:
        return ratio->ratio_high - ratio->ratio_low;
    case BY_CALLS:
        return estimate->calls;
    case BY_POINT:
        break;
    }
    return 0;
}

static bool lacks(const struct pm_shader_estimates *shader, uint32_t point)
{
    return shader->deficit && (shader->deficit[point / 8] >> (point % 8) & 1) != 0;
}

static const char *level_name(uint8_t level)
{
    return level == PM_PROVISIONAL_LIKELY     ? "likely"
           : level == PM_PROVISIONAL_UNLIKELY ? "unlikely"
                                              : "unknown";
}

static void add_measure(struct pm_json *json, cJSON *measures, const char *name,
                        const struct pm_ratio *ratio, const struct pm_measure_counts *sums)
{
    cJSON *object = pm_json_item(json, measures);
    pm_json_text(json, object, "name", name);
    pm_json_number(json, object, "mean", ratio->mean);
    pm_json_number(json, object, "mean_low", ratio->mean_low);
    pm_json_number(json, object, "mean_high", ratio->mean_high);
    pm_json_number(json, object, "ratio", ratio->ratio);
    pm_json_number(json, object, "ratio_low", ratio->ratio_low);
    pm_json_number(json, object, "ratio_high", ratio->ratio_high);
    pm_json_number(json, object, "sessions", ratio->clusters);
    double bins[PM_HISTOGRAM_BINS] = {0};
    for (unsigned i = 0; sums && i < PM_HISTOGRAM_BINS; i++)
        bins[i] = (double)sums->histogram[i];
    cJSON *histogram = cJSON_CreateDoubleArray(bins, PM_HISTOGRAM_BINS);
    if (!histogram || !cJSON_AddItemToObject(object, "histogram", histogram)) {
        cJSON_Delete(histogram);
        json->failed = true;
    }
}

static void add_point(struct pm_json *json, cJSON *points, const struct pm_judged *judged,
                      uint32_t point)
{
    const struct pm_shader_estimates *shader = judged->shader;
    const struct pm_point_estimate *estimate = &shader->points[point];
    const struct pm_point_statistics *sums = pm_statistics_find(judged->statistics, point);
    cJSON *object = pm_json_item(json, points);
    pm_json_number(json, object, "point", point);
    pm_json_number(json, object, "calls", estimate->calls);
    pm_json_number(json, object, "sessions", estimate->sessions);
    pm_json_flag(json, object, "lacking", lacks(shader, point));
    pm_json_flag(json, object, "at_most_once",
                 pm_statistics_is_at_most_once(judged->statistics, point));
    if (shader->provisional)
        pm_json_text(json, object, "provisional", level_name(shader->provisional[point]));
    else
        pm_json_null(json, object, "provisional");
    cJSON *measures = pm_json_array(json, object, "measures");
    for (unsigned i = 0; i < pm_measure_count(shader->kind); i++)
        add_measure(json, measures, pm_measure_name(shader->kind, i), &estimate->measures[i],
                    sums ? &sums->measures[i] : NULL);
}

static bool observe(void *user, const struct pm_judged *judged, struct pm_error *error)
{
    struct points_answer *answer = user;
    const struct pm_shader_estimates *shader = judged->shader;
    char profile[PM_PROFILE_NAME];
    pm_api_profile_name(shader->kind, &shader->environment, profile);
    if (strcmp(profile, answer->profile) != 0)
        return true;
    answer->found = true;
    struct sorted *order = calloc((size_t)shader->space + 1, sizeof(*order));
    if (!order)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", shader->space);
    const unsigned measure = answer->measure < pm_measure_count(shader->kind) ? answer->measure : 0;
    size_t count = 0;
    for (uint32_t i = 0; i < shader->space; i++) {
        if (!answer->only_lacking || lacks(shader, i))
            order[count++] =
                (struct sorted){i, sort_value(&shader->points[i], answer->sort, measure)};
    }
    qsort(order, count, sizeof(*order), compare);
    struct pm_json *json = &answer->json;
    cJSON *points = pm_json_array(json, json->root, "points");
    for (size_t i = answer->page.offset; i < count && i - answer->page.offset < answer->page.limit;
         i++)
        add_point(json, points, judged, order[answer->reverse ? count - 1 - i : i].point);
    free(order);
    pm_json_page(json, &answer->page, count);
    return true;
}

/* low and high of each bin; high is null for the last. A bin holds its upper edge where that is
 * above 1, and its lower edge below. */
static void add_bins(struct pm_json *json)
{
    cJSON *bins = pm_json_array(json, json->root, "bins");
    for (unsigned i = 0; i < PM_HISTOGRAM_BINS; i++) {
        cJSON *bin = pm_json_item(json, bins);
        double low = 0, high = 0;
        if (i == PM_HISTOGRAM_ONE) {
            low = high = 1;
        } else if (i > PM_HISTOGRAM_ONE) {
            const unsigned above = i - PM_HISTOGRAM_ONE - 1;
            low = above > 0 ? pm_histogram_half_edges[above - 1] / 2.0 : 1;
            high = above < PM_HISTOGRAM_EDGES ? pm_histogram_half_edges[above] / 2.0 : 0;
        } else if (i > 0) {
            low = (i - 1) / 10.0;
            high = i / 10.0;
        }
        pm_json_number(json, bin, "low", low);
        if (i + 1 < PM_HISTOGRAM_BINS)
            pm_json_number(json, bin, "high", high);
        else
            pm_json_null(json, bin, "high");
    }
}

static const struct pm_summary_shader *
find_shader(const struct pm_summary *summary, const struct pm_shader_key *key, const char *profile)
{
    for (size_t i = 0; i < summary->shader_count; i++) {
        const struct pm_summary_shader *shader = &summary->shaders[i];
        char name[PM_PROFILE_NAME];
        if (!pm_shader_key_equal(&shader->key, key))
            continue;
        pm_api_profile_name(shader->kind, &shader->environment, name);
        if (strcmp(name, profile) == 0)
            return shader;
    }
    return NULL;
}

static enum MHD_Result answer_points(struct pm_get *get, const struct pm_summary *summary,
                                     struct points_answer *answer)
{
    struct pm_shader_key key;
    struct pm_error error;
    const struct pm_summary_shader *shader = pm_shader_key_parse(get->names[1], &key)
                                                 ? find_shader(summary, &key, answer->profile)
                                                 : NULL;
    if (!shader)
        return pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND,
                                    "the game has no such shader with such a profile", 0);
    pm_json_init(&answer->json);
    pm_api_add_shader(&answer->json, pm_json_object(&answer->json, answer->json.root, "shader"),
                      summary, shader);
    const bool done = pm_curate_read_shader(pm_aggregator_curator(get->service->aggregator),
                                            summary->game, &key, observe, answer, &error);
    /* Another profile of the shader may be too large, and this one is there. */
    if (answer->found && (done || error.code == PM_ERROR_LIMIT)) {
        add_bins(&answer->json);
        return pm_json_answer(get, &answer->json);
    }
    cJSON_Delete(answer->json.root);
    if (done)
        return pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND, "the shader was forgotten",
                                    0);
    pm_log_error(get->service->log, "cannot read a shader of \"%s\": %s", summary->game,
                 error.message);
    return pm_http_answer_unread(get->connection, &error,
                                 "the shader cannot be read; the log says why");
}

enum MHD_Result pm_api_points(struct pm_get *get)
{
    static const char *const sorts[] = {"point", "estimate", "width", "calls", NULL};
    static const char *const orders[] = {"natural", "reverse", NULL};
    static const char *const which[] = {"all", "lacking", NULL};
    struct pm_params params = {.connection = get->connection};
    struct points_answer answer = {.page = pm_params_page(&params), .profile = get->names[2]};
    answer.sort = pm_params_choice(&params, "sort", sorts);
    answer.reverse = pm_params_choice(&params, "order", orders) == 1;
    answer.measure = (unsigned)pm_params_number(&params, "measure", 0, 0, PM_MEASURES - 1);
    answer.only_lacking = pm_params_choice(&params, "which", which) == 1;
    enum MHD_Result result;
    struct pm_summary *summary = pm_api_summary(get, &params, &result);
    if (!summary)
        return result;
    result = answer_points(get, summary, &answer);
    pm_summary_drop(summary);
    return result;
}
