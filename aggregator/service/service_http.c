/* Requests: who may, what for, and the body of an upload. */
#include "aggregator/service/service_answer.h"
#include "aggregator/service/service_field.h"
#include "aggregator/service/service_get.h"
#include "aggregator/service/service_rules.h"
#include "aggregator/service/service_state.h"

#include "base/clock.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FULL_SECONDS 60 /* until somebody may have made space */
#define CLOSED "the dashboard is closed: it has no tokens (--dashboard-token-file)"
/* What a point takes in the statistics of a day (docs/operating.md, Sizing). */
#define POINT_BYTES 130
/* What a claim takes in the storage until its day has ended, and in memory while it is noted. */
#define MARK_BYTES 128
#define CLAIM_BYTES ((size_t)512)
#define LARGE_PROFILE ((size_t)1 << 20)
/* A body that is refused while it comes in is read to its end, so that the peer sees why, but no
 * further than this. */
#define THROW_AWAY ((size_t)16 << 20)
#define READ_BEFORE_REFUSING ((size_t)256 << 10)

static void drop_body(struct pm_request *request)
{
    pm_buffer_finish(&request->body);
    pm_prepared_destroy(request->prepared);
    request->prepared = NULL;
    pm_arena_destroy(request->arena);
    request->arena = NULL;
    pm_hold(request, 0);
}

/* field: NULL: the one that the message is about. */
static void refuse(struct pm_request *request, unsigned status, enum pm_code code,
                   const char *message, const char *field)
{
    drop_body(request);
    request->state = PM_REQUEST_REFUSED;
    request->status = status;
    request->field = field;
    pm_fail(&request->error, code, "%s", message);
}

static void refuse_busy(struct pm_request *request)
{
    refuse(request, MHD_HTTP_TOO_MANY_REQUESTS, PM_ERROR_LIMIT,
           "too many uploads wait; try again later", "queue");
}

static void refuse_rate(struct pm_request *request, unsigned wait, const char *message,
                        const char *field)
{
    refuse(request, MHD_HTTP_TOO_MANY_REQUESTS, PM_ERROR_LIMIT, message, field);
    request->retry = wait;
}

/* Refuses what cannot be held; false: it was. */
static bool hold(struct pm_request *request, size_t bytes)
{
    switch (pm_hold(request, bytes)) {
    case PM_HOLD_DONE:
        return true;
    case PM_HOLD_TOKEN:
        refuse_rate(request, PM_HTTP_RETRY_SECONDS, "this token has too much under way", "token");
        break;
    case PM_HOLD_ADDRESS:
        refuse_rate(request, PM_HTTP_RETRY_SECONDS, "too much is under way from this address",
                    "address");
        break;
    case PM_HOLD_ALL:
        refuse_busy(request);
        break;
    }
    return false;
}

static bool is_upload(const struct pm_request *request)
{
    return request->route && request->route->access == PM_ACCESS_UPLOAD;
}

/* ---- the answer ---- */

/* After which the client may try again; 0: it is not told. */
static unsigned retry_seconds(const struct pm_request *request)
{
    if (request->retry)
        return request->retry;
    switch (request->status) {
    case MHD_HTTP_TOO_MANY_REQUESTS:
    case MHD_HTTP_SERVICE_UNAVAILABLE:
        return PM_HTTP_RETRY_SECONDS;
    case MHD_HTTP_INSUFFICIENT_STORAGE:
        return FULL_SECONDS;
    default:
        return 0;
    }
}

/* By what an upload is refused that the client may send again once that has changed; NULL: it is
 * not, or cannot be said. */
static const char *rules_of(struct pm_request *request, char text[static PM_RULES_TEXT])
{
    const bool refused =
        request->status == MHD_HTTP_BAD_REQUEST || request->status == MHD_HTTP_CONTENT_TOO_LARGE;
    struct pm_error error = {0};
    if (!is_upload(request) || !refused)
        return NULL;
    if (pm_rules_find(request->service, request->disagrees ? request->profile.game : NULL, text,
                      &error))
        return text;
    pm_log_warning(request->service->log, "%s", error.message);
    return NULL;
}

