/*
 * What the files of the service share: its state, and the threads that work on it.
 *
 * Thread safety: as each field says; what says nothing is set before the service serves.
 */
#pragma once

#include "aggregator/service/service.h"
#include "aggregator/service/service_apart.h"
#include "aggregator/service/service_bodies.h"
#include "aggregator/service/service_metrics.h"
#include "aggregator/service/service_rates.h"
#include "aggregator/service/service_shares.h"
#include "aggregator/service/service_summaries.h"
#include "aggregator/service/service_tally.h"
#include "aggregator/service/service_tls.h"
#include "aggregator/service/service_tokens.h"
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

enum pm_request_state {
    PM_REQUEST_READING,   /* its body comes in */
    PM_REQUEST_REFUSED,   /* its body is thrown away; then `status` is the answer */
    PM_REQUEST_SUSPENDED, /* the committer has it */
    PM_REQUEST_COMMITTED, /* `status` is the answer */
};

/* One request. Belongs to the connection's thread, but for the committer's while it is suspended.
 */
struct pm_request {
    struct pm_service *service;
    struct MHD_Connection *connection;
    const struct pm_route *route; /* NULL: there is nothing at its path */
    struct pm_request *next;      /* in the queue */
    enum pm_request_state state;
    unsigned status;       /* HTTP */
    struct pm_error error; /* what the body of a failure says */
    const char *field;     /* and what it names as the field; NULL: what the error is about */
    bool disagrees;        /* it is refused for what is known of the game's shaders */
    unsigned retry;        /* seconds, for Retry-After; 0: what the status asks for */
    struct pm_buffer body;
    size_t thrown_away;     /* bytes of body */
    size_t held;            /* bytes it has of the service's memory */
    struct pm_share *token; /* of an upload that came with one, a reference; else NULL */
    struct pm_arena *arena;
    struct pm_profile profile; /* memory is the arena's */
    struct pm_prepared *prepared;
    struct pm_ingest_source source;
    bool has_source;   /* it came with a token that was asked for */
    int64_t queued_at; /* nanoseconds, monotonic */
};

/* One connection; a list under the service's mutex. */
struct pm_peer {
    struct pm_peer *next, *previous;
    int fd;
    struct pm_credentials *credentials; /* a reference; NULL: without TLS */
    struct pm_share *address;           /* counts it as a connection; NULL: unknown */
    struct pm_share *token; /* of the request that it sends, which has the reference; or NULL */
    atomic_size_t held;     /* bytes of that request */
    bool busy;              /* a request is there in full and is being answered */
    bool cut;               /* it was cut off, and ends soon */
    int64_t since;          /* seconds, monotonic: when `busy` changed */
};

struct pm_service {
    struct pm_aggregator *aggregator;
    struct pm_log *log;
    const struct pm_routes *routes; /* beside its own; NULL: none */
    struct pm_profile_limits limits;
    uint32_t queue_limit, curate_seconds, request_seconds, connection_limit;
    struct pm_rates rates;
    struct pm_shares shares;
    struct pm_tally tally; /* of tokens that uploaded */
    size_t memory_bytes;
    struct MHD_Daemon *daemon;
    uint16_t port;
    struct pm_tokens uploaders;  /* who may upload, and pull databases */
    struct pm_tokens readers;    /* who may see the dashboard; these may pull databases too */
    const char *verdicts_folder; /* a copy; NULL: none */
    bool closed;                 /* without readers nobody may see the dashboard */
    bool local; /* only this machine reaches it, and it asks no uploader for a token */
    /* Copies; NULL: there is none. What they name is read again by pm_service_reload. */
    char *token_file, *dashboard_token_file, *certificate_file, *key_file;
    struct pm_credentials *first_credentials; /* of the start: the daemon points into them */
    struct pm_metrics metrics;
    struct pm_summaries summaries;
    atomic_size_t held; /* bytes that requests hold */

