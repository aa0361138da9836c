#include "tests/aggregator_client/http_server.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 512 };

struct connection {
    struct server *server;
    int fd;
    pthread_t thread;
};

struct server {
    int socket, wake[2];
    uint16_t port;
    pthread_t thread;
    struct connection connections[MOST]; /* of the accepting thread */
    pthread_mutex_t lock;                /* guards what follows */
    struct server_answer answers[64];
    size_t answer_count, started;
    struct server_request requests[MOST];
    size_t request_count;
    void
        *bodies[MOST]; /* copies of the scripts' bodies, kept until no thread can be sending them */
    size_t body_count;
};

static void check(bool good)
{
    if (!good)
        abort();
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Waits for bytes or for the end of the server. */
static ssize_t receive(struct connection *connection, void *to, size_t size)
{
    struct pollfd wait[2] = {{.fd = connection->fd, .events = POLLIN},
                             {.fd = connection->server->wake[0], .events = POLLIN}};
    if (poll(wait, 2, -1) < 0 || wait[1].revents)
        return 0;
    return recv(connection->fd, to, size, 0);
}

static bool read_request(struct connection *connection, struct server_request *request)
{
    size_t head = 0;
    memset(request, 0, sizeof(*request));
    while (!strstr(request->head, "\r\n\r\n")) {
        if (head + 1 == sizeof(request->head) || receive(connection, request->head + head, 1) != 1)
            return false;
        head++;
    }
    const char *length = strcasestr(request->head, "\r\nContent-Length:");
    size_t size = length ? strtoul(length + 17, NULL, 10) : 0;
    request->body = malloc(size + 1);
    while (request->size < size) {
        ssize_t n = receive(connection, request->body + request->size, size - request->size);
        if (n <= 0)
            return false;
        request->size += (size_t)n;
    }
    request->at = now();
    return true;
}

static void send_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        at += n;
        size -= (size_t)n;
    }
}

static void answer_request(struct connection *connection, const struct server_answer *answer)
{
    char head[1024], nothing;
    int n;
    switch (answer->manner) {
    case SERVER_NEVER:
        while (receive(connection, &nothing, 1) > 0)
            ;
        return;
    case SERVER_CLOSE:
        return;
    case SERVER_RAW:
        send_all(connection->fd, answer->body, answer->size);
        return;
    case SERVER_ANSWER:
    case SERVER_CLOSE_MIDWAY:
        n = snprintf(head, sizeof(head), "HTTP/1.1 %d Said\r\nConnection: close\r\n%s",
                     answer->status, answer->headers ? answer->headers : "");
        if (answer->status != 204 && answer->status != 304)
            n += snprintf(head + n, sizeof(head) - (size_t)n, "Content-Length: %zu\r\n",
                          answer->size);
        n += snprintf(head + n, sizeof(head) - (size_t)n, "\r\n");
        send_all(connection->fd, head, (size_t)n);
        send_all(connection->fd, answer->body,
                 answer->manner == SERVER_ANSWER ? answer->size : answer->size / 2);
        return;
    }
}

static void *serve(void *user)
{
    struct connection *connection = user;
    struct server *server = connection->server;
    struct server_request request;
    if (read_request(connection, &request)) {
        pthread_mutex_lock(&server->lock);
        check(server->request_count < MOST && server->answer_count > 0);
        size_t which =
            server->started < server->answer_count ? server->started : server->answer_count - 1;
        struct server_answer answer = server->answers[which];
        server->started++;
        server->requests[server->request_count++] = request;
        pthread_mutex_unlock(&server->lock);
        answer_request(connection, &answer);
    } else {
        free(request.body);
    }
    /* Not before the client has everything, or the kernel resets the connection. */
    shutdown(connection->fd, SHUT_WR);
    close(connection->fd);
    return NULL;
}

static void *accept_all(void *user)
{
    struct server *server = user;
    size_t count = 0;
    for (;;) {
        struct pollfd wait[2] = {{.fd = server->socket, .events = POLLIN},
                                 {.fd = server->wake[0], .events = POLLIN}};
        if (poll(wait, 2, -1) < 0 || wait[1].revents)
            break;
        check(count < MOST);
        struct connection *connection = &server->connections[count];
        connection->server = server;
        connection->fd = accept4(server->socket, NULL, NULL, SOCK_CLOEXEC);
        if (connection->fd < 0)
            continue;
        check(pthread_create(&connection->thread, NULL, serve, connection) == 0);
        count++;
    }
    for (size_t i = 0; i < count; i++)
        pthread_join(server->connections[i].thread, NULL);
    return NULL;
}

struct server *server_start(void)
{
    struct server *server = calloc(1, sizeof(*server));
    check(server != NULL);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    server->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(bind(server->socket, (struct sockaddr *)&address, size) == 0);
    check(listen(server->socket, 64) == 0);
    check(getsockname(server->socket, (struct sockaddr *)&address, &size) == 0);
    server->port = ntohs(address.sin_port);
    check(pipe2(server->wake, O_CLOEXEC) == 0);
    pthread_mutex_init(&server->lock, NULL);
    check(pthread_create(&server->thread, NULL, accept_all, server) == 0);
    return server;
}

static void forget(struct server *server)
{
    for (size_t i = 0; i < server->request_count; i++)
        free(server->requests[i].body);
    server->request_count = 0;
}

void server_stop(struct server *server)
{
    close(server->wake[1]); /* everybody who waits sees its end */
    pthread_join(server->thread, NULL);
    close(server->wake[0]);
    close(server->socket);
    forget(server);
    for (size_t i = 0; i < server->body_count; i++)
        free(server->bodies[i]);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

void server_script(struct server *server, const struct server_answer *answers, size_t count)
{
    pthread_mutex_lock(&server->lock);
    check(count <= sizeof(server->answers) / sizeof(server->answers[0]));
    for (size_t i = 0; i < count; i++) {
        server->answers[i] = answers[i];
        if (answers[i].size == 0)
            continue;
        check(server->body_count < MOST);
        void *copy = malloc(answers[i].size);
        memcpy(copy, answers[i].body, answers[i].size);
        server->bodies[server->body_count++] = copy;
        server->answers[i].body = copy;
    }
    server->answer_count = count;
    server->started = 0;
    forget(server);
    pthread_mutex_unlock(&server->lock);
}

size_t server_requests(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    size_t count = server->request_count;
    pthread_mutex_unlock(&server->lock);
    return count;
}

const struct server_request *server_request(struct server *server, size_t index)
{
    check(index < server_requests(server));
    return &server->requests[index];
}