static enum MHD_Result answer(struct pm_request *request)
{
    char rules[PM_RULES_TEXT];
    struct MHD_Connection *connection = request->connection;
    char field[PM_FIELD_BYTES];
    pm_peers_set_busy(request->service, connection, true);
    if (is_upload(request))
        pm_metrics_count_upload(&request->service->metrics, request->status);
    if (request->status == MHD_HTTP_OK)
        return pm_http_answer_json(connection, MHD_HTTP_OK, "{\"status\":\"counted before\"}",
                                   NULL);
    if (request->status != MHD_HTTP_NO_CONTENT) {
        if (!request->field)
            pm_field_of(request->error.message, field);
        return pm_http_answer_field(connection, request->status, request->error.message,
                                    request->field ? request->field : field, retry_seconds(request),
                                    rules_of(request, rules));
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    const enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_NO_CONTENT, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- uploads ---- */

/* Reading a large profile takes many times its size for a moment: one at a time. */
static bool read_profile(struct pm_request *request, const struct pm_buffer *bytes,
                         struct pm_error *error)
{
    struct pm_service *service = request->service;
    const bool large = bytes->size > LARGE_PROFILE;
    if (large)
        pthread_mutex_lock(&service->large_mutex);
    const bool done = pm_profile_decode(bytes->data, bytes->size, &service->limits, request->arena,
                                        &request->profile, error);
    if (large)
        pthread_mutex_unlock(&service->large_mutex);
    return done;
}

static bool decode(struct pm_request *request, struct pm_error *error)
{
    struct pm_buffer bytes;
    pm_buffer_init(&bytes, request->service->limits.decompressed_bytes);
    request->arena = pm_arena_create(0);
    const bool done =
        (request->arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory for an upload")) &&
        pm_decompress(request->body.data, request->body.size, &bytes, error) &&
        read_profile(request, &bytes, error);
    pm_buffer_finish(&bytes);
    /* Without the body, which has the upload's id in it. */
    if (!done && error->code == PM_ERROR_INPUT && request->profile.game)
        pm_aggregator_quarantine_add(request->service->aggregator, request->profile.game,
                                     error->message, NULL, 0);
    request->prepared =
        done ? pm_aggregator_prepare(request->service->aggregator, &request->profile, error) : NULL;
    return request->prepared != NULL;
}

/* The bytes that a token may have stored in a day; what an upload becomes is charged before it is
 * known whether it is a retry. false: it was refused. */
static bool charge_day(struct pm_request *request)
{
    uint64_t points = 0;
    for (size_t i = 0; i < request->profile.shader_count; i++)
        points += request->profile.shaders[i].point_count;
    const uint64_t bytes = pm_prepared_bytes(request->prepared) + points * POINT_BYTES +
                           pm_prepared_claims(request->prepared) * MARK_BYTES;
    const unsigned wait =
        request->has_source
            ? pm_rates_take(&request->service->rates, PM_RATE_STORED, request->source.digest,
                            sizeof(request->source.digest), bytes, pm_now())
            : 0;
    if (wait > 0)
        refuse_rate(request, wait, "this token has stored as much as it may in a day", "token");
    return wait == 0;
}

/* The body is there in full: to the committer with it, or the answer why not. */
static enum MHD_Result take_upload(struct pm_request *request)
{
    struct pm_error error = {0};
    if (!decode(request, &error)) {
        const unsigned status = error.code == PM_ERROR_LIMIT    ? MHD_HTTP_CONTENT_TOO_LARGE
                                : error.code == PM_ERROR_MEMORY ? MHD_HTTP_INTERNAL_SERVER_ERROR
                                                                : MHD_HTTP_BAD_REQUEST;
        refuse(request, status, error.code, error.message, NULL);
        return answer(request);
    }
    pm_buffer_finish(&request->body);
    if (!charge_day(request) ||
        !hold(request, pm_arena_used(request->arena) + pm_prepared_bytes(request->prepared) +
                           pm_prepared_claims(request->prepared) * CLAIM_BYTES))
        return answer(request);
    pm_peers_set_busy(request->service, request->connection, true);
    if (pm_commit_enqueue(request))
        return MHD_YES;
    if (pm_commit_queued(request->service) >= request->service->queue_limit)
        refuse_busy(request);
    else
        refuse(request, MHD_HTTP_SERVICE_UNAVAILABLE, PM_ERROR_STATE, "the service is stopping",
               "service");
    return answer(request);
}

static enum MHD_Result take_data(struct pm_request *request, const char *data, size_t size)
{
    if (request->state == PM_REQUEST_READING) {
        if (size > request->body.cap - request->body.size)
            refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, PM_ERROR_LIMIT, "the body is too large",
                   "body");
        else if (hold(request, request->body.size + size)) {
            if (pm_buffer_append(&request->body, data, size))
                return MHD_YES;
            refuse_busy(request);
        }
    }
    request->thrown_away += size;
    return request->thrown_away < THROW_AWAY ? MHD_YES : MHD_NO;
}

/* The size that the headers promise; 0 when they do not, UINT64_MAX when it is beyond all numbers.
 */
static uint64_t promised_size(struct pm_request *request)
{
    const char *length = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND,
                                                     MHD_HTTP_HEADER_CONTENT_LENGTH);
    return length ? strtoull(length, NULL, 10) : 0;
}

/* ---- limits ---- */

static size_t address_of(const struct pm_request *request, const void **bytes)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? pm_share_address(info->client_addr, bytes) : 0;
}

