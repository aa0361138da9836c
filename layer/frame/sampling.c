#include "layer/frame/sampling.h"

#include "base/clock.h"
#include "layer/core/session.h"
#include "layer/core/trace.h"
#include "layer/frame/command.h"
#include "layer/frame/queue.h"
#include "layer/shader/pipeline.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Nanoseconds without a present until submissions are the heartbeats again: more than the slowest
 * frame takes, and than most loading screens do. */
#define PRESENTS_GONE (10 * PM_SECOND)

/* Calls that are looked at for each that is chosen, while a shader is owed some: of its pipelines
 * that have a variant so many more can be sampled. Each is some dozens of instructions more: a draw
 * at p = 0.01 is to take no more than 60 all in all (docs/results/cost.md). */
#define MOST_TIMES 6.0

/* Outside windows: how many begins of buffers that may repeat until one of them is sampled. Under
 * the lock. */
static void draw_begins(struct pm_sampling *sampling)
{
    uint64_t count = pm_geometric(&sampling->random, sampling->share);
    atomic_store(&sampling->begins, count > INT64_MAX ? INT64_MAX : (int64_t)count);
}

static const char *const newer_draws[PM_NEWER_DRAW_COUNT] = {
    [PM_DRAW_INDIRECT2] = "vkCmdDrawIndirect2KHR",
    [PM_DRAW_INDEXED_INDIRECT2] = "vkCmdDrawIndexedIndirect2KHR",
    [PM_DRAW_INDIRECT_COUNT2] = "vkCmdDrawIndirectCount2KHR",
    [PM_DRAW_INDEXED_INDIRECT_COUNT2] = "vkCmdDrawIndexedIndirectCount2KHR",
    [PM_DRAW_INDIRECT_BYTE_COUNT2] = "vkCmdDrawIndirectByteCount2EXT",
    [PM_DRAW_MESH_TASKS_INDIRECT2] = "vkCmdDrawMeshTasksIndirect2EXT",
    [PM_DRAW_MESH_TASKS_INDIRECT_COUNT2] = "vkCmdDrawMeshTasksIndirectCount2EXT",
    [PM_DISPATCH_INDIRECT2] = "vkCmdDispatchIndirect2KHR",
};

