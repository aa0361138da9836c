#include "aggregator/service/service_database.h"

#include "aggregator/curation/publish_races.h"
#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_state.h"
#include "base/file.h"
#include "profile/signed_verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BODY_CAP ((size_t)1 << 30)

static struct MHD_Response *make_response(struct pm_buffer *body, const char *etag)
{
    char quoted[PM_ETAG_TEXT + 2];
    snprintf(quoted, sizeof(quoted), "\"%s\"", etag);
    struct MHD_Response *response =
        body ? MHD_create_response_from_buffer(body->size, body->data, MHD_RESPMEM_MUST_FREE)
             : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return NULL;
    if (body)
        *body = (struct pm_buffer){.cap = body->cap}; /* the response frees it */
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, quoted);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    if (body)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/zstd");
    return response;
}

/* What a publication's body is kept under; no two have the same. malloc'ed. */
static char *name_of(const struct pm_publication *publication)
{
    char *name = NULL;
    if (asprintf(&name, "%d %zu %s%s", publication->previous, strlen(publication->game),
                 publication->game, publication->scene) < 0)
        return NULL;
    return name;
}

/* Reads the body, and keeps it under its own ETag, which may be newer by now. */
static struct MHD_Response *read_body(struct pm_service *service, const char *name,
                                      const struct pm_publication *publication,
                                      struct pm_error *error)
{
    char etag[PM_ETAG_TEXT];
    struct pm_buffer body;
    struct MHD_Response *response = NULL;
    pm_buffer_init(&body, BODY_CAP);
    if (pm_aggregator_publication(service->aggregator, publication, etag, &body, error)) {
        const size_t bytes = body.size;
        response = make_response(&body, etag);
        if (response && !pm_bodies_keep(&service->bodies, name, etag, response, bytes)) {
            MHD_destroy_response(response);
            response = NULL;
        }
        if (!response)
            pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database");
    }
    pm_buffer_finish(&body);
    return response;
}

static bool queue_database(struct pm_service *service, struct MHD_Connection *connection,
                           const struct pm_publication *publication, enum MHD_Result *result,
                           struct pm_error *error)
{
    char etag[PM_ETAG_TEXT];
    struct MHD_Response *response = NULL;
    char *name = name_of(publication);
    if (!name)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database");
    pthread_mutex_lock(&service->bodies.mutex);
    if (pm_aggregator_publication(service->aggregator, publication, etag, NULL, error)) {
        response = pm_bodies_find(&service->bodies, name, etag);
        if (!response)
            response = read_body(service, name, publication, error);
        if (response)
            *result = MHD_queue_response(connection, MHD_HTTP_OK, response);
    }
    pthread_mutex_unlock(&service->bodies.mutex);
    free(name);
    return response != NULL;
}

static enum MHD_Result answer(struct pm_service *service, struct MHD_Connection *connection,
                              const struct pm_publication *publication)
{
    char etag[PM_ETAG_TEXT];
    struct pm_error error = {0};
    enum MHD_Result result = MHD_NO;
    const char *condition =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_IF_NONE_MATCH);
    bool done = pm_aggregator_publication(service->aggregator, publication, etag, NULL, &error);
    if (done && pm_http_matches(condition, etag)) {
        struct MHD_Response *response = make_response(NULL, etag);
        if (!response)
            return MHD_NO;
        result = MHD_queue_response(connection, MHD_HTTP_NOT_MODIFIED, response);
        MHD_destroy_response(response);
        return result;
    }
    if (done && queue_database(service, connection, publication, &result, &error))
        return result;
    if (error.code == PM_ERROR_STATE)
        return pm_http_answer_error(connection, MHD_HTTP_NOT_FOUND, error.message, 0);
    pm_log_error(service->log, "cannot read the database of \"%s\": %s", publication->game,
                 error.message);
    return pm_http_answer_unread(connection, &error,
                                 "the database cannot be read; the log says why");
}

/* The body is made for this one request, and small. */
static enum MHD_Result answer_no_races(struct pm_get *get)
{
    char etag[PM_ETAG_TEXT];
    struct pm_buffer body;
    struct pm_error error = {0};
    enum MHD_Result result = MHD_NO;
    pm_buffer_init(&body, PM_RACES_BODY_BYTES);
    if (!pm_races_none(get->names[0], &body, etag, &error)) {
        pm_buffer_finish(&body);
        return pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND, error.message, 0);
    }
    const bool same = pm_http_matches(MHD_lookup_connection_value(get->connection, MHD_HEADER_KIND,
                                                                  MHD_HTTP_HEADER_IF_NONE_MATCH),
                                      etag);
    struct MHD_Response *response = make_response(same ? NULL : &body, etag);
    if (response) {
        result = MHD_queue_response(get->connection, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK,
                                    response);
        MHD_destroy_response(response);
    }
    pm_buffer_finish(&body);
    return result;
}

enum MHD_Result pm_get_races(struct pm_get *get)
{
    const struct pm_publication publication = {.game = get->names[0],
                                               .scene = PM_RACES_PUBLICATION};
    char etag[PM_ETAG_TEXT];
    struct pm_error error = {0};
    if (!pm_aggregator_publication(get->service->aggregator, &publication, etag, NULL, &error) &&
        error.code == PM_ERROR_STATE)
        return answer_no_races(get);
    return answer(get->service, get->connection, &publication);
}

static enum MHD_Result answer_version(struct pm_get *get, bool previous)
{
    bool bad;
    char *scene = pm_route_parameter(get->connection, "scene", &bad);
    if (scene && strcmp(scene, PM_RACES_PUBLICATION) == 0)
        bad = true;
    const struct pm_publication publication = {
        .game = get->names[0], .scene = scene ? scene : "", .previous = previous};
    const enum MHD_Result result = bad ? pm_http_answer_error(get->connection, MHD_HTTP_BAD_REQUEST,
                                                              "scene: has a broken escape", 0)
                                       : answer(get->service, get->connection, &publication);
    free(scene);
    return result;
}

enum MHD_Result pm_get_database(struct pm_get *get)
{
    return answer_version(get, false);
}

enum MHD_Result pm_get_previous_database(struct pm_get *get)
{
    return answer_version(get, true);
}

enum MHD_Result pm_get_verdicts(struct pm_get *get)
{
    struct pm_buffer text;
    struct pm_error error = {0};
    char *name = pm_file_safe_name(get->names[0]), *path = NULL;
    enum MHD_Result result = MHD_NO;
    pm_buffer_init(&text, PM_SIGNED_VERDICTS_BYTES);
    if (get->service->verdicts_folder && name &&
        asprintf(&path, "%s/%s.verdicts", get->service->verdicts_folder, name) < 0)
        path = NULL;
    if (!path || access(path, F_OK) != 0) {
        result = pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND,
                                      "nobody signed verdicts on this game", 0);
    } else if (!pm_file_read(path, &text, &error)) {
        pm_log_error(get->service->log, "cannot read verdicts: %s", error.message);
        result = pm_http_answer_error(get->connection, MHD_HTTP_NOT_FOUND,
                                      "the verdicts cannot be read; the log says why", 0);
    } else {
        struct MHD_Response *response =
            MHD_create_response_from_buffer(text.size, text.data, MHD_RESPMEM_MUST_COPY);
        if (response) {
            MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                                    "text/plain; charset=utf-8");
            MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
            MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
            result = MHD_queue_response(get->connection, MHD_HTTP_OK, response);
            MHD_destroy_response(response);
        }
    }
    pm_buffer_finish(&text);
    free(path);
    free(name);
    return result;
}
