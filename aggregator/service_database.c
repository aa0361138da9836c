/* Answers with PGO databases, whose bodies all connections share. */
#include "aggregator/service_private.h"
#include "aggregator/service_routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_CAP ((size_t)1 << 30)

bool pm_http_matches(const char *condition, const char *etag)
{
    const size_t length = strlen(etag);
    if (!condition)
        return false;
    while (*condition) {
        condition += strspn(condition, " \t,");
        if (*condition == '*')
            return true;
        if (strncmp(condition, "W/", 2) == 0)
            condition += 2;
        if (*condition == '"' && strncmp(condition + 1, etag, length) == 0 &&
            condition[1 + length] == '"')
            return true;
        condition += strcspn(condition, ",");
    }
    return false;
}

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

/* What the cache knows a publication by; no two have the same. malloc'ed. */
static char *name_of(const struct pm_publication *publication)
{
    char *name = NULL;
    if (asprintf(&name, "%d %zu %s%s", publication->previous, strlen(publication->game),
                 publication->game, publication->scene) < 0)
        return NULL;
    return name;
}

/* The slot of that name, or the one used longest ago. */
static struct pm_cached_database *cache_slot(struct pm_service *service, const char *name)
{
    struct pm_cached_database *oldest = &service->cache[0];
    for (size_t i = 0; i < PM_CACHED_DATABASES; i++) {
        struct pm_cached_database *slot = &service->cache[i];
        if (slot->name && strcmp(slot->name, name) == 0)
            return slot;
        if (slot->used < oldest->used)
            oldest = slot;
    }
    return oldest;
}

static void cache_clear(struct pm_cached_database *slot)
{
    free(slot->name);
    if (slot->response)
        MHD_destroy_response(slot->response);
    memset(slot, 0, sizeof(*slot));
}

/* Reads the body into the slot; takes over the name. */
static bool fill_slot(struct pm_service *service, struct pm_cached_database *slot, char *name,
                      const struct pm_publication *publication, struct pm_error *error)
{
    struct pm_buffer body;
    pm_buffer_init(&body, BODY_CAP);
    cache_clear(slot);
    slot->name = name;
    bool done =
        pm_aggregator_publication(service->aggregator, publication, slot->etag, &body, error);
    if (done && !(slot->response = make_response(&body, slot->etag)))
        done = pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database");
    if (!done)
        cache_clear(slot);
    pm_buffer_finish(&body);
    return done;
}

/* Queues the body; one lock holds for all, so that a body that many ask for is read once. */
static bool queue_database(struct pm_service *service, struct MHD_Connection *connection,
                           const struct pm_publication *publication, enum MHD_Result *result,
                           struct pm_error *error)
{
    char etag[PM_ETAG_TEXT];
    char *name = name_of(publication);
    if (!name)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database");
    pthread_mutex_lock(&service->cache_mutex);
    struct pm_cached_database *slot = cache_slot(service, name);
    bool done = pm_aggregator_publication(service->aggregator, publication, etag, NULL, error);
    if (done && (!slot->name || strcmp(slot->name, name) != 0 || strcmp(slot->etag, etag) != 0)) {
        done = fill_slot(service, slot, name, publication, error);
        name = NULL;
    }
    if (done) {
        slot->used = ++service->cache_uses;
        *result = MHD_queue_response(connection, MHD_HTTP_OK, slot->response);
    }
    pthread_mutex_unlock(&service->cache_mutex);
    free(name);
    return done;
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
    return pm_http_answer_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR,
                                "the database cannot be read; the log says why", 0);
}

static enum MHD_Result answer_version(struct pm_get *get, bool previous)
{
    bool bad;
    char *scene = pm_route_parameter(get->connection, "scene", &bad);
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

void pm_database_finish(struct pm_service *service)
{
    for (size_t i = 0; i < PM_CACHED_DATABASES; i++)
        cache_clear(&service->cache[i]);
}
