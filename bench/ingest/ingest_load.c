#include "bench/ingest/ingest_load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_ROOM = 512, REPLY_ROOM = 2048, EVENTS = 256, GRACE_SECONDS = 20 };

struct connection {
    int fd; /* -1: none */
    gnutls_session_t tls;
    bool shaken;            /* the TLS handshake is done */
    unsigned char *request; /* HEAD_ROOM + the largest body */
    size_t size, sent;
    char reply[REPLY_ROOM];
    size_t got;
    double began;   /* seconds; 0: nothing is under way */
    bool wants_out; /* epoll watches for room to write */
};

struct load {
    const struct load_info *info;
    struct load_result *result;
    struct pm_random random;
    struct connection *connections;
    int epoll;
    gnutls_certificate_credentials_t credentials;
    struct sockaddr_in address;
    double start, end;
    uint64_t begun; /* uploads */
    uint32_t under_way;
    float *times; /* milliseconds, of what was stored */
    size_t time_count, time_room;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- one connection ---- */

static void hang_up(struct connection *connection)
{
    if (connection->tls)
        gnutls_deinit(connection->tls);
    connection->tls = NULL;
    connection->shaken = false;
    if (connection->fd >= 0)
        close(connection->fd);
    connection->fd = -1;
    connection->wants_out = false;
}

static bool start_tls(struct load *load, struct connection *connection)
{
    static const char name[] = "localhost";
    if (gnutls_init(&connection->tls, GNUTLS_CLIENT | GNUTLS_NONBLOCK) != GNUTLS_E_SUCCESS)
        return false;
    gnutls_set_default_priority(connection->tls);
    gnutls_server_name_set(connection->tls, GNUTLS_NAME_DNS, name, strlen(name));
    gnutls_session_set_verify_cert(connection->tls, name, 0);
    gnutls_credentials_set(connection->tls, GNUTLS_CRD_CERTIFICATE, load->credentials);
    gnutls_transport_set_int(connection->tls, connection->fd);
    gnutls_handshake_set_timeout(connection->tls, GNUTLS_INDEFINITE_TIMEOUT);
    return true;
}

/* Connecting to this machine takes no waiting, so it is done blocking. */
static bool hang_on(struct load *load, struct connection *connection)
{
    const int one = 1;
    const size_t number = (size_t)(connection - load->connections);
    load->address.sin_port = htons(load->info->ports[number % load->info->port_count]);
    connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (const struct sockaddr *)&load->address, sizeof(load->address)) !=
            0 ||
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0)
        return false;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    return epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0 &&
           (!load->info->ca_file || start_tls(load, connection));
}

/* Bytes moved; 0: none now; -1: it has ended. */
static ssize_t move_bytes(struct connection *connection, bool out, void *data, size_t size)
{
    if (!connection->tls) {
        const ssize_t moved = out ? send(connection->fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT)
                                  : recv(connection->fd, data, size, MSG_DONTWAIT);
        if (moved > 0)
            return moved;
        return moved < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
    }
    ssize_t moved;
    if (!connection->shaken) {
        moved = gnutls_handshake(connection->tls);
        connection->shaken = moved == GNUTLS_E_SUCCESS;
        if (!connection->shaken)
            return gnutls_error_is_fatal((int)moved) ? -1 : 0;
    }
    moved = out ? gnutls_record_send(connection->tls, data, size)
                : gnutls_record_recv(connection->tls, data, size);
    if (moved > 0)
        return moved;
    return moved < 0 && !gnutls_error_is_fatal((int)moved) ? 0 : -1;
}

static void watch(struct load *load, struct connection *connection, bool out)
{
    struct epoll_event event = {.events = EPOLLIN | (out ? (uint32_t)EPOLLOUT : 0),
                                .data.ptr = connection};
    if (connection->wants_out != out)
        epoll_ctl(load->epoll, EPOLL_CTL_MOD, connection->fd, &event);
    connection->wants_out = out;
}

