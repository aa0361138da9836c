/*
 * The compiler: limits.compile_threads background threads of the lowest priority, started at the
 * first job, that take jobs in order of urgency. A job makes one variant of one pipeline
 * (variant_make.h); what it needs it holds by references of its own, so that it survives everything
 * a game may destroy meanwhile.
 *
 * A thread's first limits.loading_ms of processor time are at the game's own priority, since
 * creating pipelines waits for what is made then (ahead.h); on a machine that a loading game keeps
 * busy nothing of the lowest priority would be done in that time.
 *
 * All of them together use limits.background_share of a core, averaged over ten seconds: when more
 * was used the next job waits, for ten minutes at most, however long the driver took for the last.
 * A job may have some of it in advance, so that it need not wait: what a game is about to record
 * comes all at once. Whatever comes after it waits the longer.
 *
 * The threads run with every signal blocked. A fork is survived: the child has no threads, takes no
 * jobs, and destroys without joining.
 *
 * Thread safety: all functions may be called from any thread but pm_compiler_destroy, which comes
 * last.
 */
#pragma once

#include "layer/core/layer.h"

/* A job. run and drop are called exactly once between them, with the job; run on a compiler thread,
 * drop (job was cancelled or the device goes) on any. */
struct pm_job {
    void (*run)(struct pm_job *job);
    void (*drop)(struct pm_job *job);
    const void *owner; /* what pm_compiler_cancel names */
    const _Atomic uint32_t
        *urgency;        /* how often it was wanted so far; the highest goes first; NULL: 0 */
    uint32_t advance_s;  /* it may use the share of so many seconds before they are over */
    const char *name;    /* what it does, for a trace */
    bool always;         /* taken however many jobs wait: there are few such jobs */
    bool impatient;      /* refused where a compile thread is at the queue: a draw may ask */
    struct pm_job *next; /* the compiler's */
};

/* NULL: out of memory. Starts no thread yet. */
struct pm_compiler *pm_compiler_create(struct pm_device *device);

/* Drops the waiting jobs, asks the running ones to stop (base/stop.h) and waits for them: what the
 * driver has begun it must end. Takes no jobs from then on. NULL is allowed. */
void pm_compiler_stop(struct pm_compiler *compiler);

/* Stops it first. NULL is allowed. */
void pm_compiler_destroy(struct pm_compiler *compiler);

/* Queues a job. false: it was not taken (queue full, no thread could be started, in a forked
 * child); neither run nor drop will be called. */
bool pm_compiler_queue(struct pm_compiler *compiler, struct pm_job *job);
/* The same, also not taken where a compile thread is at the queue, whatever the job: the caller
 * does not wait. */
bool pm_compiler_try_queue(struct pm_compiler *compiler, struct pm_job *job);

/* Drops the owner's waiting jobs; running ones go on. */
void pm_compiler_cancel(struct pm_compiler *compiler, const void *owner);

/* Whether a job that is queued and has so much in advance may run, as soon as a thread has the
 * processor; else more was used than background threads may. */
bool pm_compiler_may_run(struct pm_compiler *compiler, uint32_t advance_s);

/* How many jobs wait. */
uint32_t pm_compiler_waiting(struct pm_compiler *compiler);

/* Waits until no job waits or runs. For tests. */
void pm_compiler_drain(struct pm_compiler *compiler);

/* What is left of a budget, in nanoseconds of a core, when a job has used so many. Below 0: how
 * long the next one waits, times the share. */
double pm_compiler_spend(double budget, int64_t used, double share);
