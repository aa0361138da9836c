/*
 * The aggregator's HTTP service: libmicrohttpd with epoll, a request suspended until the commit
 * that holds its upload (DESIGN, Wire and Storage).
 *
 *   POST /v1/uploads   a piecemeal profile, protobuf in one zstd frame
 *                      204: it is stored; 200: its upload id was stored before; 400 what is wrong
 *                      with it; 413 too large; with Retry-After 429: too much waits, or the storage
 *                      is away, held by another or too slow, and 507: the storage is full
 *   GET /v1/games/{game}/database (and /database/previous)
 *                      the PGO database (zstd), with ETag; 304 by If-None-Match; 404
 *   GET /healthz       200, or 503 from a commit that failed until one succeeds, of an upload or
 *                      of one that is only tried, and while it stops; needs no token
 *   GET /metrics       for Prometheus
 *   and what its caller gives it routes to: the dashboard, and under /v1 the JSON that it reads
 *   (dashboard/dashboard.h)
 *
 * docs/openapi.json describes all of them.
 *
 * Besides: 401 without a known token (when any is asked for), 404, 405, 500 with the reason in the
 * log, 503 while stopping. Every answer but 204, 304 and a database is JSON; that of a failure is
 * {"error": "…", "field": "…"}; the field of an upload that is wrong is named as
 * "shaders[3].points[1].lanes" (service_field.h), else it is what was refused: authorization,
 * token, address, method, body, queue, storage, service. Neither addresses nor user agents are ever
 * logged or stored; rates are kept in memory under keyed hashes.
 *
 * Memory is bounded: connections, what one upload may take compressed and decompressed, what all
 * uploads may take together, the number waiting for a commit. A request that is not there in full
 * after request_seconds is cut off.
 *
 * SIGXFSZ must be ignored where a limit on file sizes can be reached, or the process dies before it
 * can answer 507.
 *
 * Thread safety: create, stop and destroy from one thread; the service has threads of its own.
 */
#pragma once

#include "aggregator/aggregator.h"
#include "aggregator/storage/report.h"

struct pm_routes;
struct pm_service;

struct pm_service_info {
    struct pm_aggregator *aggregator; /* stays the caller's, and outlives the service */
    struct pm_log *log;               /* as is this */
    const struct pm_routes *routes;   /* what it answers besides; likewise. NULL: nothing */
    const char *address;              /* numeric, IPv4 or IPv6; NULL: 127.0.0.1 */
    uint16_t port;                    /* 0: any free one */
    const char *token_file; /* one bearer token a line, # begins a comment; NULL: none asked */
    /* The same for who may see the dashboard, the JSON API and the metrics, which tell more than a
     * database does: also what too few players sent to be published. NULL: where no token is asked
     * for uploads either, and only this machine reaches the service, all may; else nobody. */
    const char *dashboard_token_file;
    const char *certificate_file, *key_file; /* PEM; both or neither */
    const char *certificate, *key; /* the same as texts, in the place of the files; NULL: none */
    /* Of signed verdicts, which are served as they are (profile/signed_verdicts.h):
     * <game>.verdicts, the name made safe as base/file.h does. NULL: none. */
    const char *verdicts_folder;
    uint32_t curate_seconds;         /* background curation period; 0: 10 */
    struct pm_profile_limits limits; /* all 0: the defaults */
    uint32_t connections;            /* 0: 512 */
    uint32_t queue;      /* uploads waiting for a commit, beyond which 429 is the answer; 0: 1024 */
    size_t memory_bytes; /* all uploads being received or waiting; 0: 256 MiB */
    uint32_t request_seconds;          /* 0: 60 */
    uint32_t token_rate, address_rate; /* uploads a minute of one token and of one address (IPv6: of
                                          one /64), beyond which 429 is the answer; 0: any */
    uint32_t address_connections;      /* of one address, beyond which none is accepted; 0: any */
    size_t address_bytes;              /* of memory_bytes, of one address; 0: any */
    size_t token_bytes;                /* the same of one token */
    uint64_t token_day_bytes; /* that one token may have stored in a day, beyond which 429 is the
                                 answer; 0: any */
};

/* PM_ERROR_STATE: the address is taken; PM_ERROR_IO: a file cannot be read; PM_ERROR_INPUT: an
 * address, certificate or token file that cannot be. */
struct pm_service *pm_service_create(const struct pm_service_info *info, struct pm_error *error);

/* The port it listens on. */
uint16_t pm_service_port(const struct pm_service *service);

/* Has it a certificate that was given to it in a file? Then browsers may be told never to come
 * without TLS again. */
bool pm_service_is_certified(const struct pm_service *service);

/* Reads the files of tokens, and of the certificate and key, again: they may have changed. Nobody
 * is cut off: an upload that was begun goes on with what it began with, a connection keeps the
 * certificate that it was shown, and rates and limits of tokens that stay go on. A file that cannot
 * be is logged, what was read of it before stays, and the others are read all the same; false:
 * there was one. Texts (info->certificate) stay. From the thread that destroys the service. */
bool pm_service_reload(struct pm_service *service);

/* Stops accepting, commits and answers what was accepted, gives up the folding and the curation
 * that are under way, frees. What is new is folded and curated after the next start. Where another
 * process has the storage locked, what was accepted is answered with 503 after two seconds, and not
 * kept. NULL is allowed. */
void pm_service_destroy(struct pm_service *service);

/* Would a service of this information start? The address, certificate and key with their dates, and
 * tokens; info->aggregator and info->log are not read, and nothing changes. */
void pm_service_check(const struct pm_service_info *info, pm_check_report report, void *user);
