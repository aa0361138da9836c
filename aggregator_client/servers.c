#include "aggregator_client/servers.h"

#include <stdlib.h>

/* An upload that makes a server fail must not keep back the others; a server that fails the next
 * one as well is left alone. */
enum { MOST_FAILURES = 2 };

struct pm_server *pm_servers_find(struct pm_servers *servers, const struct pm_config *config,
                                  struct pm_error *error)
{
    for (size_t i = 0; i < servers->count; i++)
        if (pm_http_serves(servers->list[i]->http, config))
            return servers->list[i];
    struct pm_server **list =
        reallocarray(servers->list, servers->count + 1, sizeof(*servers->list));
    struct pm_server *server = list ? calloc(1, sizeof(*server)) : NULL;
    if (list)
        servers->list = list;
    if (!server) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return NULL;
    }
    server->http = pm_http_create(config, error);
    if (!server->http) {
        free(server);
        return NULL;
    }
    return servers->list[servers->count++] = server;
}

void pm_servers_finish(struct pm_servers *servers)
{
    for (size_t i = 0; i < servers->count; i++) {
        pm_http_destroy(servers->list[i]->http);
        free(servers->list[i]);
    }
    free(servers->list);
    *servers = (struct pm_servers){0};
}

void pm_server_took(struct pm_server *server)
{
    server->failures = 0;
}

void pm_server_failed(struct pm_server *server, enum pm_trouble trouble)
{
    if (trouble == PM_TROUBLE_SERVER ||
        (trouble == PM_TROUBLE_NOW && ++server->failures == MOST_FAILURES))
        server->given_up = true;
}
