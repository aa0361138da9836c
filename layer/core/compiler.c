#include "layer/core/compiler.h"

#include "base/clock.h"
#include "base/stop.h"
#include "layer/core/thread.h"
#include "layer/core/trace.h"
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* SPIRV-Tools and drivers recurse deeply, and a game may have lowered the default size. */
enum { STACK_BYTES = 8 << 20, MOST_THREADS = 64, LOWEST_NICE = 19 };

struct pm_compiler {
    struct pm_device *device;
    pid_t process;         /* the one that the threads live in */
    _Atomic bool stopping; /* what runs is to stop (base/stop.h) */
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job was queued, or stop was set */
    pthread_cond_t idle; /* nothing waits and nothing runs */
    /* guarded by lock: */
    struct pm_job *waiting;
    uint32_t waiting_count, most_waiting;
    uint32_t running;
    bool stop, started;
    pthread_t threads[MOST_THREADS];
    uint32_t thread_count;
    double budget;       /* nanoseconds of a core that jobs may still use; below 0: overdrawn */
    int64_t budgeted_at; /* pm_now() */
};

/* limits.background_share holds on average over so long. */
#define BUDGET_TIME (10 * (double)PM_SECOND)
/* What one job overdraws is owed for so long at most: a driver may be at one for minutes, and the
 * jobs behind it would wait for hours. */
#define OWED_TIME (600 * (double)PM_SECOND)

struct pm_compiler *pm_compiler_create(struct pm_device *device)
{
    struct pm_compiler *compiler = calloc(1, sizeof *compiler);
    if (!compiler)
        return NULL;
    compiler->device = device;
    compiler->process = getpid();
    compiler->most_waiting = device->instance->config.limits.variants;
    compiler->budget = device->instance->config.limits.background_share * BUDGET_TIME;
    compiler->budgeted_at = pm_now();
    pthread_mutex_init(&compiler->lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC); /* pm_now's */
    pthread_cond_init(&compiler->work, &clock);
    pthread_condattr_destroy(&clock);
    pthread_cond_init(&compiler->idle, NULL);
    return compiler;
}

/* The lowest priority the system has for a thread: SCHED_IDLE, and nice for kernels and policies
 * that ignore it. */
static void lower_priority(void)
{
    const struct sched_param none = {0};
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
        (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), LOWEST_NICE);
}

/* ---- the budget ---- */

/* Under the lock. */
static void fill_budget(struct pm_compiler *compiler)
{
    const double share = compiler->device->instance->config.limits.background_share;
    const double most = share * BUDGET_TIME;
    const int64_t now = pm_now();
    compiler->budget += share * (double)(now - compiler->budgeted_at);
    compiler->budget = compiler->budget < most ? compiler->budget : most;
    compiler->budgeted_at = now;
}

/* Nanoseconds until a job may run that takes so much in advance; 0: now. Under the lock, of a
 * budget that was filled. */
static int64_t wait_for_budget(const struct pm_compiler *compiler, uint32_t advance_s)
{
    const double share = compiler->device->instance->config.limits.background_share;
    const double left = compiler->budget + share * advance_s * (double)PM_SECOND;
    return share >= 1 || left > 0 ? 0 : (int64_t)(-left / share) + 1;
}

double pm_compiler_spend(double budget, int64_t used, double share)
{
    const double least = -share * OWED_TIME, left = budget - (double)used;
    return left > least ? left : least;
}

/* ---- the threads ---- */

/* Unlinks the most wanted job of those that the budget allows. The queue is bounded and short, and
 * urgency changes while a job waits. *wait: nanoseconds until one may run, where none may. */
static struct pm_job *take(struct pm_compiler *compiler, int64_t *wait)
{
    struct pm_job **best = NULL;
    uint32_t most = 0;
    *wait = 0;
    fill_budget(compiler);
    for (struct pm_job **link = &compiler->waiting; *link; link = &(*link)->next) {
        const uint32_t urgency = (*link)->urgency ? atomic_load(((*link)->urgency)) : 0;
        const int64_t until = wait_for_budget(compiler, (*link)->advance_s);
        if (until > 0) {
            *wait = *wait == 0 || until < *wait ? until : *wait;
        } else if (!best || urgency >= most) { /* newest first: among equals the oldest */
            best = link;
            most = urgency;
        }
    }
    if (!best)
        return NULL;
    struct pm_job *job = *best;
    *best = job->next;
    job->next = NULL;
    compiler->waiting_count--;
    return job;
}

/* Waits for work, so many nanoseconds at most; 0: however long. Under the lock. */
static void wait_for_work(struct pm_compiler *compiler, int64_t most)
{
    if (most == 0) {
        pthread_cond_wait(&compiler->work, &compiler->lock);
        return;
    }
    const struct timespec time = pm_timespec(pm_now() + most);
    pthread_cond_timedwait(&compiler->work, &compiler->lock, &time);
}

/* So many nanoseconds of its processor time a thread has the game's priority: creating pipelines
 * waits for the first variants (limits.loading_ms), and programs that load use every core. */
static int64_t hurried_time(const struct pm_compiler *compiler)
{
    const struct pm_config *config = &compiler->device->instance->config;
    return config->limits.creation_ms > 0 ? (int64_t)config->limits.loading_ms * PM_MILLISECOND : 0;
}

