/*
 * Requests to the aggregator with libcurl (DESIGN, Wire). https only, but for this machine itself;
 * no redirects, no cookies; every answer is bounded. Private to aggregator_client/.
 *
 * Thread safety: a struct pm_http belongs to one thread at a time.
 */
#pragma once

#include "base/buffer.h"
#include "base/config.h"
#include "base/error.h"
#include <stdint.h>

struct pm_http;

#define PM_HTTP_RULES 128

struct pm_http_answer {
    long status;
    struct pm_buffer body;     /* finish it */
    bool too_large;            /* the body is more than was allowed, and cut */
    char etag[128];            /* "" when there is none that is usable */
    char rules[PM_HTTP_RULES]; /* Piecemeal-Rules: by what the aggregator refuses; "" likewise */
    uint32_t retry_after;      /* seconds; 0: none was said */
    int64_t date;              /* of the server's clock, seconds since the epoch; 0: likewise */
};

/* Checks the configuration's aggregator.*, of which url must be set, and reads the token. */
struct pm_http *pm_http_create(const struct pm_config *config, struct pm_error *error);
void pm_http_destroy(struct pm_http *http);

/* Are requests for this configuration the same as for the one it was made with? */
bool pm_http_serves(const struct pm_http *http, const struct pm_config *config);

/* path begins with '/' and is escaped. body NULL: GET, with If-None-Match when etag is not "".
 * limit: bytes of an answer's body. false: no whole answer within the time (PM_ERROR_NETWORK),
 * which may be tried again; or there is no consent (PM_ERROR_STATE), which is read here, so that
 * whatever asks stops when it is revoked. */
bool pm_http_request(struct pm_http *http, const char *path, const struct pm_buffer *body,
                     const char *etag, size_t limit, uint32_t timeout_milliseconds,
                     struct pm_http_answer *answer, struct pm_error *error);

/* A name as one component of a path; malloc'ed. */
char *pm_http_escape(const char *name);