static void send_more(struct load *load, struct connection *connection)
{
    ssize_t moved = 1;
    while (connection->sent < connection->size && moved > 0) {
        moved = move_bytes(connection, true, connection->request + connection->sent,
                           connection->size - connection->sent);
        if (moved > 0)
            connection->sent += (size_t)moved;
    }
    if (moved < 0)
        shutdown(connection->fd, SHUT_RDWR); /* an answer may still lie there */
    /* While a handshake waits for its peer, there is always room to write. */
    const bool shaking =
        connection->tls && !connection->shaken && gnutls_record_get_direction(connection->tls) == 0;
    watch(load, connection, connection->sent < connection->size && !shaking && moved >= 0);
}

static bool begin(struct load *load, struct connection *connection)
{
    const struct load_info *info = load->info;
    const struct body *body =
        &info->bodies->bodies[pm_random_below(&load->random, (uint32_t)info->bodies->count)];
    connection->began = now();
    connection->got = connection->sent = 0;
    load->begun++;
    load->under_way++;
    const int head =
        snprintf((char *)connection->request, HEAD_ROOM,
                 "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\n"
                 "Authorization: Bearer %s\r\nContent-Type: application/x-protobuf\r\n"
                 "Content-Encoding: zstd\r\nContent-Length: %zu\r\n%s\r\n",
                 info->token_count > 0 ? info->tokens[load->begun % info->token_count] : "none",
                 body->frame_size, info->reconnect ? "Connection: close\r\n" : "");
    bodies_write(body, &load->random, connection->request + head);
    connection->size = (size_t)head + body->frame_size;
    if (connection->fd < 0 && !hang_on(load, connection))
        return false;
    send_more(load, connection);
    return true;
}

/* ---- answers ---- */

/* The size of the whole answer once its head is there, 0 before. */
static size_t reply_size(const struct connection *connection)
{
    const char *end = strstr(connection->reply, "\r\n\r\n");
    const char *length = strcasestr(connection->reply, "\r\ncontent-length:");
    if (!end)
        return 0;
    return (size_t)(end + 4 - connection->reply) +
           (length && length < end ? (size_t)atoi(length + strlen("\r\ncontent-length:")) : 0);
}

static void remember(struct load *load, const struct connection *connection)
{
    struct load_result *result = load->result;
    const double then = now();
    const int status = connection->got > 12 ? atoi(connection->reply + 9) : 0;
    result->statuses[status > 0 && status < 600 ? status : 0]++;
    if (status != 204)
        return;
    result->stored++;
    const double second = then - load->start;
    if (second < result->second_count)
        result->per_second[(size_t)second]++;
    if (load->time_count == load->time_room) {
        const size_t room = load->time_room ? load->time_room * 2 : 65536;
        float *times = realloc(load->times, room * sizeof(*times));
        if (!times)
            return;
        load->times = times;
        load->time_room = room;
    }
    load->times[load->time_count++] = (float)((then - connection->began) * 1e3);
}

static void finish(struct load *load, struct connection *connection, bool answered)
{
    if (connection->began == 0)
        return;
    load->under_way--;
    if (answered)
        remember(load, connection);
    else
        load->result->broken++;
    connection->began = 0;
}

static void receive(struct load *load, struct connection *connection)
{
    for (;;) {
        const ssize_t moved = move_bytes(connection, false, connection->reply + connection->got,
                                         REPLY_ROOM - 1 - connection->got);
        if (moved == 0)
            return;
        if (moved > 0)
            connection->got += (size_t)moved;
        connection->reply[connection->got] = 0;
        const size_t size = reply_size(connection);
        const bool answered = size > 0 && connection->got >= size;
        if (!answered && moved > 0 && connection->got + 1 < REPLY_ROOM)
            continue;
        const bool closes = strcasestr(connection->reply, "\r\nconnection: close") != NULL;
        finish(load, connection, answered);
        if (moved < 0 || !answered || closes || load->info->reconnect)
            hang_up(connection);
        return;
    }
}

