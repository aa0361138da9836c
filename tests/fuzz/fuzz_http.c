/*
 * Any bytes as what a client sends to a real service on a loopback connection. The first byte says
 * how (the bits below); the rest is sent as it stands, or as a head and a body around which the
 * lengths, the compression and the chunks are made right, since a fuzzer would not find its way
 * through them. Whatever comes, the answers must be HTTP, none may be the service's own failure,
 * and it must go on answering others.
 */
#include "aggregator/dashboard/dashboard.h"
#include "aggregator/service/service.h"
#include "profile/profile.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/seeds.h"
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BODY = 1,     /* the bytes up to a 0 are the head, without its empty line; then the body */
    COMPRESS = 2, /* the body goes as one zstd frame */
    CHUNKED = 4,  /* in chunks; else with its length */
    TOKENS = 8,   /* to the service that asks for a token */
    SPLIT = 0xf0, /* sent in pieces of so many bytes (shifted down; 0: at once) */
    HANG_MILLISECONDS = 60000,
    PATIENCE_MILLISECONDS = 300,
    QUIET_MILLISECONDS = 3,
    PATH = 256, /* bytes */
    HEALTH_AFTER = 100,
    FRESH_AFTER = 2000, /* inputs: then the services stop, and start on empty storages */
};

#define HEAD "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\n"
#define TOKEN "Authorization: Bearer secret\r\n"

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT("\x03" HEAD "\0" PM_FUZZ_PROFILE),
    PM_FUZZ_TEXT("\x7f" HEAD TOKEN "\0" PM_FUZZ_PROFILE),
    PM_FUZZ_TEXT("\x05" HEAD "\0\x28\xb5\x2f\xfd\x20\x56\xb1\x02\x00" PM_FUZZ_PROFILE),
    PM_FUZZ_TEXT("\x10" HEAD "Expect: 100-continue\r\nContent-Length: 999999999\r\n\r\nx"),
    PM_FUZZ_TEXT("\x10" HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
    PM_FUZZ_TEXT("\x08GET /v1/games HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    PM_FUZZ_TEXT("\x20GET /v1/games/g/database HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: "
                 "\"a\", *\r\n\r\n"
                 "HEAD /v1/games/%67/database?x=%00 HTTP/1.0\r\n\r\n"),
    PM_FUZZ_TEXT(
        "\x00GET /v1/games/g/shaders?limit=1&offset=%31&sort=key&search=0a&kind=zero HTTP/1.1\r\n"
        "Host: localhost\r\n\r\nGET /v1/games/g/candidates HTTP/1.1\r\nHost: [::1]:1\r\n\r\n"),
    PM_FUZZ_TEXT(
        "\x00GET /v1/games/%2F%67/coverage?samples=9 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        "GET /assets/main.js HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: W/\"a\", *\r\n\r\n"),
    PM_FUZZ_TEXT("\x00GET /v1/quarantine?game=g%00 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                 "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    PM_FUZZ_TEXT("\x00GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
    {NULL, 0},
};

/* ---- the services ---- */

static struct place {
    char folder[64];
    struct pm_aggregator *aggregator;
    struct pm_service *service;
} places[2]; /* [1] asks for a token */

static char *path_in(const struct place *place, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", place->folder, name);
    return out;
}

static void start(struct place *place, bool tokens)
{
    static const char *const bases[] = {"/dev/shm", "/tmp"};
    char storage[PATH], token_file[PATH];
    struct pm_error error = {0};
    for (size_t i = 0; i < 2; i++) {
        snprintf(place->folder, sizeof(place->folder), "%s/pm-fuzz-http-XXXXXX", bases[i]);
        if (mkdtemp(place->folder))
            break;
    }
    path_in(place, "token", token_file, sizeof(token_file));
    FILE *file = fopen(token_file, "w");
    PM_FUZZ_CHECK(file && fputs("secret\n", file) >= 0 && fclose(file) == 0);
    const struct pm_aggregator_info info = {.publish_all = true};
    place->aggregator =
        pm_aggregator_open(path_in(place, "a.sqlite", storage, sizeof(storage)), &info, &error);
    struct pm_profile_limits limits = pm_profile_limits_default;
    limits.compressed_bytes = 1 << 16;
    limits.decompressed_bytes = 1 << 20;
    const struct pm_service_info service = {
        .aggregator = place->aggregator,
        .routes = &pm_dashboard_routes,
        .token_file = tokens ? token_file : NULL,
        .curate_seconds = 1,
        .limits = limits,
    };
    place->service = place->aggregator ? pm_service_create(&service, &error) : NULL;
    if (!place->service)
        fprintf(stderr, "%s\n", error.message);
    PM_FUZZ_CHECK(place->service);
}

static void stop(struct place *place)
{
    static const char *const files[] = {"token", "a.sqlite", "a.sqlite-wal", "a.sqlite-shm"};
    char path[PATH];
    pm_service_destroy(place->service);
    pm_aggregator_destroy(place->aggregator);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        unlink(path_in(place, files[i], path, sizeof(path)));
    rmdir(place->folder);
    place->service = NULL;
}

static void stop_all(void)
{
    for (size_t i = 0; i < 2; i++) {
        if (places[i].service)
            stop(&places[i]);
    }
}

static void freshen(void)
{
    static unsigned inputs;
    if (inputs == 0) {
        signal(SIGPIPE, SIG_IGN);
        atexit(stop_all);
    }
    if (inputs++ % FRESH_AFTER != 0)
        return;
    stop_all();
    start(&places[0], false);
    start(&places[1], true);
}

/* ---- one connection ---- */

static int connect_to(const struct place *place)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(pm_service_port(place->service)),
                                        .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    PM_FUZZ_CHECK(fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0);
    return fd;
}

/* What a peer gets that does not read: the service may close before it has all. */
static void send_all(int fd, const uint8_t *data, size_t size, size_t piece)
{
    if (piece == 0)
        piece = size;
    for (size_t at = 0; at < size;) {
        const size_t wanted = size - at < piece ? size - at : piece;
        const ssize_t sent = send(fd, data + at, wanted, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        at += (size_t)sent;
    }
}

/* Until the service closes, or is quiet. The end of what we send comes a while after the rest:
 * libmicrohttpd may not see one that comes with it, or while an upload's connection is suspended,
 * and then keeps the connection until it has been idle for too long. patience: milliseconds to wait
 * for the first byte after the end. */
static void receive_all(int fd, int patience, struct pm_buffer *out)
{
    char part[4096];
    bool ended = false;
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        const int count = poll(&ready, 1, ended && out->size == 0 ? patience : QUIET_MILLISECONDS);
        if (count < 0 && errno == EINTR) /* libFuzzer's clock */
            continue;
        PM_FUZZ_CHECK(count >= 0);
        if (count == 0 && ended)
            return;
        if (count == 0) {
            shutdown(fd, SHUT_WR);
            ended = true;
            continue;
        }
        const ssize_t got = recv(fd, part, sizeof(part), 0);
        if (got <= 0)
            return;
        PM_FUZZ_CHECK(pm_buffer_append(out, part, (size_t)got));
    }
}

/* The status of the first answer; 0 for none. */
static unsigned converse(const struct place *place, const struct pm_buffer *request, size_t piece,
                         int patience)
{
    struct pm_buffer answer;
    unsigned status = 0;
    const int fd = connect_to(place);
    pm_buffer_init(&answer, (size_t)16 << 20);
    send_all(fd, request->data, request->size, piece);
    receive_all(fd, patience, &answer);
    if (answer.size > 0 &&
        (sscanf((const char *)answer.data, "HTTP/1.%*1[01] %3u ", &status) != 1 || status < 100 ||
         status == 500 || status == 507)) {
        /* What is no HTTP, or a failure of ours by this client's doing. */
        fprintf(stderr, "answered: %.300s\n", (const char *)answer.data);
        __builtin_trap();
    }
    pm_buffer_finish(&answer);
    close(fd);
    return status;
}

/* Does it still answer others? */
static void check_health(const struct place *place)
{
    static unsigned inputs;
    struct pm_buffer request;
    if (inputs++ % HEALTH_AFTER != 0)
        return;
    pm_buffer_init(&request, 256);
    pm_buffer_append_string(&request, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    PM_FUZZ_CHECK(converse(place, &request, 0, HANG_MILLISECONDS) == 200);
    pm_buffer_finish(&request);
}

static void append_body(struct pm_buffer *request, unsigned how, const uint8_t *body, size_t size)
{
    struct pm_buffer frame;
    struct pm_error error;
    pm_buffer_init(&frame, (size_t)1 << 20);
    if (how & COMPRESS) {
        PM_FUZZ_CHECK(pm_compress(body, size, &frame, &error));
        body = frame.data;
        size = frame.size;
    }
    if (how & CHUNKED) {
        const size_t half = size / 2;
        pm_buffer_printf(request, "Transfer-Encoding: chunked\r\n\r\n");
        if (half > 0)
            pm_buffer_printf(request, "%zx\r\n", half);
        pm_buffer_append(request, body, half);
        pm_buffer_printf(request, half > 0 ? "\r\n%zx\r\n" : "%zx\r\n", size - half);
        pm_buffer_append(request, body + half, size - half);
        pm_buffer_append_string(request, size > half ? "\r\n0\r\n\r\n" : "\r\n");
    } else {
        pm_buffer_printf(request, "Content-Length: %zu\r\n\r\n", size);
        pm_buffer_append(request, body, size);
    }
    pm_buffer_finish(&frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const unsigned how = data[0];
    const struct place *place = &places[how & TOKENS ? 1 : 0];
    struct pm_buffer request;
    freshen();
    data++, size--;
    pm_buffer_init(&request, (size_t)2 << 20);
    const uint8_t *end = how & BODY ? memchr(data, 0, size) : NULL;
    if (end) {
        pm_buffer_append(&request, data, (size_t)(end - data));
        append_body(&request, how, end + 1, size - (size_t)(end + 1 - data));
    } else {
        pm_buffer_append(&request, data, size);
    }
    converse(place, &request, (how & SPLIT) >> 4, PATIENCE_MILLISECONDS);
    pm_buffer_finish(&request);
    check_health(place);
    return 0;
}