struct pm_sampling *pm_sampling_create(struct pm_device *device,
                                       void (*arm)(struct pm_device *device, bool armed))
{
    struct pm_sampling *sampling = aligned_alloc(PM_CACHE_LINE, sizeof *sampling);
    if (sampling == NULL)
        return NULL;
    memset(sampling, 0, sizeof *sampling);
    const struct pm_config *config = &device->instance->config;
    sampling->device = device;
    sampling->arm = arm;
    sampling->probability = config->sampler.api_probability;
    sampling->most_times = sampling->probability * MOST_TIMES < 1 ? MOST_TIMES
                           : sampling->probability > 0            ? 1 / sampling->probability
                                                                  : 1;
    sampling->checkpoint_heartbeats =
        config->debug.checkpoint_heartbeats > 0 ? config->debug.checkpoint_heartbeats : 64;
    double in_windows = config->sampler.window_frames * config->sampler.window_probability;
    sampling->share = config->sampler.window_probability >= 1 ? 1 : in_windows / (in_windows + 1);
    pthread_mutex_init(&sampling->lock, NULL);
    const uint64_t seed = pm_session_seed(device->instance);
    pm_random_init(&sampling->random, seed);
    sampling->coins = pm_random_mix(seed + 2);
    /* Who has every call sampled wants that, and who has none sampled, the other. */
    const bool samples = (config->sampler.kinds & ~(uint32_t)PM_KIND_BIT_TIMING) != 0;
    sampling->always = samples && sampling->share >= 1 && sampling->probability >= 1;
    sampling->times_kept = !samples || (!sampling->always && (pm_random_mix(seed + 1) & 1) != 0);
    pm_window_init(&sampling->window, config->sampler.window_probability,
                   config->sampler.window_frames, pm_random_next(&sampling->random));
    draw_begins(sampling);
    sampling->end_rendering2 =
        device->dispatch.GetDeviceProcAddr(device->handle, "vkCmdEndRendering2KHR");
    if (sampling->end_rendering2 == NULL)
        sampling->end_rendering2 =
            device->dispatch.GetDeviceProcAddr(device->handle, "vkCmdEndRendering2EXT");
    sampling->begin_feedback2 =
        device->dispatch.GetDeviceProcAddr(device->handle, "vkCmdBeginTransformFeedback2EXT");
    sampling->end_feedback2 =
        device->dispatch.GetDeviceProcAddr(device->handle, "vkCmdEndTransformFeedback2EXT");
    sampling->wait_for_present2 =
        device->dispatch.GetDeviceProcAddr(device->handle, "vkWaitForPresent2KHR");
    for (int i = 0; i < PM_NEWER_DRAW_COUNT; i++)
        sampling->newer_draws[i] =
            device->dispatch.GetDeviceProcAddr(device->handle, newer_draws[i]);
    pm_cpu_watch_init(&sampling->watch, device);
    atomic_init(&sampling->open, sampling->window.open);
    atomic_init(&sampling->windows, sampling->window.open);
    if (sampling->window.open)
        pm_binds_set(device, PM_BINDS_ARMED, PM_BINDS_ARMED);
    atomic_init(&sampling->checkpoint_at, pm_now());
    sampling->changed_at = pm_now();
    if (sampling->window.open)
        pm_trace_begin(device->trace, "windows", "window", NULL);
    pm_scenes_init(&sampling->scenes, device->instance->config.game_scene,
                   device->instance->config.game_scene_labels, device->instance->log);
    pm_lookup_init_of_pointers(&sampling->commands);
    pm_lookup_init(&sampling->pools);
    pm_lookup_init(&sampling->queries);
    pm_lookup_init(&sampling->execution_sets);
    pm_lookup_init(&sampling->queues);
    return sampling;
}

static void free_value(void *user, void *value)
{
    (void)user;
    free(value);
}

void pm_sampling_destroy(struct pm_sampling *sampling)
{
    if (sampling == NULL)
        return;
    if (sampling->window.open)
        pm_trace_end(sampling->device->trace, "windows", NULL);
    pm_commands_destroy(sampling);
    pm_queues_destroy(sampling);
    pm_cpu_watch_finish(&sampling->watch);
    pm_scenes_finish(&sampling->scenes);
    pm_lookup_finish(&sampling->commands);
    pm_lookup_finish(&sampling->pools);
    pm_lookup_finish(&sampling->queries);
    pm_lookup_each(&sampling->execution_sets, free_value, NULL);
    pm_lookup_finish(&sampling->execution_sets);
    pm_lookup_finish(&sampling->queues);
    pthread_mutex_destroy(&sampling->lock);
    free(sampling);
}

/* Under the lock. */
static void set_armed(struct pm_sampling *sampling, bool armed)
{
    if (pm_binds_any(sampling->device, PM_BINDS_ARMED) != armed)
        sampling->arm(sampling->device, armed);
}

void pm_sampling_set_learned(struct pm_sampling *sampling)
{
    pthread_mutex_lock(&sampling->lock);
    atomic_store(&sampling->learned, true);
    sampling->arm(sampling->device, pm_binds_any(sampling->device, PM_BINDS_ARMED));
    pthread_mutex_unlock(&sampling->lock);
}

/* Whether something needs the hooks besides recordings under way. */
static bool stays_armed(const struct pm_sampling *sampling)
{
    return atomic_load(&sampling->open) || atomic_load(&sampling->in_passes) ||
           (pm_sampling_is_trying(sampling) && !pm_sampling_is_paused(sampling));
}

