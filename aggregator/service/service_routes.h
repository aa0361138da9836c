/*
 * What is at which path, who may have it, and who answers. The service has a table of its own
 * (service_get.h), and is given another (struct pm_service_info, routes). docs/openapi.json
 * describes all of both; a test holds them together.
 *
 * libmicrohttpd is told to leave paths and queries escaped, so that a game's name may have slashes;
 * names and parameters are unescaped here.
 *
 * Thread safety: any thread; a struct pm_get belongs to one request.
 */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct pm_service;

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

/* A table of them; no two have a path in common. */
struct pm_routes {
    const struct pm_route *routes;
    size_t count;
};

/* NULL when the table (NULL: an empty one) has nothing at this (escaped) path. */
const struct pm_route *pm_route_find(const struct pm_routes *routes, const char *url);
/* What a service that only this machine reaches does without a token, it does only under this
 * machine's own names, and not for other sites' pages: a browser would send them there. Where
 * readers need a token, that is uploads and pulls, and what there is not. host, origin: the
 * headers' values, or NULL. The reason why not; NULL: it may. */
const char *pm_route_check_site(const struct pm_service *service, const struct pm_route *route,
                                const char *host, const char *origin);
/* MHD_HTTP_OK, MHD_HTTP_UNAUTHORIZED, or MHD_HTTP_FORBIDDEN for a dashboard that is closed. What
 * there is not asks for a token as databases do. authorization: the header's value, or NULL. */
unsigned pm_route_check_access(struct pm_service *service, const struct pm_route *route,
                               const char *authorization);
/* Answers a GET or HEAD; route NULL: 404. */
enum MHD_Result pm_route_answer(struct pm_service *service, struct MHD_Connection *connection,
                                const struct pm_route *route, const char *url);

/* One parameter of the query, unescaped, malloc'ed; NULL when it is not there. *bad: it is, but has
 * no text (a broken escape, a zero byte), or there is no memory. */
char *pm_route_parameter(struct MHD_Connection *connection, const char *name, bool *bad);

/* For MHD_OPTION_UNESCAPE_CALLBACK: leaves all as it is. */
size_t pm_route_leave_escaped(void *user, struct MHD_Connection *connection, char *text);
