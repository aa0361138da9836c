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
/* The same of an address that has more than its share of them then. */
#define GREEDY_SECONDS 1
#define SAY_SECONDS 60 /* between two lines about who is kept out */

int64_t pm_service_now(void)
{
    return pm_now() / PM_SECOND;
}

/* One line, now and then: who keeps others out is told apart from no other. With the mutex held. */
static void say_crowded(struct pm_service *service, const char *what, const char *option)
{
    const int64_t now = pm_service_now();
    if (service->said_crowded != 0 && now - service->said_crowded < SAY_SECONDS)
        return;
    service->said_crowded = now;
    pm_log_warning(service->log, "%s (%s); others go on", what, option);
}

enum MHD_Result pm_peers_accept(void *user, const struct sockaddr *address, socklen_t size)
{
    struct pm_service *service = user;
    const void *bytes = NULL;
    const size_t known = pm_share_address(address, &bytes);
    (void)size;
    if (pm_shares_may_connect(&service->shares, bytes, known))
        return MHD_YES;
    atomic_fetch_add(&service->metrics.connections_refused, 1);
    pthread_mutex_lock(&service->mutex);
    say_crowded(service, "an address has as many connections as it may", "--address-connections");
    pthread_mutex_unlock(&service->mutex);
    return MHD_NO;
}

struct pm_peer *pm_peers_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static struct pm_share *share_of(struct pm_service *service, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const void *bytes = NULL;
    const size_t size = info ? pm_share_address(info->client_addr, &bytes) : 0;
    return pm_shares_take(&service->shares, PM_SHARE_ADDRESS, bytes, size, true);
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
        peer->address = share_of(service, connection);
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
        pm_shares_drop(&service->shares, peer->address, true);
        pm_credentials_drop(peer->credentials); /* the connection's TLS session is gone by now */
        free(peer);
        *slot = NULL;
    }
}

void pm_peers_set_busy(struct pm_service *service, struct MHD_Connection *connection, bool busy)
{
    struct pm_peer *peer = pm_peers_of(connection);
    if (!peer)
        return;
    pthread_mutex_lock(&service->mutex);
    peer->busy = busy;
    peer->since = pm_service_now();
    pthread_mutex_unlock(&service->mutex);
}

void pm_peers_set_token(struct pm_service *service, struct MHD_Connection *connection,
                        struct pm_share *token)
{
    struct pm_peer *peer = pm_peers_of(connection);
    if (!peer)
        return;
    pthread_mutex_lock(&service->mutex);
    peer->token = token;
    pthread_mutex_unlock(&service->mutex);
}

/* ---- too many, too much ---- */

/* Bytes that the source of a peer's request holds: its token where it has one, since behind one
 * address there may be many, else its address. */
static size_t weight_of(const struct pm_peer *peer)
{
    const struct pm_share *source = peer->token ? peer->token : peer->address;
    return source ? atomic_load(&source->bytes) : 0;
}

void pm_peers_shed(struct pm_service *service, struct pm_request *asker)
{
    const struct pm_peer *self = pm_peers_of(asker->connection);
    pthread_mutex_lock(&service->mutex);
    size_t most = self ? weight_of(self) : 0;
    struct pm_peer *greedy = NULL;
    for (struct pm_peer *peer = service->peers; peer; peer = peer->next) {
        const size_t weight = weight_of(peer);
        if (peer != self && !peer->busy && peer->fd >= 0 && atomic_load(&peer->held) > 0 &&
            (weight > most || (greedy && weight == most && peer->since < greedy->since))) {
            most = weight;
            greedy = peer;
        }
    }
    /* One at a time: its memory comes back when its connection's thread has seen the end. */
    if (greedy && !greedy->cut) {
        greedy->cut = true;
        shutdown(greedy->fd, SHUT_RDWR);
        atomic_fetch_add(&service->metrics.requests_cut, 1);
        say_crowded(service, "the memory for uploads is full: who holds most of it is cut off",
                    "--memory-mib");
    }
    pthread_mutex_unlock(&service->mutex);
}

/* Seconds that a peer may take over a request: few when nearly all connections or memory are taken,
 * so that those who send nothing, or slowly, do not keep the others out; fewest for addresses with
 * more than their share. */
static int64_t patience(const struct pm_service *service, const struct pm_peer *peer)
{
    const uint32_t share = service->connection_limit / 8;
    int64_t may = service->request_seconds;
    if (peer->busy)
        return ANSWER_SECONDS;
    if (service->peer_count <= share * 7 &&
        (atomic_load(&peer->held) == 0 ||
         atomic_load(&service->held) <= service->memory_bytes / 8 * 7))
        return may;
    const int64_t crowded =
        service->peer_count > share * 7 && peer->address && peer->address->connections > share
            ? GREEDY_SECONDS
            : CROWDED_SECONDS;
    return crowded < may ? crowded : may;
}

/* Has the peer gone, with nothing of it left to read? libmicrohttpd looks at a socket when
 * something comes, and takes what it reads then for all there is: of bytes and an end that came
 * together it never sees the end. */
static bool is_gone(const struct pm_peer *peer)
{
    char byte;
    return !peer->busy && recv(peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void pm_peers_sweep(struct pm_service *service)
{
    const int64_t now = pm_service_now();
    pthread_mutex_lock(&service->mutex);
    for (struct pm_peer *peer = service->peers; peer; peer = peer->next) {
        /* The descriptor is closed only after the peer has left the list. The connection's thread
         * sees the end of the stream, and does the rest. */
        if (peer->fd >= 0 && now - peer->since > patience(service, peer))
            shutdown(peer->fd, SHUT_RDWR);
        else if (peer->fd >= 0 && is_gone(peer))
            shutdown(peer->fd, SHUT_RD);
    }
    pthread_mutex_unlock(&service->mutex);
}