    struct pm_apart apart; /* the committer's */
    int64_t said_apart;    /* seconds, monotonic; the committer's: when it was last logged */

    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t queue_changed, stop_changed, answered;
    struct pm_request *first, *last;
    uint32_t queued;
    uint32_t unanswered; /* requests that were queued and are not completed */
    bool stopping, commit_failed;
    struct pm_error commit_error;
    struct pm_peer *peers;
    uint32_t peer_count;
    int64_t said_crowded; /* seconds, monotonic: when somebody was last kept out for the others */
    struct pm_credentials *credentials; /* of who connects from now on; NULL: without TLS */

    pthread_mutex_t large_mutex; /* held while a large upload is read */

    struct pm_bodies bodies;

    pthread_t committer, curator, folder, sweeper;
    bool committer_runs, curator_runs, folder_runs, sweeper_runs;
};

int64_t pm_service_now(void); /* seconds, monotonic */

/* ---- service_files.c ---- */

bool pm_files_read(struct pm_service *service, const struct pm_service_info *info,
                   struct pm_error *error);
void pm_files_finish(struct pm_service *service);

/* ---- service_commit.c ---- */

#define PM_COMMIT_GROUP 512 /* uploads of one transaction, at most */
/* Their shaders: with as many or more it takes no further upload. Each costs claims. */
#define PM_COMMIT_SHADERS ((size_t)1 << 16)

/* Suspends the request's connection and queues it; false when the service is stopping, or the queue
 * is full. */
bool pm_commit_enqueue(struct pm_request *request);
/* How many wait. */
uint32_t pm_commit_queued(struct pm_service *service);
/* Do so many wait, or the first of them for so long, that another one had better not come? */
bool pm_commit_is_overloaded(struct pm_service *service);
/* The committer's thread: commits groups until the service stops and nothing is left. */
void *pm_commit_run(void *service);

/* ---- service_curate.c ---- */

/* The curator's thread: curates the games that have new uploads, now and then, until the service
 * stops. */
void *pm_curate_run(void *service);
/* Asks it for the summary of a game, soon. */
void pm_curate_want(struct pm_service *service, const char *game);

/* ---- service_upkeep.c ---- */

/* The threads that fold samples, and look after peers. */
void *pm_fold_run(void *service);
void *pm_sweep_run(void *service);

/* ---- service_http.c ---- */

enum MHD_Result pm_http_handle(void *service, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *data,
                               size_t *size, void **request);
void pm_http_completed(void *service, struct MHD_Connection *connection, void **request,
                       enum MHD_RequestTerminationCode code);

/* ---- service_hold.c ---- */

enum pm_hold {
    PM_HOLD_DONE,
    PM_HOLD_TOKEN,   /* its token holds as much as it may */
    PM_HOLD_ADDRESS, /* so does its address */
    PM_HOLD_ALL,     /* all requests together do; who holds most was cut off, if that is another */
};
/* Bytes that the request holds from now on, instead of those it held; unless PM_HOLD_DONE, it holds
 * what it did. Fewer can always be held. */
enum pm_hold pm_hold(struct pm_request *request, size_t bytes);

/* ---- service_peers.c ---- */

/* For MHD_start_daemon: may this address have one more connection? */
enum MHD_Result pm_peers_accept(void *service, const struct sockaddr *address, socklen_t size);
/* The peer of a connection; NULL: there was no memory for it. */
struct pm_peer *pm_peers_of(struct MHD_Connection *connection);
/* Whose token's the peer's request is, until the next call; NULL: nobody's. */
void pm_peers_set_token(struct pm_service *service, struct MHD_Connection *connection,
                        struct pm_share *token);
/* Cuts off the request that is not there in full of whoever holds most memory, when that is more
 * than the asker's token and address do. */
void pm_peers_shed(struct pm_service *service, struct pm_request *asker);
void pm_peers_notify(void *service, struct MHD_Connection *connection, void **peer,
                     enum MHD_ConnectionNotificationCode code);
void pm_peers_set_busy(struct pm_service *service, struct MHD_Connection *connection, bool busy);
/* Cuts off who takes too long; when connections run out, who has taken longest. Call about once a
 * second. */
void pm_peers_sweep(struct pm_service *service);
