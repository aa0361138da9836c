/*
 * The aggregator's HTTP service: libmicrohttpd with epoll, a request suspended until the commit
 * that holds its upload (DESIGN, Wire and Storage). Paths: POST /v1/uploads, GET
 * /v1/games/{game}/database, GET /v1/games (JSON), GET /healthz.
 *
 * Thread safety: create, stop and destroy from one thread; the service has threads of its own.
 */
#pragma once

#include "aggregator/aggregator.h"

struct pm_service;

struct pm_service_info {
    struct pm_aggregator *aggregator; /* stays the caller's, and outlives the service */
    struct pm_log *log;
    const char *address;                     /* NULL: 127.0.0.1 */
    uint16_t port;                           /* 0: any free one */
    const char *token_file;                  /* one bearer token a line; NULL: none asked */
    const char *certificate_file, *key_file; /* PEM; both or neither */
    uint32_t curate_seconds;                 /* background curation period; 0: 10 */
    struct pm_profile_limits limits;         /* all 0: the defaults */
};

struct pm_service *pm_service_create(const struct pm_service_info *info, struct pm_error *error);
uint16_t pm_service_port(const struct pm_service *service);

/* Stops accepting, commits and answers what was accepted, frees. */
void pm_service_destroy(struct pm_service *service);
