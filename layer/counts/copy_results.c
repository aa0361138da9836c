/* The host's side of a readback: polls the copies, takes differences, appends piecemeal profiles to
 * the spool. */
#include "layer/counts/readback_private.h"

#include "aggregator_client/disk/spool.h"
#include "base/random.h"
#include "layer/core/device_lost.h"
#include "layer/core/thread.h"
#include "layer/frame/scene.h"
#include "layer/memory/counters.h"
#include "layer/trial/additive.h"
#include "layer/trial/trial.h"
#include <stdlib.h>
#include <time.h>

#define POLL_SHORTEST 1000000L /* nanoseconds */
#define POLL_LONGEST 20000000L
#define NICENESS 10
#define STACK_BYTES (1u << 20)

/* What a batch of finished copies gave. */
struct batch {
    struct pm_profile_merge *merges[PM_SCENE_NUMBERS]; /* by scene; NULL: nothing was counted */
    struct pm_variant **releases; /* references to give back once the lock is not held */
    size_t release_count, release_capacity;
};

static void release_later(struct batch *batch, struct pm_variant *variant)
{
    if (batch->release_count == batch->release_capacity) {
        size_t capacity = batch->release_capacity > 0 ? batch->release_capacity * 2 : 64;
        struct pm_variant **releases = realloc(batch->releases, capacity * sizeof *releases);
        if (releases == NULL)
            return; /* out of memory: the variant stays, which is safe */
        batch->releases = releases;
        batch->release_capacity = capacity;
    }
    batch->releases[batch->release_count++] = variant;
}

/* How much each counter of the variant grew since it was last read, summed over its slots, into
 * totals. */
static void take_differences(const struct pm_copy *copy, const struct pm_copy_entry *entry,
                             uint64_t *totals, uint32_t count)
{
    const struct pm_variant *variant = entry->variant;
    struct pm_counters *counters = variant->device->counters;
    for (uint32_t i = 0; i < count; i++)
        totals[i] = 0;
    for (uint32_t slot = 0; slot < variant->slot_count; slot++) {
        uint64_t first = (uint64_t)slot * variant->slot_stride;
        uint64_t *seen = pm_counters_seen(counters, variant->block.offset + first * 8);
        /* Two 32-bit words, low first, are a 64-bit one on the little-endian hosts that Vulkan runs
         * on. */
        const uint64_t *found = (const uint64_t *)(const void *)(copy->map + entry->offset) + first;
        for (uint32_t i = 0; i < count; i++) {
            totals[i] += found[i] - seen[i];
            seen[i] = found[i];
        }
    }
}

static bool add_counts(struct batch *batch, const struct pm_copy *copy,
                       const struct pm_copy_entry *entry, struct pm_error *error)
{
    const struct pm_variant *variant = entry->variant;
    uint32_t count = 2 + PM_COUNTS * variant->point_count;
    uint64_t *totals = calloc(count, sizeof *totals);
    struct pm_point_counts *points = calloc(variant->point_count + 1, sizeof *points);
    bool ok = totals != NULL && points != NULL;
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile");
    if (ok) {
        take_differences(copy, entry, totals, count);
        for (uint32_t i = 0; i < variant->point_count; i++) {
            points[i].point = variant->points[i];
            points[i].calls = entry->calls < UINT32_MAX ? (uint32_t)entry->calls : UINT32_MAX;
            points[i].entry_lanes = totals[0];
            points[i].entry_subgroups = totals[1];
            for (uint32_t j = 0; j < PM_COUNTS; j++)
                points[i].counts[j] = totals[2 + PM_COUNTS * i + j];
        }
        const struct pm_shader_profile shader = {
            .key = variant->key,
            .environment = variant->environment,
            .kind = variant->kind,
            .flags = variant->flags,
            .space = variant->space,
            .at_most_once = variant->at_most_once,
            .points = points,
            .point_count = variant->point_count,
        };
        struct pm_profile_merge **merge = &batch->merges[entry->scene];
        const struct pm_profile profile = {.game = "",
                                           .scene = "",
                                           .layer_version = PM_VERSION,
                                           .shaders = &shader,
                                           .shader_count = 1};
        if (*merge == NULL)
            *merge = pm_profile_merge_create();
        if (*merge == NULL)
            ok = pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile");
        else if (variant->point_count > 0)
            ok = pm_profile_merge_add(*merge, &profile, error);
    }
    free(totals);
    free(points);
    return ok;
}

