/*
 * When the layer samples (DESIGN, A frame; HAZARDS 12): the window's state by heartbeats, which
 * command buffers are sampled, and whether draws take the armed hooks.
 *
 * A recording is sampled when it begins inside a window. One that is (or may be, since nothing is
 * known of it yet) submitted more than once as it is has its calls chosen for the submissions to
 * come (predicated.h); where the device cannot do that, one that begins outside is sampled with the
 * probability that a heartbeat lies in a window, so that buffers recorded before the first window
 * are profiled at the same overall rate. Every other buffer is left alone until it begins again.
 * The hooks are armed while a window is open or such a buffer is being recorded: a recording is
 * tracked from its begin to its end or not at all, so what it has bound is always known.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/cpu_watch.h"
#include "layer/core/layer.h"
#include "layer/core/lookup.h"
#include "layer/frame/scene.h"
#include "layer/shader/owed.h"
#include "sampler/sampler.h"

struct pm_queue;

/* Draws and the dispatch of VK_KHR_device_address_commands, which the headers do not have. */
enum pm_newer_draw {
    PM_DRAW_INDIRECT2,
    PM_DRAW_INDEXED_INDIRECT2,
    PM_DRAW_INDIRECT_COUNT2,
    PM_DRAW_INDEXED_INDIRECT_COUNT2,
    PM_DRAW_INDIRECT_BYTE_COUNT2,
    PM_DRAW_MESH_TASKS_INDIRECT2,
    PM_DRAW_MESH_TASKS_INDIRECT_COUNT2,
    PM_DISPATCH_INDIRECT2,
    PM_NEWER_DRAW_COUNT
};

struct pm_sampling {
    struct pm_device *device;
    /* device->binds has PM_BINDS_ARMED and PM_BINDS_CAREFUL of ours. arm: also when `learned`
     * changes, or whether anything is held. */
    void (*arm)(struct pm_device *device, bool armed);
    double probability; /* p of a draw or dispatch */
    double share;       /* of the heartbeats that lie in windows: W / (W + 1/q) */
    bool times_kept;    /* the session's lot (pm_sampling_times_kept) */
    bool always;        /* every call is sampled */
    double most_times;  /* how often calls are looked at for each that is chosen, while one is owed
                           (pm_sampling_times) */

    /* What every recording thread reads and next to nobody writes. */
    _Alignas(PM_CACHE_LINE) _Atomic bool open; /* a window is; set after arming */
    _Atomic int64_t presented; /* pm_now() of the latest present, or when a swapchain was made: for
                                  some seconds presents are the heartbeats; 0: never */
    _Atomic bool learned;      /* `anew` is as large as it gets, and nobody else counts
                                  recordings */
    _Atomic uint64_t owed_at;  /* pm_owed_when: when a shader was owed a call last (owed.h) */
    _Atomic uint32_t trials;   /* that are awaited (trial.h); changed under the lock */
    _Atomic uint32_t awaited;  /* times that they were, after none was; likewise */
    _Atomic bool paused;       /* nothing is tried, as somebody asked for; likewise */
    _Atomic bool in_passes;    /* dispatches may run in several passes (passes_run.h); likewise */
    _Atomic bool
        queries_see; /* the device had a pool whose queries a rebind could change, or one of
                        which that is not known; else none begins that need be looked at */
    struct pm_lookup commands; /* VkCommandBuffer to struct pm_command (command.h) */

