/*
 * A little HTTP server on loopback that misbehaves on demand: it answers request i as the i-th
 * answer of its script says, the last one ever after, and keeps what it was sent.
 *
 * Thread safety: start, script and stop from one thread; requests come in on the server's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum server_manner {
    SERVER_ANSWER,       /* as it should be */
    SERVER_RAW,          /* body alone, as it is: no HTTP at all */
    SERVER_CLOSE,        /* hangs up without a word */
    SERVER_CLOSE_MIDWAY, /* hangs up in the middle of the body it announced */
    SERVER_NEVER,        /* takes the request and says nothing until the server is stopped */
};

struct server_answer {
    enum server_manner manner;
    int status;
    const char *headers; /* further ones, each with its CRLF; NULL: none */
    const void *body;    /* NULL: none */
    size_t size;
};

struct server_request {
    char head[4096]; /* request line and headers */
    unsigned char *body;
    size_t size;
    double at; /* seconds of CLOCK_MONOTONIC when it was complete */
};

struct server;
struct server *server_start(void);
void server_stop(struct server *server);
uint16_t server_port(const struct server *server);

/* Copied, with the bodies; headers are not. Forgets the requests seen so far. */
void server_script(struct server *server, const struct server_answer *answers, size_t count);

/* Complete requests since the script was set. Pointers live until the next script. */
size_t server_requests(struct server *server);
const struct server_request *server_request(struct server *server, size_t index);