/* An entry whose copy is through; under the lock. */
static void finish_entry(struct pm_readback *readback, struct batch *batch, struct pm_copy *copy,
                         struct pm_copy_entry *entry, bool usable)
{
    struct pm_variant *variant = entry->variant;
    struct pm_queue *queue = copy->queue;
    /* Whether no other queue can have been counting while the copy was made. */
    bool alone =
        entry->switches == variant->switches && !pm_readback_used_elsewhere(queue, variant);
    if (--variant->copies[queue->index] == 0)
        variant->copied_on &= ~queue->bit;
    struct pm_error error = {0};
    if (usable && entry->data && alone) {
        if (!add_counts(batch, copy, entry, &error))
            pm_log_warning(readback->device->instance->log, "counters were not kept: %s",
                           error.message);
    } else if (usable) {
        variant->calls += entry->calls;
        variant->scene = pm_scene_join(variant->scene, entry->scene);
        /* Nobody else is going to read it, so this queue must. The reference moves back. */
        if ((variant->dirty_on & queue->bit) == 0 && !pm_readback_used_elsewhere(queue, variant) &&
            pm_readback_mark(queue, variant))
            return;
    }
    release_later(batch, variant);
}

/* Whether a copy is through. VK_ERROR_DEVICE_LOST and the like count: nothing more will come. */
static bool is_done(const struct pm_readback *readback, const struct pm_copy *copy, bool *usable)
{
    struct pm_device *device = readback->device;
    VkResult result;
    if (copy->queue->timeline != VK_NULL_HANDLE) {
        uint64_t value = 0;
        result = device->dispatch.GetSemaphoreCounterValue(device->handle, copy->queue->timeline,
                                                           &value);
        if (result == VK_SUCCESS && value < copy->value)
            result = VK_NOT_READY;
    } else {
        result = device->dispatch.GetFenceStatus(device->handle, copy->fence);
    }
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    *usable = result == VK_SUCCESS;
    return result != VK_NOT_READY || readback->given_up;
}

/* Takes every copy that is through, of any queue; under the lock. */
static bool take_finished(struct pm_readback *readback, struct batch *batch)
{
    bool any = false;
    struct pm_copy *previous = NULL;
    uint32_t behind =
        0; /* queues with an earlier copy that is not through: the differences need the order */
    for (struct pm_copy *copy = readback->first, *next; copy != NULL; copy = next) {
        next = copy->next;
        bool usable;
        if ((behind & copy->queue->bit) != 0 || !is_done(readback, copy, &usable)) {
            behind |= copy->queue->bit;
            previous = copy;
            continue;
        }
        any = true;
        for (uint32_t i = 0; i < copy->entry_count; i++)
            finish_entry(readback, batch, copy, &copy->entries[i], usable);
        if (usable && copy->fence != VK_NULL_HANDLE)
            readback->device->dispatch.ResetFences(readback->device->handle, 1, &copy->fence);
        /* A copy that was given up may still be running: its command buffer is not used again. */
        copy->under_way = !usable;
        if (previous != NULL)
            previous->next = next;
        else
            readback->first = next;
        if (readback->last == copy)
            readback->last = previous;
    }
    return any;
}

static bool open_spool(struct pm_instance *instance, struct pm_error *error)
{
    if (instance->spool == NULL) {
        instance->spool =
            pm_spool_writer_create(NULL, (uint64_t)instance->config.limits.spool_mib << 20, error);
        /* A later sync does not know this process's environment. */
        if (instance->spool != NULL && instance->config.consent_withheld)
            pm_spool_writer_withhold(instance->spool);
    }
    return instance->spool != NULL;
}