/* ---- the whole ---- */

static bool may_begin(const struct load *load, double at)
{
    const uint64_t rate = load->info->rate;
    return at < load->end && (rate == 0 || (double)load->begun < (at - load->start) * (double)rate);
}

static bool step(struct load *load, struct pm_error *error)
{
    struct epoll_event events[EVENTS];
    const int count = epoll_wait(load->epoll, events, EVENTS, load->info->rate ? 1 : 100);
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        if (connection->began != 0 && connection->sent < connection->size)
            send_more(load, connection);
        receive(load, connection);
        if (connection->began == 0 && load->info->rate == 0 && may_begin(load, now()) &&
            !begin(load, connection))
            return pm_fail_errno(error, errno, "cannot connect");
    }
    /* Those that were cut off, and under a rate all. */
    for (uint32_t i = 0; i < load->info->connections && may_begin(load, now()); i++) {
        struct connection *connection = &load->connections[i];
        if (connection->began == 0 && !begin(load, connection))
            return pm_fail_errno(error, errno, "cannot connect");
    }
    return true;
}

static int compare_times(const void *a, const void *b)
{
    const float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static bool prepare(struct load *load, struct pm_error *error)
{
    const struct load_info *info = load->info;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->connections = calloc(info->connections, sizeof(*load->connections));
    load->result->second_count = (uint32_t)info->seconds;
    load->result->per_second = calloc(load->result->second_count + 1, sizeof(uint64_t));
    if (load->epoll < 0 || !load->connections || !load->result->per_second)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a load");
    for (uint32_t i = 0; i < info->connections; i++) {
        struct connection *connection = &load->connections[i];
        connection->fd = -1;
        connection->request = malloc(HEAD_ROOM + info->bodies->largest);
        if (!connection->request)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a load");
    }
    if (!info->ca_file)
        return true;
    return (gnutls_certificate_allocate_credentials(&load->credentials) == GNUTLS_E_SUCCESS &&
            gnutls_certificate_set_x509_trust_file(load->credentials, info->ca_file,
                                                   GNUTLS_X509_FMT_PEM) > 0) ||
           pm_fail(error, PM_ERROR_INPUT, "%s: no certificate to trust", info->ca_file);
}

static void summarize(struct load *load, double cpu)
{
    struct load_result *result = load->result;
    const size_t count = load->time_count;
    result->seconds = now() - load->start;
    result->cpu = cpu_seconds() - cpu;
    if (count == 0)
        return;
    qsort(load->times, count, sizeof(*load->times), compare_times);
    result->p50 = load->times[count / 2];
    result->p99 = load->times[count - 1 - count / 100];
    result->most = load->times[count - 1];
}

bool load_run(const struct load_info *info, struct load_result *result, struct pm_error *error)
{
    struct load load = {.info = info, .result = result, .epoll = -1};
    *result = (struct load_result){0};
    load.address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    pm_random_init(&load.random, info->seed);
    bool done = prepare(&load, error);
    const double cpu = cpu_seconds();
    load.start = now();
    load.end = load.start + info->seconds;
    while (done && (now() < load.end || (load.under_way > 0 && now() < load.end + GRACE_SECONDS)))
        done = step(&load, error);
    if (done)
        summarize(&load, cpu);
    for (uint32_t i = 0; load.connections && i < info->connections; i++) {
        hang_up(&load.connections[i]);
        free(load.connections[i].request);
    }
    if (load.credentials)
        gnutls_certificate_free_credentials(load.credentials);
    free(load.connections);
    free(load.times);
    if (load.epoll >= 0)
        close(load.epoll);
    return done;
}

void load_result_finish(struct load_result *result)
{
    free(result->per_second);
    result->per_second = NULL;
}
