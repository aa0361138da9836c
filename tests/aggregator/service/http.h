/* A small HTTP client for the tests of the service, on libcurl, and on plain sockets for what
 * libcurl would not do. */
#pragma once

#include "profile/profile.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply {
    long status; /* 0: there was none */
    unsigned char *body;
    size_t size;
    char etag[80];   /* as sent, with quotes; "" for none */
    char rules[40];  /* Piecemeal-Rules; "" for none */
    int retry_after; /* -1 for none */
};

struct request {
    uint16_t port;
    const char *method; /* NULL: GET, or POST with a body */
    const char *path;
    const char *token;   /* NULL: none */
    const char *header;  /* one more header line; NULL: none */
    const char *ca_file; /* not NULL: over TLS, for the name "localhost" */
    const void *body;
    size_t size;
    bool chunked; /* send the body without its size */
    /* Called once the server has taken the headers and waits for the body; NULL: it is sent with
     * them. */
    void (*before_body)(void *user);
    void *user;
};

/* The reply's body is malloc'ed; reply_finish frees it. Waits 60 s at most. */
struct reply http_send(const struct request *request);
void reply_finish(struct reply *reply);

/* Encodes, compresses and posts a profile; gives the status. */
long http_upload(uint16_t port, const char *token, const struct pm_profile *profile);

/* The bytes of it. */
void http_encode(const struct pm_profile *profile, struct pm_buffer *out);

/* A number of the server's metrics, by its name; -1: it is not there. */
long http_metric(uint16_t port, const char *name);
/* The same with an operator's token. */
long http_metric_as(uint16_t port, const char *token, const char *name);

/* A connected socket. */
int http_connect(uint16_t port);
