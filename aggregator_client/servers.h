/*
 * The aggregators that one sync talks to, and which of them it has given up: what one of them does
 * is no reason to leave another alone. Private to aggregator_client/.
 *
 * Thread safety: as sync.h.
 */
#pragma once

#include "aggregator_client/sync.h"

struct pm_server {
    struct pm_http *http;
    unsigned failures; /* uploads in a row that it could not take */
    bool given_up;     /* no further request */
};

struct pm_servers {
    struct pm_server **list;
    size_t count;
};

/* The one that the configuration names. NULL: its requests cannot be made, or out of memory. It
 * lives until pm_servers_finish. */
struct pm_server *pm_servers_find(struct pm_servers *servers, const struct pm_config *config,
                                  struct pm_error *error);
void pm_servers_finish(struct pm_servers *servers);

/* What came of an upload; pm_server_took: an answer that counts. */
void pm_server_took(struct pm_server *server);
void pm_server_failed(struct pm_server *server, enum pm_trouble trouble);
