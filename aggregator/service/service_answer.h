/*
 * What answers are made of, whatever they are about.
 *
 * Thread safety: any thread; a connection belongs to one.
 */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>

/* Queues {"error": message} with this status; with "field" where field is not NULL. retry_seconds:
 * for Retry-After; 0: none. */
enum MHD_Result pm_http_answer_field(struct MHD_Connection *connection, unsigned status,
                                     const char *message, const char *field,
                                     unsigned retry_seconds);
enum MHD_Result pm_http_answer_error(struct MHD_Connection *connection, unsigned status,
                                     const char *message, unsigned retry_seconds);
/* Does If-None-Match name this ETag? condition: the header's value, or NULL (RFC 9110, 13.1.2: a
 * list of entity tags, or *; the weak comparison). */
bool pm_http_matches(const char *condition, const char *etag);
/* Queues a JSON text, which is copied. */
enum MHD_Result pm_http_answer_json(struct MHD_Connection *connection, unsigned status,
                                    const char *json);
