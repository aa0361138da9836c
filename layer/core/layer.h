/*
 * The layer's own structures: instances, devices, queues, and what crosses its files. Nothing here
 * is public; the library exports one symbol (HAZARDS 19).
 *
 * Handles are not wrapped (HAZARDS 15). Everything the layer knows of a dispatchable handle is
 * found by its dispatch key, everything else by tables in struct pm_device. An unknown handle is
 * passed on.
 *
 * Locking: `struct pm_device` says for each part which lock guards it. Locks are taken in the
 * order: device objects, pipeline, trials, compile queue, timing, readback, counters, window,
 * registry. A draw waits for none.
 */
#pragma once

#include "base/config.h"
#include "base/log.h"
#include "dispatch.h" /* generated: struct pm_instance_dispatch, struct pm_device_dispatch */
#include "layer/core/hang_watch.h"
#include "layer/core/left_out.h"
#include "layer/core/messages.h"
#include "profile/packed_database.h"
#include "profile/profile.h"
#include "profile/races.h"
#include "profile/signed_verdicts.h"
#include "shader_rewrite/ir/target.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

/* Non-dispatchable handles as 64-bit values, as VkDebugUtilsObjectNameInfoEXT has them. */
#if VK_USE_64_BIT_PTR_DEFINES == 1
#define PM_BITS(handle) ((uint64_t)(uintptr_t)(handle))
#define PM_TO_HANDLE(type, bits) ((type)(uintptr_t)(bits))
#else
#define PM_BITS(handle) ((uint64_t)(handle))
#define PM_TO_HANDLE(type, bits) ((type)(bits))
#endif

#define PM_QUEUES 32 /* that are sampled on, of a device; more are left alone */

/* Bytes that two threads should not share when one of them writes. */
#define PM_CACHE_LINE 64

#define PM_LAYER_NAME "VK_LAYER_PIECEMEAL_cooperative_pgo"

struct pm_counters;       /* counters.h: the device memory that shaders count in */
struct pm_predicates;     /* predicates.h: words that say which of two calls runs */
struct pm_scratch_memory; /* scratch_memory.h: values between the passes of a shader */
struct pm_compiler;       /* compiler.h: background threads */
struct pm_readback;       /* readback.h: counters to host memory */
struct pm_poller;         /* poller.h: from there to the spool */
struct pm_spool_writer;
struct pm_objects;   /* object.h: shader modules, layouts, render passes by handle and by content */
struct pm_pipelines; /* pipeline.h: pipelines by handle */
struct pm_sampling;  /* sampling.h: window state, command buffers, queues */
struct pm_optimizer; /* optimize.h: specialized variants */
struct pm_slow_later; /* slow_later.h: those that turn slow */
struct pm_standing;   /* standing.h: what stands for pipelines, by handle */
struct pm_standing_table;
struct pm_journal;        /* profile/journal.h */
struct pm_verdicts;       /* profile/verdicts.h */
struct pm_values_store;   /* profile/values_store.h */
struct pm_timing;         /* timing.h: timestamps */
struct pm_additive;       /* additive.h: whether single draws can be timed */
struct pm_trials;         /* trial.h: specialized variants that are tried */
struct pm_session_trials; /* sessions.h: the same over sessions */
struct pm_state;          /* hooks/state.h: what is told to people */
struct pm_ab;             /* ab.h: original and specialized in turn */
struct pm_trace;          /* trace.h: what happens, for a trace */