/* false: it was refused. */
static bool within_rate(struct pm_request *request, enum pm_rate_kind kind, const void *name,
                        size_t size)
{
    const unsigned wait =
        size > 0 ? pm_rates_take(&request->service->rates, kind, name, size, 1, pm_now()) : 0;
    if (wait > 0 && kind == PM_RATE_TOKEN)
        refuse_rate(request, wait, "this token uploads too often", "token");
    else if (wait > 0)
        refuse_rate(request, wait, "too many uploads come from this address", "address");
    return wait == 0;
}

/* May this request have what it asks for? false: it was refused. An address that has named too many
 * tokens that are not known is not told whether the next one is. */
static bool has_access(struct pm_request *request, const char *authorization)
{
    struct pm_service *service = request->service;
    const struct pm_route *route = request->route;
    const bool names_token = authorization && !(route && route->access == PM_ACCESS_OPEN);
    const void *address = NULL;
    const size_t size = names_token ? address_of(request, &address) : 0;
    unsigned wait =
        size > 0 ? pm_rates_wait(&service->rates, PM_RATE_GUESS, address, size, pm_now()) : 0;
    const unsigned status = wait > 0 ? 0 : pm_route_check_access(service, route, authorization);
    if (status == MHD_HTTP_UNAUTHORIZED && size > 0)
        wait = pm_rates_take(&service->rates, PM_RATE_GUESS, address, size, 1, pm_now());
    if (wait > 0)
        refuse_rate(request, wait, "too many unknown tokens come from this address", "address");
    else if (status != MHD_HTTP_OK)
        refuse(request, status, PM_ERROR_STATE,
               status == MHD_HTTP_UNAUTHORIZED ? "a known bearer token is needed" : CLOSED,
               "authorization");
    return request->state != PM_REQUEST_REFUSED;
}

/* What can be told of an upload from the headers, once its token is known. */
static void begin_upload(struct pm_request *request, const char *authorization)
{
    struct pm_service *service = request->service;
    uint8_t digest[PM_TOKEN_DIGEST_BYTES];
    if (service->uploaders.asked && pm_tokens_digest(authorization, digest)) {
        if (!within_rate(request, PM_RATE_TOKEN, digest, sizeof(digest)))
            return;
        memcpy(request->source.digest, digest, sizeof(request->source.digest));
        request->source.fleet = pm_tokens_is_fleet(&service->uploaders, digest);
        request->has_source = true;
        request->token =
            pm_shares_take(&service->shares, PM_SHARE_TOKEN, digest, sizeof(digest), false);
        pm_peers_set_token(service, request->connection, request->token);
    }
    pm_buffer_init(&request->body, service->limits.compressed_bytes);
    if (promised_size(request) > service->limits.compressed_bytes)
        refuse(request, MHD_HTTP_CONTENT_TOO_LARGE, PM_ERROR_LIMIT, "the body is too large",
               "body");
    else if (pm_commit_is_overloaded(service) ||
             atomic_load(&service->held) >= service->memory_bytes)
        refuse_busy(request);
}

/* ---- routing ---- */