/* Takes the hooks away unless something still needs them. Under the lock. */
static void disarm(struct pm_sampling *sampling)
{
    if (atomic_load(&sampling->recording) == 0 && !stays_armed(sampling))
        set_armed(sampling, false);
}

/* Under the lock. */
static void raise_checkpoint(struct pm_sampling *sampling)
{
    sampling->since_checkpoint = 0;
    atomic_store(&sampling->checkpoint_at, pm_now());
    atomic_fetch_add(&sampling->checkpoint, 1);
}

/* With how long the window was, or the time outside of windows before it: what a window costs is in
 * the log (bench/cost/figure7.sh). Under the lock. */
static void say_window(struct pm_sampling *sampling, uint64_t heartbeat, const char *what)
{
    const int64_t now = pm_now();
    pm_log_debug(sampling->device->instance->log,
                 "heartbeat %" PRIu64 ": %s, after %" PRIu64 " heartbeats in %.3f ms", heartbeat,
                 what, heartbeat - sampling->changed_heartbeat,
                 (double)(now - sampling->changed_at) * 1e-6);
    sampling->changed_heartbeat = heartbeat;
    sampling->changed_at = now;
}

bool pm_sampling_counts_submissions(const struct pm_sampling *sampling, int64_t now)
{
    const int64_t presented = atomic_load_explicit(&sampling->presented, memory_order_relaxed);
    return presented == 0 || now - presented >= PRESENTS_GONE;
}

/* The window sees a heartbeat. Under the lock. */
static void beat(struct pm_sampling *sampling, uint64_t heartbeat)
{
    bool was_open = sampling->window.open;
    switch (pm_window_heartbeat(&sampling->window)) {
    case PM_WINDOW_OPENED:
        sampling->since_checkpoint = 0;
        set_armed(sampling, true);
        pm_cpu_watch_window(&sampling->watch, true);
        atomic_store(&sampling->open, true);
        atomic_fetch_add(&sampling->windows, 1);
        pm_trace_begin(sampling->device->trace, "windows", "window", NULL);
        say_window(sampling, heartbeat, "a profiling window opens");
        break;
    case PM_WINDOW_CLOSED:
        atomic_store(&sampling->open, false);
        pm_trace_end(sampling->device->trace, "windows", NULL);
        pm_cpu_watch_window(&sampling->watch, false);
        disarm(sampling);
        raise_checkpoint(sampling);
        say_window(sampling, heartbeat, "the profiling window closes");
        break;
    case PM_WINDOW_NONE:
        break;
    }
    if (was_open && ++sampling->since_checkpoint >= sampling->checkpoint_heartbeats)
        raise_checkpoint(sampling);
}

uint64_t pm_sampling_heartbeat(struct pm_sampling *sampling)
{
    if (atomic_load_explicit(&sampling->device->lost, memory_order_relaxed))
        return 0;
    const uint64_t heartbeat =
        atomic_fetch_add_explicit(&sampling->heartbeats, 1, memory_order_relaxed) + 1;
    if (pm_sampling_is_paused(sampling))
        atomic_fetch_add_explicit(&sampling->paused_heartbeats, 1, memory_order_relaxed);
    atomic_fetch_add(&sampling->due, 1);
    if (sampling->device->instance->config.debug.synchronous)
        pthread_mutex_lock(&sampling->lock); /* each frame sees its own */
    else if (pthread_mutex_trylock(&sampling->lock) != 0)
        return heartbeat;
    for (uint32_t due = atomic_exchange(&sampling->due, 0); due > 0; due--)
        beat(sampling, heartbeat);
    pthread_mutex_unlock(&sampling->lock);
    return heartbeat;
}