    /* What the threads write as recordings begin and end. */
    _Alignas(PM_CACHE_LINE) _Atomic uint32_t recording; /* recordings under way that are sampled or
                                                           timed, and once more those in which
                                                           something is put off (put_off.h) */
    _Atomic uint32_t holding; /* recordings that hold variants or timings: what happens to their
                                 command buffers concerns us. None is the first of them but while
                                 the hooks are armed */
    _Atomic int64_t begins;   /* outside windows: begins until one is sampled */
    /* Whether the game keeps its recordings; PM_MOST_LEARNED at most, and one more for each thread
     * that counts as that is reached: each looks and then adds. */
    _Atomic uint32_t again; /* submissions of one that was submitted before */
    _Atomic uint32_t anew;  /* recordings that are for one submission, or were given up after it */
    _Atomic uint64_t submission; /* number of the latest recording that executes others */
    _Atomic uint32_t sure;       /* calls chosen for sure (predicated.h) */
    _Atomic uint64_t calls; /* draws and dispatches in recordings that were sampled, once these have
                               ended; in those that hold calls twice, of submissions in windows */
    _Atomic uint32_t twice; /* recordings that hold calls twice (predicated.h) */
    _Atomic uint64_t made;  /* pipelines, since the heartbeat made_at */
    _Atomic uint64_t made_at;
    _Atomic int64_t made_since; /* CLOCK_MONOTONIC, nanoseconds: of the first of them */
    _Atomic uint32_t ahead;     /* pipelines that something was made ahead for before it was known
                                   whether the game keeps its recordings */

    /* What frames change. */
    _Alignas(PM_CACHE_LINE) pthread_mutex_t lock; /* the window, random, arming, adding queues */
    struct pm_window window;
    _Atomic uint64_t windows; /* that were opened; read without the lock */
    struct pm_random random;
    _Atomic uint32_t due;               /* heartbeats that the window has not seen yet */
    uint32_t since_checkpoint;          /* heartbeats */
    uint64_t changed_heartbeat;         /* that opened or closed a window last; 0: none yet */
    int64_t changed_at;                 /* pm_now() then, or when the device was created */
    _Atomic uint64_t heartbeats;        /* since the device was created */
    uint64_t coins;                     /* for a lot of each heartbeat */
    _Atomic uint64_t paused_heartbeats; /* of them, while nothing was tried */
    uint32_t checkpoint_heartbeats;

    _Atomic uint64_t checkpoint;   /* raised whenever counters should be copied out */
    _Atomic int64_t checkpoint_at; /* CLOCK_MONOTONIC, nanoseconds: when it was raised last */

    /* The next layer's vkCmdEndRendering2KHR or its alias EXT, newer than the headers; or NULL. */
    PFN_vkVoidFunction end_rendering2;
    /* Likewise vkCmdBegin- and vkCmdEndTransformFeedback2EXT. */
    PFN_vkVoidFunction begin_feedback2, end_feedback2;
    PFN_vkVoidFunction wait_for_present2;                /* vkWaitForPresent2KHR */
    PFN_vkVoidFunction newer_draws[PM_NEWER_DRAW_COUNT]; /* likewise */
    struct pm_cpu_watch watch; /* whether the game is bound by its processor */

    struct pm_scenes scenes;

    struct pm_lookup pools; /* VkCommandPool to struct pm_command_pool (command.h) */
    struct pm_lookup
        queries; /* VkQueryPool to itself: pools whose queries a rebind cannot change */
    struct pm_lookup execution_sets; /* VkIndirectExecutionSetEXT to the VkPipeline that it was
                                        made with, on the heap; NULL there: shader objects */
    struct pm_lookup queues;         /* VkQueue to struct pm_queue (queue.h) */
    struct pm_queue *queue_list[PM_QUEUES];
    _Atomic uint32_t queue_count; /* raised after its entry is there */
};

/* NULL: out of memory. The window is open from here on when its probability is 1. arm: sets
 * PM_BINDS_ARMED and makes the device's draws take the armed hooks, or the shortest way again. */
struct pm_sampling *pm_sampling_create(struct pm_device *device,
                                       void (*arm)(struct pm_device *device, bool armed));
/* After the registry forgot the device, and the readback its queues. Drops every recording's
 * references. NULL is allowed. */
void pm_sampling_destroy(struct pm_sampling *sampling);

/* Whether submissions are the heartbeats: nothing was presented, or not for seconds, as by a window
 * that is not seen. */
bool pm_sampling_counts_submissions(const struct pm_sampling *sampling, int64_t now);

/* A heartbeat: a present, or a submission where those count. Its number, from 1 on; 0: the
 * device is lost, and nothing counts any more. Waits for nobody: where a thread of ours has the
 * lock, the window sees it with the next one. */
