/*
 * What has to be looked after beside curation: samples that wait, and peers that take too long.
 * Each by a thread of its own: folding may take minutes, for which nobody may hold a connection.
 */
#include "aggregator/service/service_state.h"

#include <time.h>

#define FOLD_PERIOD_NS 100000000
/* After a failure: another may hold what it writes for long. */
#define FOLD_REST_NS INT64_C(5000000000)
#define SWEEP_PERIOD_NS 1000000000

/* Waits for a period; true: the service stops. */
static bool rest(struct pm_service *service, int64_t period_ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += period_ns / 1000000000;
    until.tv_nsec += (long)(period_ns % 1000000000);
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&service->mutex);
    while (!service->stopping &&
           pthread_cond_timedwait(&service->stop_changed, &service->mutex, &until) == 0) {
    }
    const bool stopping = service->stopping;
    pthread_mutex_unlock(&service->mutex);
    return stopping;
}

void *pm_fold_run(void *user)
{
    struct pm_service *service = user;
    bool failed = false;
    while (!rest(service, failed ? FOLD_REST_NS : FOLD_PERIOD_NS)) {
        struct pm_error error = {0};
        const bool done = pm_aggregator_fold_some(service->aggregator, &error);
        if (!done && !failed && !pm_aggregator_is_interrupted(service->aggregator))
            pm_log_error(service->log, "cannot bring uploads into the statistics: %s",
                         error.message);
        failed = !done;
    }
    return NULL;
}

void *pm_sweep_run(void *user)
{
    struct pm_service *service = user;
    while (!rest(service, SWEEP_PERIOD_NS))
        pm_peers_sweep(service);
    return NULL;
}