static void write_profile(struct pm_instance *instance, const char *scene,
                          struct pm_profile_merge *merge)
{
    struct pm_error error = {0};
    struct pm_profile profile = {
        .game = instance->game,
        .scene = scene,
        .layer_version = PM_VERSION,
    };
    profile.shaders = pm_profile_merge_shaders(merge, &profile.shader_count);
    pthread_mutex_lock(&instance->spool_lock);
    bool was_full = instance->spool_full;
    if (profile.shader_count > 0 && !instance->spool_failed) {
        if (!pm_random_system(profile.upload_id, sizeof profile.upload_id))
            pm_fail(&error, PM_ERROR_IO, "the system gives no random numbers");
        else if (open_spool(instance, &error) && pm_spool_append(instance->spool, &profile, &error))
            pm_log_debug(instance->log, "wrote a checkpoint of %zu shaders", profile.shader_count);
        /* A full spool may drain, and counts that cannot be are this checkpoint's alone; anything
         * else will not get better within this session. */
        instance->spool_failed =
            error.code != PM_OK && error.code != PM_ERROR_LIMIT && error.code != PM_ERROR_INPUT;
        instance->spool_full = error.code == PM_ERROR_LIMIT;
    }
    pthread_mutex_unlock(&instance->spool_lock);
    if (error.code != PM_OK && !(was_full && error.code == PM_ERROR_LIMIT))
        pm_log_warning(instance->log, "a checkpoint was not written: %s", error.message);
}

static void finish_batch(struct pm_readback *readback, struct batch *batch)
{
    const struct pm_device *device = readback->device;
    for (uint32_t i = 0; i < PM_SCENE_NUMBERS; i++) {
        if (batch->merges[i] != NULL)
            write_profile(device->instance, pm_scenes_name(&device->sampling->scenes, i),
                          batch->merges[i]);
        pm_profile_merge_destroy(batch->merges[i]);
    }
    for (size_t i = 0; i < batch->release_count; i++)
        pm_variant_release(batch->releases[i]);
    free(batch->releases);
}

/* Whether the device will have times to be polled for. */
static bool is_timing(const struct pm_device *device)
{
    return pm_timing_is_waiting(device->timing) || pm_additive_is_waiting(device->additive);
}

/* What trials made of the timings that are there, to be written with the counters. A trial takes
 * calls of any scene. */
static void take_timings(struct pm_readback *readback, struct batch *batch)
{
    struct pm_device *device = readback->device;
    if (pm_additive_is_waiting(device->additive))
        pm_additive_poll(device->additive);
    if (!pm_timing_is_waiting(device->timing))
        return;
    pm_timing_poll(device->timing, pm_trials_take, device->trials);
    pm_trials_report(device->trials, &batch->merges[PM_SCENE_STANDARD]);
}

static void *run_writer(void *user)
{
    struct pm_readback *readback = user;
    pm_thread_lower(NICENESS);
    long interval = POLL_SHORTEST;
    pthread_mutex_lock(&readback->lock);
    while (!readback->stopping || readback->first != NULL) {
        if (readback->first == NULL && !is_timing(readback->device)) {
            pthread_cond_wait(&readback->work, &readback->lock);
            interval = POLL_SHORTEST;
            continue;
        }
        struct batch batch = {0};
        const bool any = take_finished(readback, &batch);
        pthread_mutex_unlock(&readback->lock);
        take_timings(readback, &batch);
        finish_batch(readback, &batch);
        if (!any) {
            nanosleep(&(struct timespec){0, interval}, NULL);
            interval = interval * 3 / 2 < POLL_LONGEST ? interval * 3 / 2 : POLL_LONGEST;
        } else {
            interval = POLL_SHORTEST;
        }
        pthread_mutex_lock(&readback->lock);
        if (any && readback->first == NULL)
            pthread_cond_broadcast(&readback->done);
    }
    pthread_mutex_unlock(&readback->lock);
    /* The device is idle: what was timed is there. */
    struct batch last = {0};
    if (!readback->given_up && !atomic_load(&readback->device->lost))
        take_timings(readback, &last);
    finish_batch(readback, &last);
    return NULL;
}

bool pm_writer_start(struct pm_readback *readback)
{
    if (readback->started)
        return true;
    readback->started =
        pm_thread_start(&readback->writer, STACK_BYTES, "piecemeal-write", run_writer, readback);
    return readback->started;
}