static void *work(void *argument)
{
    struct pm_compiler *compiler = argument;
    bool lowered = false;
    pm_stop_watch(&compiler->stopping);
    pthread_mutex_lock(&compiler->lock);
    for (;;) {
        int64_t wait = 0;
        struct pm_job *job = compiler->stop ? NULL : take(compiler, &wait);
        if (job) {
            compiler->running++;
            pthread_mutex_unlock(&compiler->lock);
            const int64_t before = pm_used_by_thread();
            if (!lowered && before >= hurried_time(compiler)) {
                lower_priority();
                lowered = true;
            }
            pm_trace_begin(compiler->device->trace, NULL, job->name, NULL);
            job->run(job);
            pm_trace_end(compiler->device->trace, NULL, NULL);
            const int64_t used = pm_used_by_thread() - before;
            pthread_mutex_lock(&compiler->lock);
            compiler->budget = pm_compiler_spend(
                compiler->budget, used, compiler->device->instance->config.limits.background_share);
            compiler->running--;
            continue;
        }
        if (!compiler->waiting && compiler->running == 0)
            pthread_cond_broadcast(&compiler->idle);
        if (compiler->stop)
            break;
        wait_for_work(compiler, wait);
    }
    pthread_mutex_unlock(&compiler->lock);
    return NULL;
}

/* Starts the threads once; the lock is held. */
static bool start(struct pm_compiler *compiler)
{
    if (compiler->started)
        return compiler->thread_count > 0;
    compiler->started = true;
    uint32_t count = compiler->device->instance->config.limits.compile_threads;
    if (count > MOST_THREADS)
        count = MOST_THREADS;
    while (compiler->thread_count < count &&
           pm_thread_start(&compiler->threads[compiler->thread_count], STACK_BYTES, "piecemeal",
                           work, compiler))
        compiler->thread_count++;
    if (compiler->thread_count < count)
        pm_log_warning(compiler->device->instance->log, "only %u of %u compile threads started",
                       compiler->thread_count, count);
    return compiler->thread_count > 0;
}

static bool queue(struct pm_compiler *compiler, struct pm_job *job, bool waits)
{
    /* In a forked child the lock may be held by a thread that does not exist there. */
    if (getpid() != compiler->process)
        return false;
    if (!waits && pthread_mutex_trylock(&compiler->lock) != 0)
        return false;
    if (waits)
        pthread_mutex_lock(&compiler->lock);
    const bool taken = !compiler->stop &&
                       (job->always || compiler->waiting_count < compiler->most_waiting) &&
                       start(compiler);
    if (taken) {
        job->next = compiler->waiting;
        compiler->waiting = job;
        compiler->waiting_count++;
        pthread_cond_signal(&compiler->work);
    }
    pthread_mutex_unlock(&compiler->lock);
    return taken;
}

bool pm_compiler_queue(struct pm_compiler *compiler, struct pm_job *job)
{
    return queue(compiler, job, !job->impatient);
}

bool pm_compiler_try_queue(struct pm_compiler *compiler, struct pm_job *job)
{
    return queue(compiler, job, false);
}

static void drop_all(struct pm_job *jobs)
{
    while (jobs) {
        struct pm_job *next = jobs->next;
        jobs->drop(jobs);
        jobs = next;
    }
}

/* Unlinks the owner's waiting jobs, all for owner NULL; the lock is held. */
static struct pm_job *unlink_jobs(struct pm_compiler *compiler, const void *owner)
{
    struct pm_job *unlinked = NULL;
    for (struct pm_job **link = &compiler->waiting; *link;) {
        struct pm_job *job = *link;
        if (owner && job->owner != owner) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        job->next = unlinked;
        unlinked = job;
        compiler->waiting_count--;
    }
    if (!compiler->waiting && compiler->running == 0)
        pthread_cond_broadcast(&compiler->idle);
    return unlinked;
}

void pm_compiler_cancel(struct pm_compiler *compiler, const void *owner)
{
    if (getpid() != compiler->process)
        return;
    pthread_mutex_lock(&compiler->lock);
    struct pm_job *dropped = unlink_jobs(compiler, owner);
    pthread_mutex_unlock(&compiler->lock);
    drop_all(dropped);
}

bool pm_compiler_may_run(struct pm_compiler *compiler, uint32_t advance_s)
{
    pthread_mutex_lock(&compiler->lock);
    fill_budget(compiler);
    const bool may = wait_for_budget(compiler, advance_s) == 0;
    pthread_mutex_unlock(&compiler->lock);
    return may;
}

uint32_t pm_compiler_waiting(struct pm_compiler *compiler)
{
    pthread_mutex_lock(&compiler->lock);
    const uint32_t waiting = compiler->waiting_count;
    pthread_mutex_unlock(&compiler->lock);
    return waiting;
}

void pm_compiler_drain(struct pm_compiler *compiler)
{
    pthread_mutex_lock(&compiler->lock);
    while (compiler->waiting || compiler->running > 0)
        pthread_cond_wait(&compiler->idle, &compiler->lock);
    pthread_mutex_unlock(&compiler->lock);
}

void pm_compiler_stop(struct pm_compiler *compiler)
{
    if (!compiler)
        return;
    /* A forked child has only a copy: no threads to join, and a lock that may never be released.
     * Its memory is left alone, since a thread of the parent may have been changing it at the fork.
     */
    if (getpid() != compiler->process)
        return;
    atomic_store(&compiler->stopping, true);
    pthread_mutex_lock(&compiler->lock);
    compiler->stop = true;
    struct pm_job *dropped = unlink_jobs(compiler, NULL);
    pthread_cond_broadcast(&compiler->work);
    pthread_mutex_unlock(&compiler->lock);
    drop_all(dropped);
    for (uint32_t i = 0; i < compiler->thread_count; i++)
        pthread_join(compiler->threads[i], NULL);
    compiler->thread_count = 0;
}

void pm_compiler_destroy(struct pm_compiler *compiler)
{
    if (!compiler || getpid() != compiler->process)
        return;
    pm_compiler_stop(compiler);
    pthread_cond_destroy(&compiler->idle);
    pthread_cond_destroy(&compiler->work);
    pthread_mutex_destroy(&compiler->lock);
    free(compiler);
}