struct pm_instance {
    VkInstance handle;
    struct pm_instance_dispatch dispatch;
    uint32_t game_api_version; /* what the game asked for, at least 1.0 */
    uint32_t api_version; /* what the instance was made with: the game's, or 1.2 (instance.c) */
    bool debug_utils;     /* VK_EXT_debug_utils is enabled: the log goes to its messengers too */
    struct pm_messages messages; /* that wait for them */
    struct pm_said said;         /* of what is left alone */
    bool passive;                /* deny list, bad config: pass everything through */
    char *game;                  /* identity (DESIGN, Identity of a game) */
    struct pm_config config;
    struct pm_log *log;
    _Atomic(struct pm_packed_database *)
        database; /* the cached PGO database, from the first device on, or since it was packed
                     (hooks/database.h); NULL when there is none; read-only */
    _Atomic bool database_due;                 /* it is still to be packed */
    struct pm_signed_verdicts signed_verdicts; /* likewise; of nothing when there are none */
    struct pm_arena *signed_arena;             /* their memory; NULL */
    struct pm_races races;                     /* of variants; likewise */
    struct pm_arena *races_arena;              /* likewise */
    pthread_mutex_t spool_lock;
    struct pm_spool_writer
        *spool;        /* under spool_lock; NULL until the first checkpoint, and after a failure */
    bool spool_failed; /* under spool_lock: said once, then given up */
    bool spool_full;   /* under spool_lock: said once, until there is room again */
    pthread_mutex_t journal_lock;
    struct pm_journal *journal;     /* under journal_lock until it is opened (pm_session_journal) */
    struct pm_verdicts *verdicts;   /* likewise (pm_session_verdicts) */
    struct pm_values_store *values; /* likewise (pm_session_values) */
    bool journal_tried, verdicts_tried, values_tried, database_tried; /* under journal_lock */
    bool database_packs;         /* likewise: a device's thread is at it */
    _Atomic uint32_t references; /* the game's handle and each device */
};

/* What the device was found or made able to do. */
struct pm_device_abilities {
    bool sample; /* everything that sampling needs is there; else `why_not` says what is missing */
    const char *why_not;
    bool int64_atomics; /* shaderInt64 and shaderBufferInt64Atomics */
    bool memory_model_device_scope;
    bool timeline_semaphore;
    bool host_query_reset;
    bool cache_control;         /* pipelineCreationCacheControl */
    bool robust_buffers;        /* robustBufferAccess, as the game wants it */
    bool conditional_rendering; /* VK_EXT_conditional_rendering is ours alone: we enabled it */
    bool queries_see_shaders;   /* the game may make pools of pipeline statistics or performance */
    bool full_subgroup_fragment, full_subgroup_compute; /* basic and ballot in that stage */
    bool subgroup_vote, subgroup_quad;  /* in the stages that have the above; quad operations are
                                           for fragment and compute on every device that has them */
    bool subgroup_arithmetic;           /* likewise */
    uint32_t subgroup_size, most_lanes; /* unless asked for otherwise; of any subgroup ever */
    uint32_t least_subgroup_size, most_subgroup_size; /* that compute pipelines may require; 0: none
                                                         may, or there is but one */
    uint32_t most_subgroups;                          /* in a workgroup of these */
    uint32_t driver_id;                               /* VkDriverId; 0: the driver does not say */
    char driver_info[VK_MAX_DRIVER_INFO_SIZE];
    struct pm_target target;
};

/* What a bind looks the pipeline or the recording up for, in one word. The hook of binds goes by a
 * pointer that follows it (hooks/registry.h). */
enum pm_binds {
    /* optimize.h */
    PM_BINDS_PROVEN = 1,  /* its proven variant takes its place */
    PM_BINDS_NOTICED = 2, /* it may want one, and how often it is bound says how much */
    PM_BINDS_STAND = PM_BINDS_PROVEN | PM_BINDS_NOTICED, /* what stands is all that it binds */
    PM_BINDS_WATCHED = 4, /* there are variants for values of push constants: every recording is
                             tracked for them */
    PM_BINDS_OF_VARIANTS = PM_BINDS_PROVEN | PM_BINDS_NOTICED | PM_BINDS_WATCHED,
    /* frame/sampling.h */
    PM_BINDS_ARMED = 8,    /* draws go through the armed hooks */
    PM_BINDS_CAREFUL = 16, /* there may be queries that see what is bound, or protected command
                              buffers: every recording is tracked for them */
};