void pm_sampling_tick(struct pm_sampling *sampling)
{
    if (sampling->device->pipelines != NULL)
        atomic_store(&sampling->device->pipelines->keeps_nothing,
                     pm_sampling_keeps_nothing(sampling));
    if (pm_now() - atomic_load_explicit(&sampling->checkpoint_at, memory_order_relaxed) < PM_SECOND)
        return;
    pthread_mutex_lock(&sampling->lock);
    if (pm_now() - atomic_load(&sampling->checkpoint_at) >= PM_SECOND)
        raise_checkpoint(sampling);
    pthread_mutex_unlock(&sampling->lock);
}

bool pm_sampling_begin(struct pm_sampling *sampling, bool may_repeat)
{
    if (atomic_load_explicit(&sampling->device->lost, memory_order_relaxed) ||
        atomic_load_explicit(&sampling->watch.bound, memory_order_relaxed))
        return false;
    if (atomic_load(&sampling->open)) {
        /* The window may be closing just now. Whoever closes it looks at `recording` after clearing
         * `open`, and here `open` is looked at again after raising `recording`: one of the two sees
         * the other. */
        atomic_fetch_add(&sampling->recording, 1);
        if (atomic_load(&sampling->open))
            return true;
        pm_sampling_end(sampling);
        return false;
    }
    if (!may_repeat || sampling->share <= 0 || atomic_fetch_sub(&sampling->begins, 1) != 1)
        return false;
    pthread_mutex_lock(&sampling->lock);
    draw_begins(sampling);
    atomic_fetch_add(&sampling->recording, 1);
    set_armed(sampling, true);
    pthread_mutex_unlock(&sampling->lock);
    return true;
}

/* Pipelines that may be a small program's all, before it is known. */
enum { FEW_PIPELINES = 16 };

/* Heartbeats before which a program loads: one that does not present begins with submissions that
 * set it up. */
enum { FIRST_FRAMES = 16 };

/* Pipelines in one frame from which on the game loads again, if they and the rest of the frame have
 * taken so many nanoseconds since the first of them. One that is seen is over by then, however many
 * it makes: those that the driver has in a cache, and links of libraries, take microseconds. */
enum { LOADING_PIPELINES = 32 };
#define LOADING_TIME (PM_SECOND / 4)

static void begin_armed(struct pm_sampling *sampling)
{
    pthread_mutex_lock(&sampling->lock);
    atomic_fetch_add(&sampling->recording, 1);
    set_armed(sampling, true);
    pthread_mutex_unlock(&sampling->lock);
}

void pm_sampling_begin_put_off(struct pm_sampling *sampling)
{
    begin_armed(sampling);
}

bool pm_sampling_begin_kept(struct pm_sampling *sampling)
{
    if (atomic_load_explicit(&sampling->device->lost, memory_order_relaxed) ||
        atomic_load_explicit(&sampling->watch.bound, memory_order_relaxed) || sampling->share <= 0)
        return false;
    begin_armed(sampling);
    return true;
}

/* Whether every recording that the game keeps would be sampled. */
static bool samples_kept(const struct pm_sampling *sampling)
{
    return (sampling->device->predicates != NULL ? sampling->share > 0 : sampling->share >= 1) &&
           sampling->probability > 0 && !pm_sampling_keeps_nothing(sampling);
}

bool pm_sampling_times_kept(const struct pm_sampling *sampling)
{
    return sampling->times_kept || !samples_kept(sampling);
}

bool pm_sampling_never_times_kept(const struct pm_sampling *sampling)
{
    return sampling->always && !pm_sampling_times_kept(sampling);
}

double pm_sampling_chance_ahead(struct pm_sampling *sampling)
{
    if (pm_sampling_keeps_nothing(sampling) ||
        atomic_load_explicit(&sampling->watch.bound, memory_order_relaxed))
        return 0;
    if (atomic_load(&sampling->open))
        return 1;
    const bool keeps =
        atomic_load_explicit(&sampling->again, memory_order_relaxed) >= PM_KNOWN_RECORDINGS;
    if (sampling->device->predicates != NULL && sampling->share > 0 &&
        (keeps || atomic_fetch_add(&sampling->ahead, 1) < FEW_PIPELINES))
        return 1;
    return sampling->share;
}

