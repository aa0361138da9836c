/* The service as a whole: its start and its end. */
#include "aggregator/service/service_listen.h"
#include "aggregator/service/service_routes.h"
#include "aggregator/service/service_state.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CURATE_SECONDS 10
#define CONNECTIONS 512
#define QUEUE 1024
#define MEMORY_BYTES ((size_t)256 << 20)
#define REQUEST_SECONDS 60
#define IDLE_SECONDS 30 /* without a byte either way */
#define MOST_THREADS 8
/* TLS 1.2 and newer; forward secrecy and authenticated encryption alone (RFC 9325, 4.2). */
#define TLS_POLICY                                                                                 \
    "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"   \
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:-MAC-ALL:+AEAD:%SERVER_PRECEDENCE"
#define ANSWER_SECONDS 10 /* for taking the last answers while stopping */

/* ---- creating ---- */

static bool init_sync(struct pm_service *service)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&service->mutex, NULL);
    pm_bodies_init(&service->bodies);
    pthread_mutex_init(&service->large_mutex, NULL);
    pm_summaries_init(&service->summaries);
    pm_tokens_init(&service->uploaders);
    pm_tokens_init(&service->readers);
    pm_metrics_init(&service->metrics);
    pm_tally_init(&service->tally);
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    const bool done = pthread_cond_init(&service->queue_changed, &monotonic) == 0 &&
                      pthread_cond_init(&service->stop_changed, &monotonic) == 0 &&
                      pthread_cond_init(&service->answered, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    return done;
}

static bool start_daemon(struct pm_service *service, int fd, struct pm_error *error)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned threads = processors < 2              ? 2
                             : processors > MOST_THREADS ? MOST_THREADS
                                                         : (unsigned)processors;
    const struct pm_credentials *credentials = service->first_credentials;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_END, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    if (credentials) {
        tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
                                         (char *)pm_credentials_certificate(credentials)};
        tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0,
                                         (char *)pm_credentials_key(credentials)};
        tls[2] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0, (char *)TLS_POLICY};
    }
    service->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (credentials ? MHD_USE_TLS : 0),
        0, pm_peers_accept, service, pm_http_handle, service, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, service->connection_limit, MHD_OPTION_CONNECTION_TIMEOUT,
        IDLE_SECONDS, MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_NOTIFY_COMPLETED,
        pm_http_completed, service, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION,
        pm_peers_notify, service, MHD_OPTION_UNESCAPE_CALLBACK, pm_route_leave_escaped, NULL,
        MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
    if (!service->daemon) {
        close(fd);
        return pm_fail(error, PM_ERROR_IO, "cannot serve HTTP%s", credentials ? "S" : "");
    }
    return true;
}

