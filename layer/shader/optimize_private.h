/*
 * The optimizer's inside: optimize.c has it, optimize_contest.c the part about A-Z testing.
 */
#pragma once

#include "layer/core/compiler.h"
#include "layer/shader/at_once.h"
#include "layer/shader/contest.h"
#include "layer/shader/optimize.h"
#include "layer/shader/pipeline_cache.h"
#include "layer/shader/waiting.h"

struct pm_optimizer {
    struct pm_device *device;
    struct pm_optimizer_calls calls;
    struct pm_journal *journal; /* the instance's */
    struct pm_specialized_shaders *shaders;
    struct pm_contests *contests; /* NULL: none are held */
    struct pm_pipeline_cache *cache;
    struct pm_waiting waiting;
    struct pm_at_once at_once;
    _Atomic bool unsaved;     /* the journal and what is kept are to be brought to the disk */
    _Atomic bool contest_due; /* something came of a contest */
    _Atomic bool was_full;    /* said once */
    struct pm_job job;        /* takes one waiting pipeline after another */
    pthread_mutex_t lock;
    /* guarded by lock: */
    bool queued;         /* the job is, or runs */
    bool stopping;       /* it will not be any more */
    bool proven, paused; /* device->binds has PM_BINDS_PROVEN: proven and not paused */
    bool watched;        /* and PM_BINDS_WATCHED */
};

/* ---- optimize.c ---- */

/* Takes one of limits.variants; false: they are all in use. And gives it back. */
bool pm_optimizer_reserve(struct pm_optimizer *optimizer);
void pm_optimizer_give_back(struct pm_optimizer *optimizer);

/* Builds a pipeline with a specialized shader that may run anywhere. NULL: see *error. */
struct pm_optimized *pm_optimizer_build(struct pm_optimizer *optimizer,
                                        struct pm_pipeline *pipeline,
                                        const struct pm_specialized_shader *shader,
                                        struct pm_error *error);
/* The pipeline's variant from now on: proven, or to be tried. */
void pm_optimizer_publish(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                          struct pm_optimized *optimized);
/* Its verdict. */
void pm_optimizer_decide(struct pm_candidate *candidate, bool faster);
/* It is not used: it keeps what names it alive, but takes no room. */
void pm_optimizer_drop(struct pm_optimized *optimized);

/* Has the job look for what is to be done; any thread. */
void pm_optimizer_wake(struct pm_optimizer *optimizer);

/* ---- optimize_contest.c ---- */

/* A pipeline for which there is nothing else takes part in its shader's contest, or gets its
 * winner. false: later, when there is room. */
bool pm_optimizer_enter_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline);

/* The game has destroyed a pipeline; any thread. */
void pm_optimizer_leave_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline);

/* Goes on with the contests that are due; on the job's thread. */
void pm_optimizer_go_on(struct pm_optimizer *optimizer);