bool pm_sampling_loads(struct pm_sampling *sampling, uint32_t made)
{
    const uint64_t heartbeat = atomic_load_explicit(&sampling->heartbeats, memory_order_relaxed);
    if (heartbeat < FIRST_FRAMES)
        return true;
    const int64_t now = pm_now();
    if (atomic_exchange_explicit(&sampling->made_at, heartbeat, memory_order_relaxed) !=
        heartbeat) {
        atomic_store_explicit(&sampling->made, 0, memory_order_relaxed);
        atomic_store_explicit(&sampling->made_since, now, memory_order_relaxed);
    }
    const uint64_t all =
        atomic_fetch_add_explicit(&sampling->made, made, memory_order_relaxed) + made;
    return all > LOADING_PIPELINES &&
           now - atomic_load_explicit(&sampling->made_since, memory_order_relaxed) >= LOADING_TIME;
}

bool pm_sampling_begin_timed(struct pm_sampling *sampling)
{
    if (atomic_load_explicit(&sampling->device->lost, memory_order_relaxed) ||
        atomic_load_explicit(&sampling->watch.bound, memory_order_relaxed))
        return false;
    /* As in pm_sampling_begin: whoever disarms looks at `recording` after changing `trials` or
     * `paused`. */
    atomic_fetch_add(&sampling->recording, 1);
    if (atomic_load(&sampling->trials) != 0 && !atomic_load(&sampling->paused))
        return true;
    pm_sampling_end(sampling);
    return false;
}

/* Under the lock. */
static void arm_for_trials(struct pm_sampling *sampling)
{
    if (stays_armed(sampling))
        set_armed(sampling, true);
    else
        disarm(sampling);
}

void pm_sampling_try(struct pm_sampling *sampling, int change)
{
    pthread_mutex_lock(&sampling->lock);
    if (atomic_load(&sampling->trials) == 0)
        atomic_fetch_add(&sampling->awaited, 1);
    atomic_fetch_add(&sampling->trials, (uint32_t)change);
    arm_for_trials(sampling);
    pthread_mutex_unlock(&sampling->lock);
}

void pm_sampling_pause_trials(struct pm_sampling *sampling, bool paused)
{
    pthread_mutex_lock(&sampling->lock);
    atomic_store(&sampling->paused, paused);
    arm_for_trials(sampling);
    pthread_mutex_unlock(&sampling->lock);
}

void pm_sampling_run_in_passes(struct pm_sampling *sampling)
{
    if (atomic_load(&sampling->in_passes))
        return;
    pthread_mutex_lock(&sampling->lock);
    atomic_store(&sampling->in_passes, true);
    set_armed(sampling, true);
    pthread_mutex_unlock(&sampling->lock);
}

void pm_sampling_end(struct pm_sampling *sampling)
{
    if (atomic_fetch_sub(&sampling->recording, 1) != 1 || stays_armed(sampling))
        return;
    pthread_mutex_lock(&sampling->lock);
    disarm(sampling);
    pthread_mutex_unlock(&sampling->lock);
}

void pm_sampling_let_go(struct pm_sampling *sampling)
{
    if (atomic_fetch_sub(&sampling->holding, 1) != 1 ||
        pm_binds_any(sampling->device, PM_BINDS_ARMED))
        return;
    pthread_mutex_lock(&sampling->lock);
    sampling->arm(sampling->device, pm_binds_any(sampling->device, PM_BINDS_ARMED));
    pthread_mutex_unlock(&sampling->lock);
}

uint64_t pm_sampling_seed(struct pm_sampling *sampling)
{
    pthread_mutex_lock(&sampling->lock);
    uint64_t seed = pm_random_next(&sampling->random);
    pthread_mutex_unlock(&sampling->lock);
    return seed;
}