static bool is_get(const char *method)
{
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

/* What a header may be there for but once. */
struct lengths {
    unsigned lengths, hosts, encodings, spaces;
};

static enum MHD_Result count_header(void *user, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct lengths *seen = user;
    (void)kind;
    (void)value;
    seen->spaces += strpbrk(name, " \t") != NULL;
    seen->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0;
    seen->hosts += strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0;
    seen->encodings += strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
    return MHD_YES;
}

/* Where a request ends must not be in doubt, or a proxy sees another one than this server does (RFC
 * 9112, 6.3 and 3.2). What libmicrohttpd refuses by itself never comes here. */
static bool is_well_formed(struct pm_request *request)
{
    struct lengths seen = {0};
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, count_header, &seen);
    if (seen.lengths > 1 || (seen.lengths > 0 && seen.encodings > 0))
        refuse(request, MHD_HTTP_BAD_REQUEST, PM_ERROR_INPUT,
               "the headers give the body's length twice", "header");
    else if (seen.spaces > 0)
        refuse(request, MHD_HTTP_BAD_REQUEST, PM_ERROR_INPUT,
               "a header's name has a space in it, or behind it", "header");
    else if (seen.hosts > 1)
        refuse(request, MHD_HTTP_BAD_REQUEST, PM_ERROR_INPUT, "there are two Host headers",
               "header");
    return request->state != PM_REQUEST_REFUSED;
}

static bool is_from_here(struct pm_request *request)
{
    const char *why = pm_route_check_site(
        request->service, request->route,
        MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
        MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Origin"));
    if (why)
        refuse(request, MHD_HTTP_FORBIDDEN, PM_ERROR_STATE, why, "host");
    return !why;
}

/* The first call for a request, before its body. */
static enum MHD_Result begin(struct pm_service *service, struct MHD_Connection *connection,
                             const char *url, const char *method, void **slot)
{
    const char *authorization =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    struct pm_request *request = calloc(1, sizeof(*request));
    if (!request)
        return MHD_NO;
    request->service = service;
    request->connection = connection;
    pm_buffer_init(&request->body, 1);
    *slot = request;
    request->route = pm_route_find(&pm_service_routes, url);
    if (!request->route)
        request->route = pm_route_find(service->routes, url);
    if (!is_well_formed(request))
        return answer(request); /* at once, which ends the connection */
    if (!is_from_here(request))
        return MHD_YES;
    const bool upload = is_upload(request);
    const void *address = NULL;
    const size_t address_size = upload ? address_of(request, &address) : 0;
    if (!within_rate(request, PM_RATE_ADDRESS, address, address_size) ||
        !has_access(request, authorization))
        ;
    else if (upload ? strcmp(method, MHD_HTTP_METHOD_POST) != 0 : !is_get(method))
        refuse(request, MHD_HTTP_METHOD_NOT_ALLOWED, PM_ERROR_STATE, "this path has no such method",
               "method");
    else if (upload)
        begin_upload(request, authorization);
    /* An answer before the body closes the connection, and a peer that still sends may never see
     * it. So what is small is read first; a peer that sends much waits for a "100 Continue", or has
     * itself to blame. */
    if (request->state == PM_REQUEST_REFUSED && promised_size(request) > READ_BEFORE_REFUSING)
        return answer(request);
    return MHD_YES;
}

enum MHD_Result pm_http_handle(void *user, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *size, void **slot)
{
    struct pm_service *service = user;
    struct pm_request *request = *slot;
    (void)version;
    if (!request)
        return begin(service, connection, url, method, slot);
    if (*size > 0) {
        atomic_fetch_add(&service->metrics.body_bytes, *size);
        const enum MHD_Result result = take_data(request, data, *size);
        *size = 0;
        return result;
    }
    if (request->state != PM_REQUEST_READING)
        return answer(request);
    if (is_upload(request))
        return take_upload(request);
    pm_peers_set_busy(service, connection, true);
    return pm_route_answer(service, connection, request->route, url);
}

void pm_http_completed(void *user, struct MHD_Connection *connection, void **slot,
                       enum MHD_RequestTerminationCode code)
{
    struct pm_service *service = user;
    struct pm_request *request = *slot;
    (void)code;
    if (!request)
        return;
    *slot = NULL;
    pm_peers_set_busy(service, connection, false);
    drop_body(request);
    if (request->token) {
        pm_peers_set_token(service, request->connection, NULL);
        pm_shares_drop(&service->shares, request->token, false);
    }
    if (request->state == PM_REQUEST_COMMITTED) {
        pthread_mutex_lock(&service->mutex);
        service->unanswered--;
        pthread_cond_broadcast(&service->answered);
        pthread_mutex_unlock(&service->mutex);
    }
    free(request);
}
