/*
 * Who is connected, for how long. libmicrohttpd's timeout begins anew with every byte, so a peer
 * that sends one a minute could hold a connection for ever; this gives a request an end.
 */
#include "aggregator/service/service_state.h"

#include "base/clock.h"
#include <stdlib.h>
#include <sys/socket.h>

/* For taking an answer. */
#define ANSWER_SECONDS 600
/* For a request to be there in full, or the next one to begin, while connections are few. */
#define CROWDED_SECONDS 5

int64_t pm_service_now(void)
{
    return pm_now() / PM_SECOND;
}

void pm_peers_notify(void *user, struct MHD_Connection *connection, void **slot,
                     enum MHD_ConnectionNotificationCode code)
{
    struct pm_service *service = user;
    struct pm_peer *peer = *slot;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        peer = calloc(1, sizeof(*peer));
        *slot = peer;
        if (!peer)
            return; /* the connection's own timeout is left */
        peer->fd = info ? info->connect_fd : -1;
        peer->since = pm_service_now();
        pthread_mutex_lock(&service->mutex);
        peer->credentials = pm_credentials_share(service->credentials);
        peer->next = service->peers;
        if (peer->next)
            peer->next->previous = peer;
        service->peers = peer;
        service->peer_count++;
        pthread_mutex_unlock(&service->mutex);
        if (peer->credentials)
            pm_credentials_use(peer->credentials, connection);
    } else if (peer) {
        pthread_mutex_lock(&service->mutex);
        if (peer->previous)
            peer->previous->next = peer->next;
        else
            service->peers = peer->next;
        if (peer->next)
            peer->next->previous = peer->previous;
        service->peer_count--;
        pthread_mutex_unlock(&service->mutex);
        pm_credentials_drop(peer->credentials); /* the connection's TLS session is gone by now */
        free(peer);
        *slot = NULL;
    }
}

void pm_peers_set_busy(struct pm_service *service, struct MHD_Connection *connection, bool busy)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct pm_peer *peer = info ? info->socket_context : NULL;
    if (!peer)
        return;
    pthread_mutex_lock(&service->mutex);
    peer->busy = busy;
    peer->since = pm_service_now();
    pthread_mutex_unlock(&service->mutex);
}

/* Seconds that a peer may take over a request: few when nearly all connections are taken, so that
 * those who send nothing, or slowly, do not keep the others out. */
static int64_t patience(const struct pm_service *service)
{
    const bool crowded = service->peer_count > service->connection_limit / 8 * 7;
    return crowded && service->request_seconds > CROWDED_SECONDS ? CROWDED_SECONDS
                                                                 : service->request_seconds;
}

void pm_peers_sweep(struct pm_service *service)
{
    const int64_t now = pm_service_now();
    pthread_mutex_lock(&service->mutex);
    const int64_t may = patience(service);
    for (struct pm_peer *peer = service->peers; peer; peer = peer->next) {
        /* The descriptor is closed only after the peer has left the list. The connection's thread
         * sees the end of the stream, and does the rest. */
        if (peer->fd >= 0 && now - peer->since > (peer->busy ? ANSWER_SECONDS : may))
            shutdown(peer->fd, SHUT_RDWR);
    }
    pthread_mutex_unlock(&service->mutex);
}