/* What was seen of the values of words, on its way (counts/constant_source.h). */
struct pm_constants_due {
    _Atomic bool any;            /* something was seen since it was taken last */
    _Atomic bool due, ends;      /* it is to be taken; for the last time */
    _Atomic uint64_t checkpoint; /* that it was taken at */
    _Atomic int64_t saved_at;    /* CLOCK_MONOTONIC, nanoseconds; 0: never */
};

struct pm_device {
    VkDevice handle;
    VkPhysicalDevice physical;
    struct pm_instance *instance; /* referenced */
    pid_t process; /* that created it: in a forked child nothing of ours runs (HAZARDS 19) */
    struct pm_device_dispatch dispatch;
    PFN_vkSetDeviceLoaderData set_loader_data; /* for dispatchable objects the layer makes itself */
    struct pm_device_abilities abilities;
    uint32_t *queue_families; /* those it was created with queues of; owned */
    uint32_t queue_family_count;
    uint64_t lone_families; /* by bit: those of which it has one queue; the first 64 */
    bool has_other_queues;  /* it may have such that nothing is sampled on: protected ones, and more
                               than PM_QUEUES */
    uint32_t compute_queues;              /* queues that can compute */
    uint32_t clear_family;                /* one that can transfer and has an unprotected queue */
    VkDeviceQueueCreateFlags clear_flags; /* with which that was created */
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceMemoryProperties memory;
    struct pm_objects *objects; /* this and the next are NULL when abilities.sample is false */
    struct pm_pipelines *pipelines;
    struct pm_counters *counters;
    struct pm_predicates *predicates;  /* NULL: no call is recorded twice */
    struct pm_scratch_memory *scratch; /* NULL: no shader runs in several passes */
    struct pm_compiler *compiler;
    struct pm_poller *poller;
    struct pm_readback *readback;
    struct pm_sampling *sampling;
    struct pm_optimizer *optimizer;             /* NULL: nothing is to be optimized */
    struct pm_slow_later *slow_later;           /* NULL: no variant turns slow */
    _Atomic uint32_t binds;                     /* bits of enum pm_binds; pm_registry_set_binds,
                                                   before anybody binds pm_binds_set */
    _Atomic(struct pm_standing_table *) stands; /* what binds read, next to `binds` */
    struct pm_standing *standing;               /* whose it is */
    _Atomic uint64_t watched; /* words of push constants that variants were made for, as bits
                                 (shader/watch.h); none is ever taken back */
    struct pm_constants_due constants;
    struct pm_timing *timing;           /* NULL: nothing can be timed, or is to be */
    struct pm_trials *trials;           /* likewise */
    struct pm_additive *additive;       /* likewise */
    struct pm_session_trials *sessions; /* likewise */
    struct pm_ab *ab;                   /* NULL: nothing is compared */
    struct pm_state *state;             /* NULL: it is told nowhere */
    struct pm_trace *trace;             /* NULL: no trace is wanted */
    struct pm_hang_watch hang_watch;    /* kept up to date while there is an optimizer */
    int64_t database_at; /* its poller's: pm_now() from which on it packs the instance's database;
                            0: it awaits none */
    _Atomic bool lost;   /* VK_ERROR_DEVICE_LOST was seen: everything passes through from now on */
};

/* Whether any of the bits are set. */
static inline bool pm_binds_any(const struct pm_device *device, uint32_t bits)
{
    return (atomic_load_explicit(&device->binds, memory_order_relaxed) & bits) != 0;
}

/* Those of `of` become what `bits` says; the others stay. */
static inline void pm_binds_set(struct pm_device *device, uint32_t of, uint32_t bits)
{
    if (bits != 0)
        atomic_fetch_or(&device->binds, bits);
    if (bits != of)
        atomic_fetch_and(&device->binds, ~of | bits);
}
