/* The API: the service itself, its games, and one game as a whole. */
#include "aggregator/dashboard/api.h"

#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_get.h"
#include "aggregator/service/service_state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RATE_SECONDS 60
#define MOST_SAMPLES 1000
#define SAMPLES 200

/* ---- the service ---- */

enum MHD_Result pm_api_status(struct pm_get *get)
{
    struct pm_service *service = get->service;
    struct pm_metrics *metrics = &service->metrics;
    const struct pm_metrics_gauges gauges = pm_service_gauges(service);
    struct pm_json json;
    pm_json_init(&json);
    pm_json_text(&json, json.root, "version", PM_VERSION);
    pm_json_number(&json, json.root, "started_at", (double)metrics->started);
    cJSON *uploads = pm_json_object(&json, json.root, "uploads");
    for (unsigned i = 0; i < PM_UPLOAD_RESULTS; i++)
        pm_json_number(&json, uploads, pm_upload_result_names[i],
                       (double)atomic_load(&metrics->uploads[i]));
    pm_json_number(&json, json.root, "uploads_per_second", pm_metrics_upload_rate(metrics));
    pm_json_number(&json, json.root, "queue_depth", (double)gauges.queued);
    pm_json_number(&json, json.root, "connections", (double)gauges.connections);
    pm_json_number(&json, json.root, "storage_bytes", (double)gauges.storage_bytes);
    pm_json_number(&json, json.root, "resident_bytes", (double)pm_metrics_resident_bytes());
    pm_json_number(&json, json.root, "cpu_seconds", pm_metrics_cpu_seconds());
    return pm_json_answer(get, &json);
}

/* ---- games ---- */

struct game_row {
    char *name;
    uint64_t uploads;
};

struct game_list {
    struct game_row *rows;
    size_t count, allocated;
    const char *search; /* NULL: all */
};

