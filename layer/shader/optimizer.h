/*
 * The optimizer (optimize.h) as its parts share it: what it has, and what each of them does with a
 * variant.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/compiler.h"
#include "layer/shader/at_once.h"
#include "layer/shader/optimized.h"
#include "layer/shader/optimizer_calls.h"
#include "layer/shader/pipeline_cache.h"
#include "layer/shader/waiting.h"

struct pm_contests; /* contest.h */

struct pm_optimizer {
    struct pm_device *device;
    struct pm_optimizer_calls calls;
    struct pm_journal *journal; /* the instance's */
    struct pm_specialized_shaders *shaders;
    struct pm_contests *contests;                        /* NULL: none are held */
    struct pm_pipeline_cache *cache, *cache_of_contests; /* the second is not kept */
    struct pm_waiting waiting;
    struct pm_at_once at_once;
    _Atomic bool unsaved;         /* the journal and what is kept are to be brought to the disk */
    _Atomic bool contest_due;     /* something came of a contest */
    _Atomic bool contest_blocked; /* one waits for room */
    struct pm_optimized *retired; /* out of their contests, and held by recordings; the job's */
    _Atomic uint32_t retired_count, retired_looks; /* heartbeats with any */
    _Atomic bool retired_due;                      /* some may go */
    _Atomic bool due;      /* the job is to be queued: who wanted to was not to wait for it */
    _Atomic bool was_full; /* said once */
    struct pm_job job;     /* takes one waiting pipeline after another */
    void (*wake)(
        struct pm_optimizer *optimizer); /* has it look for what is to be done; any thread */
    pthread_mutex_t lock;
    /* guarded by lock: */
    bool queued;   /* the job is, or runs */
    bool stopping; /* it will not be any more */
    bool paused;   /* device->binds lacks PM_BINDS_PROVEN */
    bool watched;  /* and has PM_BINDS_WATCHED */
};

/* Takes room for a variant; false: there is none. And gives it back. */
bool pm_optimizer_reserve(struct pm_optimizer *optimizer, enum pm_room room);
void pm_optimizer_give_back(struct pm_optimizer *optimizer, enum pm_room room);
bool pm_optimizer_has_room(const struct pm_optimizer *optimizer, enum pm_room room);
/* It takes that room and leaves what it has; false: there is none. */
bool pm_optimizer_move(struct pm_optimized *optimized, enum pm_room room);

/* It is not used: it keeps what names it alive, but takes no room. */
void pm_optimizer_drop(struct pm_optimized *optimized);

/* Offers a variant for a trial, in the place where the pipeline's candidates of its kind are. */
void pm_optimizer_offer(struct pm_optimizer *optimizer, struct pm_optimized *optimized,
                        _Atomic(struct pm_candidate *) *place);
/* The trial's part of a variant that was built. */
struct pm_candidate
pm_optimizer_candidate(const struct pm_specialized_shader *shader, uint64_t handle,
                       const char *(*verdict)(struct pm_candidate *candidate, bool faster));
/* device->binds says what there is; under the lock. */
void pm_optimizer_set_binds(struct pm_optimizer *optimizer);
