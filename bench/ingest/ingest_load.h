/*
 * The load: one thread, many connections (epoll), each sending an upload as soon as the one before
 * is answered. The time of acknowledgement is from the first byte sent (and, for a new connection,
 * from connecting) to the whole answer.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "bench/ingest/ingest_bodies.h"

struct load_info {
    const uint16_t *ports; /* of 127.0.0.1; connections take them in turn */
    uint32_t port_count;
    uint32_t connections;
    bool reconnect;      /* a new connection for every upload */
    const char *ca_file; /* PEM: over TLS, for the name "localhost"; NULL: plain */
    const char *const *tokens;
    uint32_t token_count; /* upload i uses token i % token_count */
    const struct bodies *bodies;
    double seconds;
    uint64_t rate; /* uploads a second in all that are tried; 0: as many as can be */
    uint64_t seed;
};

struct load_result {
    uint64_t statuses[600]; /* answers by their status */
    uint64_t stored;        /* 204 */
    uint64_t broken;        /* connections that ended without an answer */
    double seconds;         /* in which these came */
    double p50, p99, most;  /* of acknowledgement, milliseconds, 204 alone */
    double cpu;             /* seconds of the generator */
    uint64_t *per_second;   /* stored in each second; malloc'ed */
    uint32_t second_count;
};

bool load_run(const struct load_info *info, struct load_result *result, struct pm_error *error);
void load_result_finish(struct load_result *result);
