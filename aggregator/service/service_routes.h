/*
 * What is at which path, who may have it, and who answers. docs/openapi.json describes the same
 * routes; a test holds the two together.
 *
 * libmicrohttpd is told to leave paths and queries escaped, so that a game's name may have slashes;
 * names and parameters are unescaped here.
 *
 * Thread safety: any thread; a struct pm_get belongs to one request.
 */
#pragma once

#include "aggregator/service/service_state.h"

enum pm_access {
    PM_ACCESS_OPEN,   /* needs no token */
    PM_ACCESS_UPLOAD, /* a token of --token-file; its method is POST, all others have GET */
    PM_ACCESS_PULL,   /* one of that file, or a reader's */
    PM_ACCESS_READ,   /* a reader's (struct pm_service_info, dashboard_token_file) */
};

#define PM_ROUTE_NAMES 3
struct pm_get {
    struct pm_service *service;
    struct MHD_Connection *connection;
    const char *url; /* the path, escaped */
    /* What the path has in the place of each {} of its pattern, unescaped. */
    const char *names[PM_ROUTE_NAMES];
};

struct pm_route {
    const char *pattern; /* {} stands for one segment that is not empty */
    enum pm_access access;
    enum MHD_Result (*answer)(struct pm_get *get); /* NULL for an upload */
};

/* All of them, `count` many. */
const struct pm_route *pm_route_list(size_t *count);

/* NULL when there is nothing at this (escaped) path. */
const struct pm_route *pm_route_find(const char *url);
/* MHD_HTTP_OK, MHD_HTTP_UNAUTHORIZED, or MHD_HTTP_FORBIDDEN for a dashboard that is closed. What
 * there is not asks for a token as databases do. authorization, host: the headers' values, or NULL.
 * A dashboard without tokens answers only under this machine's own names: not through a proxy that
 * serves others, nor to a web page whose name was made to lead here. */
unsigned pm_route_check_access(struct pm_service *service, const struct pm_route *route,
                               const char *authorization, const char *host);
/* Answers a GET or HEAD; route NULL: 404. */
enum MHD_Result pm_route_answer(struct pm_service *service, struct MHD_Connection *connection,
                                const struct pm_route *route, const char *url);

/* One parameter of the query, unescaped, malloc'ed; NULL when it is not there. *bad: it is, but has
 * no text (a broken escape, a zero byte), or there is no memory. */
char *pm_route_parameter(struct MHD_Connection *connection, const char *name, bool *bad);

/* ---- service_get.c, service_database.c ---- */

enum MHD_Result pm_get_health(struct pm_get *get);
enum MHD_Result pm_get_database(struct pm_get *get);
enum MHD_Result pm_get_previous_database(struct pm_get *get);

/* ---- service_pages.c: what is compiled in ---- */

enum MHD_Result pm_pages_answer(struct pm_get *get);

/* For MHD_OPTION_UNESCAPE_CALLBACK: leaves all as it is. */
size_t pm_route_leave_escaped(void *user, struct MHD_Connection *connection, char *text);
