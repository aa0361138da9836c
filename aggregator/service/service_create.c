#include "aggregator/service/service_state.h"
#include "aggregator/service/service_routes.h"

#include <errno.h>
#include <malloc.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CURATE_SECONDS 10
#define CONNECTIONS 512
#define QUEUE 1024
#define MEMORY_BYTES ((size_t)256 << 20)
#define REQUEST_SECONDS 60
#define IDLE_SECONDS 30 /* without a byte either way */
#define MOST_THREADS 8
#define ANSWER_SECONDS 10 /* for taking the last answers while stopping */

/* ---- creating ---- */

static bool init_sync(struct pm_service *service)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&service->mutex, NULL);
    pm_bodies_init(&service->bodies);
    pthread_mutex_init(&service->large_mutex, NULL);
    pm_models_init(&service->models);
    pm_tokens_init(&service->tokens);
    pm_tokens_init(&service->readers);
    pm_metrics_init(&service->metrics);
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    const bool done = pthread_cond_init(&service->queue_changed, &monotonic) == 0 &&
                      pthread_cond_init(&service->stop_changed, &monotonic) == 0 &&
                      pthread_cond_init(&service->answered, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    return done;
}

static struct addrinfo *resolve(const struct pm_service_info *info, struct pm_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_PASSIVE};
    const char *address = info->address ? info->address : "127.0.0.1";
    struct addrinfo *found = NULL;
    char port[8];
    snprintf(port, sizeof(port), "%u", info->port);
    const int code = getaddrinfo(address, port, &hints, &found);
    if (code == 0)
        return found;
    pm_fail(error, PM_ERROR_INPUT, "address: \"%s\" is no numeric address (%s)", address,
            gai_strerror(code));
    return NULL;
}

/* Bound and listening here, since libmicrohttpd would not say why it cannot. */
int pm_service_listen(const struct pm_service_info *info, struct pm_error *error)
{
    const int one = 1;
    struct addrinfo *address = resolve(info, error);
    if (!address)
        return -1;
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                          address->ai_protocol);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, SOMAXCONN) != 0) {
        const int why = errno;
        pm_fail_errno(error, why, "cannot listen on %s, port %u",
                      info->address ? info->address : "127.0.0.1", info->port);
        if (why == EADDRINUSE && error)
            error->code = PM_ERROR_STATE;
        freeaddrinfo(address);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    freeaddrinfo(address);
    return fd;
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
    };
    if (credentials) {
        tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
                                         (char *)pm_credentials_certificate(credentials)};
        tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0,
                                         (char *)pm_credentials_key(credentials)};
    }
    service->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | (credentials ? MHD_USE_TLS : 0),
        0, NULL, NULL, pm_http_handle, service, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, service->connection_limit, MHD_OPTION_CONNECTION_TIMEOUT,
        IDLE_SECONDS, MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_NOTIFY_COMPLETED,
        pm_http_completed, service, MHD_OPTION_NOTIFY_CONNECTION, pm_peers_notify, service,
        MHD_OPTION_UNESCAPE_CALLBACK, pm_route_leave_escaped, NULL, MHD_OPTION_ARRAY, tls,
        MHD_OPTION_END);
    if (!service->daemon) {
        close(fd);
        return pm_fail(error, PM_ERROR_IO, "cannot serve HTTP%s", credentials ? "S" : "");
    }
    return true;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char port[8];
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, sizeof(port),
                    NI_NUMERICSERV) != 0)
        return 0;
    return (uint16_t)atoi(port);
}

/* Can only this machine reach it? */
static bool is_loopback(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return false;
    if (address.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&address)->sin6_addr);
    return address.ss_family == AF_INET &&
           ntohl(((struct sockaddr_in *)&address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
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
    keep_memory();
    service->aggregator = info->aggregator;
    service->log = info->log;
    service->limits = info->limits.compressed_bytes != 0 ? info->limits : pm_profile_limits_default;
    service->queue_limit = info->queue ? info->queue : QUEUE;
    service->curate_seconds = info->curate_seconds ? info->curate_seconds : CURATE_SECONDS;
    service->request_seconds = info->request_seconds ? info->request_seconds : REQUEST_SECONDS;
    service->memory_bytes = info->memory_bytes ? info->memory_bytes : MEMORY_BYTES;
    service->connection_limit = info->connections ? info->connections : CONNECTIONS;

    int fd = -1;
    if (!pm_rates_init(&service->rates, info->token_rate, info->address_rate)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for a service");
        goto error;
    }
    if (!pm_files_read(service, info, error) || (fd = pm_service_listen(info, error)) < 0)
        goto error;
    service->port = port_of(fd);
    service->closed = service->tokens.asked || !is_loopback(fd);
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
    pm_bodies_finish(&service->bodies);
    pm_models_finish(&service->models);
    pm_metrics_finish(&service->metrics);
    pthread_cond_destroy(&service->queue_changed);
    pthread_cond_destroy(&service->stop_changed);
    pthread_cond_destroy(&service->answered);
    pthread_mutex_destroy(&service->mutex);
    pthread_mutex_destroy(&service->large_mutex);
    pm_files_finish(service);
    pm_tokens_finish(&service->tokens);
    pm_tokens_finish(&service->readers);
    free(service);
}
