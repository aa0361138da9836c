/*
 * What answers are made of, whatever they are about.
 *
 * Thread safety: any thread; a connection belongs to one.
 */
#pragma once

#include "base/error.h"
#include <microhttpd.h>
#include <stdbool.h>

#define PM_HTTP_RETRY_SECONDS 5 /* after which what is away may be back, or what is full free */

/* Queues {"error": message} with this status; with "field" where field is not NULL. retry_seconds:
 * for Retry-After; 0: none. rules: for Piecemeal-Rules (service_rules.h); NULL: none. */
enum MHD_Result pm_http_answer_field(struct MHD_Connection *connection, unsigned status,
                                     const char *message, const char *field, unsigned retry_seconds,
                                     const char *rules);
enum MHD_Result pm_http_answer_error(struct MHD_Connection *connection, unsigned status,
                                     const char *message, unsigned retry_seconds);
/* Where the storage cannot be read, and error says why: 503 and Retry-After when it cannot be
 * reached, else 500. */
enum MHD_Result pm_http_answer_unread(struct MHD_Connection *connection,
                                      const struct pm_error *error, const char *message);
/* Does If-None-Match name this ETag? condition: the header's value, or NULL (RFC 9110, 13.1.2: a
 * list of entity tags, or *; the weak comparison). */
bool pm_http_matches(const char *condition, const char *etag);
/* Queues a JSON text, which is copied. rules: as above. */
enum MHD_Result pm_http_answer_json(struct MHD_Connection *connection, unsigned status,
                                    const char *json, const char *rules);