uint64_t pm_sampling_heartbeat(struct pm_sampling *sampling);

/* A command buffer begins. true: it is sampled, the hooks are armed and pm_sampling_end is owed.
 * may_repeat: it may be submitted more than once from this
 * recording, as far as anyone knows. */
bool pm_sampling_begin(struct pm_sampling *sampling, bool may_repeat);

/* The same for a recording whose calls are chosen for submissions to come (predicated.h), outside
 * windows too. */
bool pm_sampling_begin_kept(struct pm_sampling *sampling);

/* The period by which it is counted what shaders are owed. */
static inline uint64_t pm_sampling_when(const struct pm_sampling *sampling)
{
    return pm_owed_when(atomic_load_explicit(&sampling->windows, memory_order_relaxed),
                        atomic_load_explicit(&sampling->heartbeats, memory_order_relaxed));
}

/* A shader is owed a call, which there is something to count with. */
static inline void pm_sampling_owe(struct pm_sampling *sampling, uint64_t when)
{
    if (atomic_load_explicit(&sampling->owed_at, memory_order_relaxed) != when)
        atomic_store_explicit(&sampling->owed_at, when, memory_order_relaxed);
}

/* How many calls are looked at for each that is chosen, in what is recorded anew: 1 where no shader
 * is owed any. */
static inline double pm_sampling_times(const struct pm_sampling *sampling)
{
    const uint64_t owed_at = atomic_load_explicit(&sampling->owed_at, memory_order_relaxed);
    return owed_at != 0 && pm_owed_is_recent(owed_at, pm_sampling_when(sampling))
               ? sampling->most_times
               : 1;
}

/* Whether recordings that the game keeps are timed in this session where they could be both, and so
 * not sampled: all of them or none, by lot; none where every call is sampled, and all where none
 * is. Where they are sampled only if a window happens to be open they may be timed in any session.
 */
bool pm_sampling_times_kept(const struct pm_sampling *sampling);
/* Nor in any other that is configured as this one. */
bool pm_sampling_never_times_kept(const struct pm_sampling *sampling);

/* Whether what is submitted now is sampled. */
static inline bool pm_sampling_is_on(const struct pm_sampling *sampling)
{
    return atomic_load_explicit(&sampling->open, memory_order_relaxed) &&
           !atomic_load_explicit(&sampling->watch.bound, memory_order_relaxed) &&
           !atomic_load_explicit(&sampling->device->lost, memory_order_relaxed);
}

/* Sets `learned`, and says so. */
void pm_sampling_set_learned(struct pm_sampling *sampling);