/* An upload takes some hundred kilobytes for a moment. glibc would give them back to the system and
 * ask for them again with each. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

struct pm_service *pm_service_create(const struct pm_service_info *info, struct pm_error *error)
{
    struct pm_service *service = calloc(1, sizeof(*service));
    if (!service || !init_sync(service)) {
        free(service);
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a service");
        return NULL;
    }
    int fd = -1;
    keep_memory();
    service->aggregator = info->aggregator;
    service->log = info->log;
    service->routes = info->routes;
    service->limits = info->limits.compressed_bytes != 0 ? info->limits : pm_profile_limits_default;
    service->queue_limit = info->queue ? info->queue : QUEUE;
    service->curate_seconds = info->curate_seconds ? info->curate_seconds : CURATE_SECONDS;
    service->request_seconds = info->request_seconds ? info->request_seconds : REQUEST_SECONDS;
    service->memory_bytes = info->memory_bytes ? info->memory_bytes : MEMORY_BYTES;
    service->connection_limit = info->connections ? info->connections : CONNECTIONS;
    if (info->verdicts_folder && !(service->verdicts_folder = strdup(info->verdicts_folder))) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a service");
        goto error;
    }
    service->shares.most_connections = info->address_connections;
    service->shares.most_bytes[PM_SHARE_ADDRESS] = info->address_bytes;
    service->shares.most_bytes[PM_SHARE_TOKEN] = info->token_bytes;

    if (!pm_rates_init(&service->rates, info->token_rate, info->address_rate,
                       info->token_day_bytes) ||
        !pm_shares_init(&service->shares)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a service");
        goto error;
    }
    if (!pm_files_read(service, info, error) || (fd = pm_service_listen(info, error)) < 0)
        goto error;
    service->port = pm_service_port_of(fd);
    service->closed = service->uploaders.asked || !pm_service_is_loopback(fd);
    service->local = !service->closed;
    service->committer_runs =
        pthread_create(&service->committer, NULL, pm_commit_run, service) == 0;
    service->curator_runs = pthread_create(&service->curator, NULL, pm_curate_run, service) == 0;
    service->folder_runs = pthread_create(&service->folder, NULL, pm_fold_run, service) == 0;
    service->sweeper_runs = pthread_create(&service->sweeper, NULL, pm_sweep_run, service) == 0;
    if (!service->committer_runs || !service->curator_runs || !service->folder_runs ||
        !service->sweeper_runs) {
        pm_fail(error, PM_ERROR_MEMORY, "cannot start a thread");
        close(fd);
        goto error;
    }
    if (!start_daemon(service, fd, error))
        goto error;
    return service;

error:
    pm_service_destroy(service);
    return NULL;
}

bool pm_service_is_certified(const struct pm_service *service)
{
    return service->certificate_file != NULL;
}

uint16_t pm_service_port(const struct pm_service *service)
{
    return service->port;
}

/* ---- stopping ---- */

static void wait_for_answers(struct pm_service *service)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ANSWER_SECONDS;
    pthread_mutex_lock(&service->mutex);
    while (service->unanswered > 0 &&
           pthread_cond_timedwait(&service->answered, &service->mutex, &until) == 0) {
    }
    pthread_mutex_unlock(&service->mutex);
}

void pm_service_destroy(struct pm_service *service)
{
    if (!service)
        return;
    /* Who comes from now on is told that the service stops. MHD_quiesce_daemon would close the door
     * instead, but it and the daemon's threads both take the socket out of the epoll set, and the
     * second one ends the process (seen with 0.9.75). */
    pm_aggregator_interrupt(service->aggregator, true);
    pthread_mutex_lock(&service->mutex);
    service->stopping = true;
    pthread_cond_broadcast(&service->queue_changed);
    pthread_cond_broadcast(&service->stop_changed);
    pthread_mutex_unlock(&service->mutex);
    /* Nothing is queued from now on: the committer ends when it has done what there is. */
    if (service->committer_runs)
        pthread_join(service->committer, NULL);
    if (service->daemon) {
        wait_for_answers(service);
        MHD_stop_daemon(service->daemon);
    }
    if (service->curator_runs)
        pthread_join(service->curator, NULL);
    if (service->folder_runs)
        pthread_join(service->folder, NULL);
    if (service->sweeper_runs)
        pthread_join(service->sweeper, NULL);
    pm_aggregator_interrupt(service->aggregator, false);
    pm_rates_finish(&service->rates);
    pm_shares_finish(&service->shares);
    pm_bodies_finish(&service->bodies);
    pm_summaries_finish(&service->summaries);
    pm_metrics_finish(&service->metrics);
    pm_tally_finish(&service->tally);
    pthread_cond_destroy(&service->queue_changed);
    pthread_cond_destroy(&service->stop_changed);
    pthread_cond_destroy(&service->answered);
    pthread_mutex_destroy(&service->mutex);
    pthread_mutex_destroy(&service->large_mutex);
    pm_files_finish(service);
    pm_tokens_finish(&service->uploaders);
    pm_tokens_finish(&service->readers);
    free((char *)(uintptr_t)service->verdicts_folder);
    free(service);
}
