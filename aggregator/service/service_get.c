#include "aggregator/service/service_get.h"

#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_database.h"
#include "aggregator/service/service_rules.h"
#include "aggregator/service/service_state.h"

#include <string.h>
#include <time.h>

#define SECONDS_A_DAY 86400
#define METRICS_CAP ((size_t)1 << 20)

/* ---- health ---- */

/* Any answer says that it is alive; 200, that uploads may be sent to it. */
static enum MHD_Result answer_health(struct pm_get *get)
{
    struct pm_service *service = get->service;
    struct MHD_Connection *connection = get->connection;
    pthread_mutex_lock(&service->mutex);
    const bool failed = service->commit_failed, stopping = service->stopping;
    pthread_mutex_unlock(&service->mutex);
    if (stopping)
        return pm_http_answer_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                    "the service is stopping", 0);
    if (failed)
        return pm_http_answer_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                    "the last uploads could not be stored; the log says why", 0);
    return pm_http_answer_json(connection, MHD_HTTP_OK, "{\"status\":\"ok\"}", NULL);
}

/* ---- metrics ---- */

static bool add_bytes(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                      struct pm_error *error)
{
    (void)game;
    (void)part;
    (void)rows;
    (void)error;
    *(uint64_t *)user += bytes;
    return true;
}

/* When the first certificate of the chain ends; 0: there is none. */
static uint64_t certificate_ends(struct pm_service *service)
{
    time_t from, until, first = 0;
    pthread_mutex_lock(&service->mutex);
    struct pm_credentials *credentials = pm_credentials_share(service->credentials);
    pthread_mutex_unlock(&service->mutex);
    for (unsigned i = 0; credentials && pm_credentials_dates(credentials, i, &from, &until); i++)
        first = i == 0 || until < first ? until : first;
    pm_credentials_drop(credentials);
    return first > 0 ? (uint64_t)first : 0;
}

struct pm_metrics_gauges pm_service_gauges(struct pm_service *service)
{
    struct pm_storage *storage = pm_aggregator_storage(service->aggregator);
    const struct pm_summaries_totals totals = pm_summaries_totals(&service->summaries);
    struct pm_metrics_gauges gauges = {.queued = pm_commit_queued(service),
                                       .held_bytes = atomic_load(&service->held),
                                       .games = totals.games,
                                       .shaders = totals.shaders,
                                       .points = totals.points,
                                       .points_covered = totals.points_covered};
    struct pm_error error;
    memcpy(gauges.waiting, totals.waiting, sizeof(gauges.waiting));
    gauges.certificate_ends = certificate_ends(service);
    gauges.disagreements = pm_aggregator_disagreements(service->aggregator);
    gauges.unvouched = pm_aggregator_unvouched_games(service->aggregator);
    gauges.tokens_today = pm_tally_count(&service->tally, (int64_t)time(NULL) / SECONDS_A_DAY);
    if (!storage->operations->list_samples(storage, NULL, add_bytes, &gauges.samples_bytes, &error))
        pm_log_warning(service->log, "%s", error.message);
    if (!storage->operations->read_bytes(storage, &gauges.storage_bytes, &error))
        pm_log_warning(service->log, "%s", error.message);
    pthread_mutex_lock(&service->mutex);
    for (const struct pm_peer *peer = service->peers; peer; peer = peer->next)
        gauges.connections++;
    pthread_mutex_unlock(&service->mutex);
    return gauges;
}

static enum MHD_Result answer_metrics(struct pm_get *get)
{
    struct pm_buffer text;
    const struct pm_metrics_gauges gauges = pm_service_gauges(get->service);
    pm_buffer_init(&text, METRICS_CAP);
    enum MHD_Result result = MHD_NO;
    struct MHD_Response *response =
        pm_metrics_write(&get->service->metrics, &gauges, &text)
            ? MHD_create_response_from_buffer(text.size, text.data, MHD_RESPMEM_MUST_COPY)
            : NULL;
    if (response) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                "text/plain; version=0.0.4; charset=utf-8");
        result = MHD_queue_response(get->connection, MHD_HTTP_OK, response);
        MHD_destroy_response(response);
    }
    pm_buffer_finish(&text);
    return result;
}

/* ---- the table ---- */

#define GAME "/v1/games/{}"

static const struct pm_route routes[] = {
    {"/v1/uploads", PM_ACCESS_UPLOAD, NULL},
    {"/healthz", PM_ACCESS_OPEN, answer_health},
    {"/metrics", PM_ACCESS_READ, answer_metrics},
    {GAME "/database", PM_ACCESS_PULL, pm_get_database},
    {GAME "/verdicts", PM_ACCESS_PULL, pm_get_verdicts},
    {GAME "/rules", PM_ACCESS_PULL, pm_get_rules},
    {GAME "/races", PM_ACCESS_PULL, pm_get_races},
    {GAME "/database/previous", PM_ACCESS_PULL, pm_get_previous_database},
};

const struct pm_routes pm_service_routes = {routes, sizeof(routes) / sizeof(routes[0])};