static bool visit_game(void *user, const char *name, uint64_t uploads, struct pm_error *error)
{
    struct game_list *list = user;
    if (list->search && !strcasestr(name, list->search))
        return true;
    if (list->count == list->allocated) {
        const size_t more = list->allocated ? 2 * list->allocated : 64;
        struct game_row *rows = realloc(list->rows, more * sizeof(*rows));
        if (!rows)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a list of games");
        list->rows = rows;
        list->allocated = more;
    }
    char *copy = strdup(name);
    if (!copy)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a list of games");
    list->rows[list->count++] = (struct game_row){copy, uploads};
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct game_row *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static int by_uploads(const void *a, const void *b)
{
    const struct game_row *left = a, *right = b;
    if (left->uploads != right->uploads)
        return left->uploads > right->uploads ? -1 : 1;
    return by_name(a, b);
}

static void add_totals(struct pm_json *json, cJSON *object, const struct pm_summary *summary)
{
    static const char *const names[] = {"curated_at",      "points",  "points_covered",
                                        "points_measured", "shaders", "shaders_published"};
    const double values[] = {
        (double)summary->whole.curated_at,     (double)summary->whole.points,
        (double)summary->whole.points_covered, (double)summary->measured,
        (double)summary->shaders_known,        (double)summary->shaders_published};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        pm_json_number(json, object, names[i], values[i]);
}

static void add_game(struct pm_get *get, struct pm_json *json, cJSON *games,
                     const struct game_row *row)
{
    struct pm_summary *summary = pm_summaries_find(&get->service->summaries, row->name);
    cJSON *game = pm_json_item(json, games);
    pm_json_text(json, game, "name", row->name);
    pm_json_number(json, game, "uploads", (double)row->uploads);
    pm_json_flag(json, game, "summarized", summary != NULL);
    if (summary)
        add_totals(json, game, summary);
    pm_summary_drop(summary);
}

enum MHD_Result pm_api_games(struct pm_get *get)
{
    static const char *const sorts[] = {"name", "uploads", NULL};
    static const char *const orders[] = {"natural", "reverse", NULL};
    struct pm_service *service = get->service;
    struct pm_storage *storage = pm_aggregator_storage(service->aggregator);
    struct pm_params params = {.connection = get->connection};
    const struct pm_page page = pm_params_page(&params);
    const bool uploads_first = pm_params_choice(&params, "sort", sorts) == 1;
    const bool reverse = pm_params_choice(&params, "order", orders) == 1;
    char *search = pm_params_text(&params, "search");
    struct game_list list = {.search = search};
    struct pm_error error;
    enum MHD_Result result;
    if (params.field) {
        result = pm_api_refuse(get, &params);
    } else if (!storage->operations->list_games(storage, visit_game, &list, &error)) {
        pm_log_error(service->log, "cannot list the games: %s", error.message);
        result = pm_http_answer_unread(get->connection, &error,
                                       "the games cannot be listed; the log says why");
    } else {
        struct pm_json json;
        pm_json_init(&json);
        cJSON *games = pm_json_array(&json, json.root, "games");
        if (list.count > 0)
            qsort(list.rows, list.count, sizeof(*list.rows), uploads_first ? by_uploads : by_name);
        for (size_t i = page.offset; i < list.count && i - page.offset < page.limit; i++)
            add_game(get, &json, games, &list.rows[reverse ? list.count - 1 - i : i]);
        pm_json_page(&json, &page, list.count);
        result = pm_json_answer(get, &json);
    }
    for (size_t i = 0; i < list.count; i++)
        free(list.rows[i].name);
    free(list.rows);
    free(search);
    return result;
}

/* ---- one game ---- */

/* Uploads a second over the last minute; a game that nobody curated for so long had none. */
static double upload_rate(const struct pm_summary *summary)
{
    const struct pm_summary_history *history = &summary->history;
    const int64_t now = (int64_t)time(NULL);
    for (size_t i = history->count; i-- > 0;) {
        const struct pm_summary_sample *sample = &history->samples[i];
        if (now - sample->time >= RATE_SECONDS || i == 0) {
            const int64_t seconds = now > sample->time ? now - sample->time : 1;
            /* Fewer than before: the game was dropped meanwhile. */
            return summary->whole.uploads > sample->uploads
                       ? (double)(summary->whole.uploads - sample->uploads) / (double)seconds
                       : 0;
        }
    }
    return 0;
}

/* What most machines have first. */
static int by_shaders(const void *a, const void *b)
{
    const struct pm_left_alone_count *left = *(const struct pm_left_alone_count *const *)a,
                                     *right = *(const struct pm_left_alone_count *const *)b;
    if (left->shaders != right->shaders)
        return left->shaders > right->shaders ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void add_left_alone(struct pm_json *json, const struct pm_left_alone_count *counts)
{
    const struct pm_left_alone_count *sorted[PM_LEFT_ALONE_WHYS];
    cJSON *list = pm_json_array(json, json->root, "left_alone");
    for (size_t i = 0; i < PM_LEFT_ALONE_WHYS; i++)
        sorted[i] = &counts[i];
    qsort(sorted, PM_LEFT_ALONE_WHYS, sizeof(sorted[0]), by_shaders);
    for (size_t i = 0; i < PM_LEFT_ALONE_WHYS && sorted[i]->shaders > 0; i++) {
        const enum pm_left_alone_why why = (enum pm_left_alone_why)(sorted[i] - counts);
        cJSON *one = pm_json_item(json, list);
        pm_json_text(json, one, "why", pm_left_alone_name(why));
        pm_json_text(json, one, "text", pm_left_alone_text(why));
        pm_json_number(json, one, "shaders", sorted[i]->shaders);
        pm_json_number(json, one, "tokens", sorted[i]->tokens);
        pm_json_number(json, one, "day", sorted[i]->day);
    }
}

enum MHD_Result pm_api_game(struct pm_get *get)
{
    const struct pm_params none = {0};
    enum MHD_Result result;
    struct pm_summary *summary = pm_api_summary(get, &none, &result);
    struct pm_error error;
    char etag[PM_ETAG_TEXT];
    if (!summary)
        return result;
    struct pm_json json;
    pm_json_init(&json);
    pm_json_text(&json, json.root, "name", summary->game);
    pm_json_number(&json, json.root, "uploads", (double)summary->whole.uploads);
    pm_json_number(&json, json.root, "uploads_per_second", upload_rate(summary));
    add_totals(&json, json.root, summary);
    pm_json_number(&json, json.root, "calls", (double)summary->calls);
    pm_json_number(&json, json.root, "entry_lanes", (double)summary->entry_lanes);
    pm_json_number(&json, json.root, "candidates", (double)summary->candidates_known);
    pm_json_number(&json, json.root, "batch", PM_SUMMARY_BATCH);
    pm_json_number(&json, json.root, "points_expected",
                   summary->curve.batches[PM_SUMMARY_CURVE - 1]);
    pm_json_number(&json, json.root, "points_expected_single",
                   summary->curve.singles[PM_SUMMARY_CURVE - 1]);
    if (pm_aggregator_database(get->service->aggregator, summary->game, etag, NULL, &error))
        pm_json_text(&json, json.root, "database_etag", etag);
    else
        pm_json_null(&json, json.root, "database_etag");
    add_left_alone(&json, summary->whole.left_alone);
    pm_summary_drop(summary);
    return pm_json_answer(get, &json);
}

/* ---- coverage over time ---- */

static void add_sample(struct pm_json *json, cJSON *samples, const struct pm_summary *summary,
                       const struct pm_summary_sample *sample,
                       const struct pm_summary_sample *before)
{
    const double now = summary->whole.uploads ? (double)summary->whole.uploads : 1;
    const double share = (double)sample->uploads / now;
    cJSON *object = pm_json_item(json, samples);
    pm_json_number(json, object, "time", (double)sample->time);
    pm_json_number(json, object, "uploads", (double)sample->uploads);
    pm_json_number(json, object, "points_covered", (double)sample->points_covered);
    pm_json_number(json, object, "points", (double)sample->points);
    pm_json_number(json, object, "points_expected",
                   pm_summary_expected(summary->curve.batches, share));
    pm_json_number(json, object, "points_expected_single",
                   pm_summary_expected(summary->curve.singles, share));
    if (before && sample->time > before->time && sample->uploads >= before->uploads)
        pm_json_number(json, object, "uploads_per_second",
                       (double)(sample->uploads - before->uploads) /
                           (double)(sample->time - before->time));
    else
        pm_json_null(json, object, "uploads_per_second");
}

enum MHD_Result pm_api_coverage(struct pm_get *get)
{
    struct pm_params params = {.connection = get->connection};
    const size_t most = pm_params_number(&params, "samples", SAMPLES, 2, MOST_SAMPLES);
    enum MHD_Result result;
    struct pm_summary *summary = pm_api_summary(get, &params, &result);
    if (!summary)
        return result;
    struct pm_json json;
    pm_json_init(&json);
    cJSON *samples = pm_json_array(&json, json.root, "samples");
    const struct pm_summary_history *history = &summary->history;
    const struct pm_summary_sample *before = NULL;
    const struct pm_summary_sample newest = {(int64_t)summary->whole.curated_at,
                                             summary->whole.uploads, summary->whole.points_covered,
                                             summary->whole.points};
    /* Evenly over the history, and the summary's own last. */
    const size_t chosen = history->count < most - 1 ? history->count : most - 1;
    for (size_t i = 0; i < chosen; i++) {
        const struct pm_summary_sample *sample = &history->samples[i * history->count / chosen];
        if (sample->time >= newest.time)
            continue;
        add_sample(&json, samples, summary, sample, before);
        before = sample;
    }
    add_sample(&json, samples, summary, &newest, before);
    pm_json_number(&json, json.root, "samples_known", (double)history->seen);
    pm_json_number(&json, json.root, "batch", PM_SUMMARY_BATCH);
    pm_summary_drop(summary);
    return pm_json_answer(get, &json);
}
