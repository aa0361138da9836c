/* What has to be looked after beside curation: samples that wait, and peers that take too long. */
#include "aggregator/service_private.h"

#include <time.h>

#define PERIOD_NS 100000000
#define PERIODS_A_SWEEP 10

/* Waits for a period; true: the service stops. */
static bool rest(struct pm_service *service)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += PERIOD_NS;
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

void *pm_upkeep_run(void *user)
{
    struct pm_service *service = user;
    bool failed = false;
    for (unsigned i = 0; !rest(service); i++) {
        struct pm_error error = {0};
        const bool done = pm_aggregator_fold_some(service->aggregator, &error);
        if (!done && !failed)
            pm_log_error(service->log, "cannot bring uploads into the statistics: %s",
                         error.message);
        failed = !done;
        if (i % PERIODS_A_SWEEP == 0)
            pm_peers_sweep(service);
    }
    return NULL;
}