/* One more of `again` or `anew`. Nobody writes for ever what all threads read. */
#define PM_MOST_LEARNED 1024
static inline void pm_sampling_learn(_Atomic uint32_t *count)
{
    if (atomic_load_explicit(count, memory_order_relaxed) < PM_MOST_LEARNED)
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

/* One more of `anew`. */
static inline void pm_sampling_learn_anew(struct pm_sampling *sampling)
{
    if (atomic_load_explicit(&sampling->learned, memory_order_relaxed))
        return;
    pm_sampling_learn(&sampling->anew);
    if (atomic_load_explicit(&sampling->anew, memory_order_relaxed) >= PM_MOST_LEARNED &&
        sampling->device->ab == NULL)
        pm_sampling_set_learned(sampling);
}

/* The same in few instructions, while it is not `learned`. false: this one is the last, and was not
 * counted. */
static inline bool pm_sampling_learn_one(struct pm_sampling *sampling)
{
    if (atomic_load_explicit(&sampling->anew, memory_order_relaxed) >= PM_MOST_LEARNED - 1)
        return false;
    atomic_fetch_add_explicit(&sampling->anew, 1, memory_order_relaxed);
    return true;
}

/* Recordings after which it is known whether a game keeps them, and the share that makes it so. */
enum { PM_KNOWN_RECORDINGS = 64, PM_KEPT_SHARE = 16 };

/* Whether it is known that the game records (nearly) everything anew. */
static inline bool pm_sampling_keeps_nothing(const struct pm_sampling *sampling)
{
    const uint32_t anew = atomic_load_explicit(&sampling->anew, memory_order_relaxed);
    const uint32_t again = atomic_load_explicit(&sampling->again, memory_order_relaxed);
    return anew >= PM_KNOWN_RECORDINGS && again < anew / PM_KEPT_SHARE;
}

/* Whether each execution of a secondary command buffer is looked at: until it is known for good
 * whether the game keeps recordings; later those are that are looked at for another reason. */
static inline bool pm_sampling_counts_executions(const struct pm_sampling *sampling)
{
    return !atomic_load_explicit(&sampling->learned, memory_order_relaxed) &&
           atomic_load_explicit(&sampling->again, memory_order_relaxed) < PM_MOST_LEARNED;
}

/* The chance that a new pipeline's calls are sampled from recordings that the game keeps: as for
 * those recordings (pm_sampling_begin), all of them where they can hold calls twice (predicated.h)
 * and the game keeps some or has only begun, and 0 where it records everything anew. */
double pm_sampling_chance_ahead(struct pm_sampling *sampling);

/* The game has made so many pipelines. Whether it loads, so that nobody sees how long that takes:
 * it has not drawn its first frames yet, or makes dozens in one that has lasted long already. */
bool pm_sampling_loads(struct pm_sampling *sampling, uint32_t made);

/* What is left of the calls that are chosen for sure (predicated.h), as a share. */
double pm_sampling_sure_left(const struct pm_sampling *sampling);

/* The same for a recording that is to be timed. */
bool pm_sampling_begin_timed(struct pm_sampling *sampling);

/* One more trial is awaited, or one fewer (change -1). While any is, the hooks stay armed, unless
 * trials are paused. */
void pm_sampling_try(struct pm_sampling *sampling, int change);

static inline bool pm_sampling_is_trying(const struct pm_sampling *sampling)
{
    return atomic_load_explicit(&sampling->trials, memory_order_relaxed) != 0;
}

/* Another number each time that trials are awaited, after none was. */
static inline uint32_t pm_sampling_awaited(const struct pm_sampling *sampling)
{
    return atomic_load_explicit(&sampling->awaited, memory_order_relaxed);
}

/* Nothing is tried from now on, or again; those that are awaited stay so. */
void pm_sampling_pause_trials(struct pm_sampling *sampling, bool paused);

static inline bool pm_sampling_is_paused(const struct pm_sampling *sampling)
{
    return atomic_load_explicit(&sampling->paused, memory_order_relaxed);
}

/* The heartbeat that trials go by: theirs stand still while they are paused. */
static inline uint64_t pm_sampling_trial_heartbeat(const struct pm_sampling *sampling)
{
    const uint64_t paused =
        atomic_load_explicit(&sampling->paused_heartbeats, memory_order_relaxed);
    return atomic_load_explicit(&sampling->heartbeats, memory_order_relaxed) - paused;
}

/* From now on the hooks stay armed, for dispatches that run in several passes. */
void pm_sampling_run_in_passes(struct pm_sampling *sampling);

/* Draws of a recording are to be looked at, whether it is sampled or timed or neither: the hooks
 * are armed from here on, and pm_sampling_end is owed. */
void pm_sampling_begin_put_off(struct pm_sampling *sampling);

/* A recording that is sampled or timed ended, one way or another; or nothing is put off in it any
 * more. */
void pm_sampling_end(struct pm_sampling *sampling);

/* A recording holds nothing any more (`holding`). Where it was the last, and the hooks are not
 * armed, resets of command buffers need not be looked at any more. */
void pm_sampling_let_go(struct pm_sampling *sampling);

/* A seed for a command buffer's own random sequence. */
uint64_t pm_sampling_seed(struct pm_sampling *sampling);

/* Raises the checkpoint when the last one is more than a second old, and tells the pipelines
 * whether the game keeps recordings. */
void pm_sampling_tick(struct pm_sampling *sampling);
