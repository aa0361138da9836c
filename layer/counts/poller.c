#include "layer/counts/poller.h"

#include "base/clock.h"
#include "layer/core/process_exit.h"
#include "layer/core/thread.h"
#include "layer/counts/report.h"
#include <assert.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define POLL_SHORTEST 1000000L /* nanoseconds */
#define POLL_LONGEST 20000000L
#define NICENESS 10
#define STACK_BYTES (1u << 20)

struct pm_poller {
    struct pm_device *device;
    struct pm_poll_source sources[PM_POLL_SOURCES]; /* unchanged once the thread runs */
    uint32_t source_count;
    void (*each_second)(struct pm_device *device); /* likewise; NULL: nothing */
    pthread_mutex_t lock;                          /* all below */
    pthread_cond_t work;                           /* a source waits, or stopping */
    pthread_t thread;
    bool started, stopping, answers;
};

struct pm_poller *pm_poller_create(struct pm_device *device)
{
    struct pm_poller *poller = calloc(1, sizeof *poller);
    if (poller == NULL)
        return NULL;
    poller->device = device;
    pthread_mutex_init(&poller->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&poller->work, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return poller;
}

void pm_poller_destroy(struct pm_poller *poller)
{
    if (poller == NULL)
        return;
    pthread_cond_destroy(&poller->work);
    pthread_mutex_destroy(&poller->lock);
    free(poller);
}

void pm_poller_add(struct pm_poller *poller, const struct pm_poll_source *source)
{
    assert(poller->source_count < PM_POLL_SOURCES && !poller->started);
    poller->sources[poller->source_count++] = *source;
}

void pm_poller_each_second(struct pm_poller *poller, void (*call)(struct pm_device *device))
{
    assert(!poller->each_second && !poller->started);
    poller->each_second = call;
}

static bool is_any_waiting(const struct pm_poller *poller)
{
    for (uint32_t i = 0; i < poller->source_count; i++) {
        if (poller->sources[i].is_waiting(poller->sources[i].user))
            return true;
    }
    return false;
}

static bool poll_all(const struct pm_poller *poller)
{
    struct pm_report report = {.device = poller->device};
    bool soon = false;
    for (uint32_t i = 0; i < poller->source_count; i++)
        soon |= poller->sources[i].poll(poller->sources[i].user, &report);
    pm_report_write(&report);
    return soon;
}

/* Under the lock: until somebody wakes the thread, or it is time for what comes each second. */
static void sleep_until(struct pm_poller *poller, int64_t second)
{
    const struct timespec until = {.tv_sec = (time_t)(second / PM_SECOND),
                                   .tv_nsec = (long)(second % PM_SECOND)};
    if (poller->each_second)
        pthread_cond_timedwait(&poller->work, &poller->lock, &until);
    else
        pthread_cond_wait(&poller->work, &poller->lock);
}

/* *second: when that is next. */
static void call_each_second(const struct pm_poller *poller, int64_t *second)
{
    const int64_t now = pm_now();
    if (!poller->each_second || now < *second)
        return;
    *second = now + PM_SECOND;
    poller->each_second(poller->device);
}

static void *run(void *user)
{
    struct pm_poller *poller = user;
    pm_thread_lower(NICENESS);
    long interval = POLL_SHORTEST;
    int64_t second = pm_now();
    pthread_mutex_lock(&poller->lock);
    while (!poller->stopping) {
        const bool waiting = is_any_waiting(poller);
        if (!waiting && (!poller->each_second || pm_now() < second)) {
            sleep_until(poller, second);
            interval = POLL_SHORTEST;
            continue;
        }
        pthread_mutex_unlock(&poller->lock);
        call_each_second(poller, &second);
        if (!waiting) {
            pthread_mutex_lock(&poller->lock);
            continue;
        }
        if (poll_all(poller)) {
            interval = POLL_SHORTEST;
        } else {
            nanosleep(&(struct timespec){0, interval}, NULL);
            interval = interval * 3 / 2 < POLL_LONGEST ? interval * 3 / 2 : POLL_LONGEST;
        }
        pthread_mutex_lock(&poller->lock);
    }
    const bool answers = poller->answers;
    pthread_mutex_unlock(&poller->lock);
    /* The device is idle: what was waited for is there. */
    if (answers)
        poll_all(poller);
    return NULL;
}

/* Under the lock. */
static bool start(struct pm_poller *poller)
{
    /* In a forked child there is no such thread, and the device is the parent's. */
    if (poller->stopping || pm_process_is_exiting() || getpid() != poller->device->process)
        return false;
    if (!poller->started)
        poller->started =
            pm_thread_start(&poller->thread, STACK_BYTES, "piecemeal-write", run, poller);
    return poller->started;
}

bool pm_poller_start(struct pm_poller *poller)
{
    pthread_mutex_lock(&poller->lock);
    const bool started = start(poller);
    pthread_mutex_unlock(&poller->lock);
    return started;
}

void pm_poller_wake(struct pm_poller *poller)
{
    pthread_mutex_lock(&poller->lock);
    if (start(poller))
        pthread_cond_signal(&poller->work);
    pthread_mutex_unlock(&poller->lock);
}

void pm_poller_stop(struct pm_poller *poller, bool answers)
{
    if (poller == NULL)
        return;
    pthread_mutex_lock(&poller->lock);
    poller->stopping = true;
    poller->answers = answers;
    const bool started = poller->started;
    pthread_cond_signal(&poller->work);
    pthread_mutex_unlock(&poller->lock);
    if (started)
        pthread_join(poller->thread, NULL);
}
