/*
 * A service of its own process on a storage of its own: what the load is measured against.
 *
 * Thread safety: one thread, before any other thread is started: the process is forked.
 */
#pragma once

#include "aggregator/aggregator.h"
#include "aggregator/service/service.h"
#include "bench/ingest/ingest_bodies.h"
#include <sys/types.h>

/* In the folder that the process is in. */
#define SERVER_STORAGE "aggregator.db"
#define SERVER_CERTIFICATE "cert.pem"

/* Uploads that a filled storage counts for each of its games. */
#define SERVER_FILLED_UPLOADS 8

struct server_info {
    const struct bodies_info *bodies;
    const char *storage; /* a file, or an engine's URL */
    pid_t engine;        /* its process, whose time and whose children's is told apart; 0: none */
    uint64_t stored_points;         /* what the storage holds before it serves */
    struct pm_service_info service; /* aggregator and log are filled here */
    bool tls; /* with a certificate of its own, which SERVER_CERTIFICATE then is */
};

struct server {
    pid_t pid, engine;
    int control; /* closing it ends the server */
    uint16_t port;
};

/* What the process has used so far. */
struct server_usage {
    double cpu, engine_cpu;     /* seconds, user and system */
    uint64_t resident, written; /* bytes: in memory; sent to the disk */
};

/* How its aggregator goes by tokens and days; without log and storage. */
struct pm_aggregator_info server_aggregator(void);

bool server_start(struct server *server, const struct server_info *info, struct pm_error *error);
bool server_usage(const struct server *server, struct server_usage *usage, struct pm_error *error);
/* Waits until it has ended; false when it failed. */
bool server_stop(struct server *server);
