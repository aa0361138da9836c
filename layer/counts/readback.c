#include "layer/counts/readback.h"

#include "base/clock.h"
#include "layer/core/process_exit.h"
#include "layer/counts/count_state.h"
#include "layer/counts/poller.h"
#include "layer/counts/readback_private.h"
#include "layer/counts/report.h"
#include "layer/frame/command.h"
#include "layer/frame/scene.h"
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#define IDLE_AGAIN                                                                                 \
    INT64_C(250000000) /* nanoseconds between checkpoints that only an idle queue asks for */
#define CUT_AGAIN INT64_C(50000000) /* nanoseconds between checkpoints at the ends of scenes */
#define STOP_SECONDS 5              /* a GPU that has not finished by then is given up */
#define STOP_ROUNDS 8

static bool is_waiting(void *user)
{
    struct pm_readback *readback = user;
    return atomic_load(&readback->under_way) > 0;
}

static bool take(void *user, struct pm_report *report)
{
    return pm_readback_take(user, report);
}

struct pm_readback *pm_readback_create(struct pm_device *device)
{
    struct pm_readback *readback = calloc(1, sizeof *readback);
    if (readback == NULL)
        return NULL;
    readback->device = device;
    pthread_mutex_init(&readback->lock, NULL);
    pthread_cond_init(&readback->done, NULL);
    pm_poller_add(device->poller, &(struct pm_poll_source){readback, is_waiting, take});
    return readback;
}

void pm_readback_destroy(struct pm_readback *readback)
{
    if (readback == NULL)
        return;
    pthread_cond_destroy(&readback->done);
    pthread_mutex_destroy(&readback->lock);
    free(readback);
}

void pm_readback_submit(struct pm_queue *queue, const struct pm_command *command, bool executed,
                        int sign)
{
    const struct pm_use *uses = command->uses;
    struct pm_readback *readback = queue->device->readback;
    const int64_t time = pm_now();
    pthread_mutex_lock(&readback->lock);
    queue->used_at = time;
    for (uint32_t i = 0; i < command->use_count && !readback->stopped; i++) {
        struct pm_variant *variant = uses[i].variant;
        struct pm_variant_counts *counted = &variant->counted;
        const uint32_t calls = (executed ? 0 : uses[i].calls) + uses[i].picked;
        if (calls == 0)
            continue;
        if (sign < 0) {
            counted->calls -= counted->calls < calls ? counted->calls : calls;
            continue;
        }
        counted->calls += calls;
        counted->scene = pm_scene_join(counted->scene, queue->scene);
        if (pm_count_used(queue, variant))
            pm_log_debug(queue->device->instance->log,
                         "heartbeat %" PRIu64 ": first use of a variant",
                         atomic_load(&queue->device->sampling->heartbeats));
        if (pm_count_is_dirty(pm_count_state_of(queue, variant)))
            continue;
        pm_variant_reference(variant);
        /* Out of memory: the counters are read when a later submission marks it. The recording
         * still has a reference, so this release destroys nothing under the lock. */
        if (!pm_count_dirty(queue, variant))
            pm_variant_release(variant);
    }
    pthread_mutex_unlock(&readback->lock);
}

/* The submission was made: what its entries cover is no longer dirty here, but under way. */
static void take_entries(struct pm_readback *readback, struct pm_copy *copy)
{
    for (uint32_t i = 0; i < copy->entry_count; i++) {
        struct pm_copy_entry *entry = &copy->entries[i];
        struct pm_variant_counts *counted = &entry->variant->counted;
        if (!entry->data)
            continue;
        entry->calls = counted->calls;
        counted->calls = 0;
        entry->scene = counted->scene;
        counted->scene = PM_SCENE_NONE;
    }
    pm_count_copied(copy->queue);
    copy->under_way = true;
    copy->next = NULL;
    if (readback->last != NULL)
        readback->last->next = copy;
    else
        readback->first = copy;
    readback->last = copy;
    atomic_fetch_add(&readback->under_way, 1);
    pm_poller_wake(readback->device->poller);
}

/* A checkpoint of the queue; under the lock. false: not now; everything is as it was. */
static bool checkpoint(struct pm_queue *queue)
{
    struct pm_device *device = queue->device;
    struct pm_copy *copy = !pm_process_is_exiting() ? pm_copy_prepare(queue) : NULL;
    if (copy == NULL || !pm_poller_start(device->poller) || !pm_copy_submit(copy))
        return false;
    take_entries(device->readback, copy);
    return true;
}

void pm_readback_follow(struct pm_queue *queue, bool idle)
{
    struct pm_device *device = queue->device;
    struct pm_readback *readback = device->readback;
    if (queue->dirty_count == 0 || atomic_load_explicit(&device->lost, memory_order_relaxed))
        return;
    pm_sampling_tick(device->sampling);
    uint64_t latest = atomic_load(&device->sampling->checkpoint);
    int64_t time = pm_now();
    pthread_mutex_lock(&readback->lock);
    bool due = queue->checkpoint != latest || (idle && time - queue->copied_at >= IDLE_AGAIN);
    /* In a forked child there is no writer, and the device is the parent's. */
    if (due && !readback->stopped && getpid() == device->process && checkpoint(queue)) {
        queue->checkpoint = latest;
        queue->copied_at = time;
    }
    pthread_mutex_unlock(&readback->lock);
}

void pm_readback_cut(struct pm_queue *queue)
{
    struct pm_device *device = queue->device;
    struct pm_readback *readback = device->readback;
    const int64_t time = pm_now();
    if (queue->dirty_count == 0 || atomic_load_explicit(&device->lost, memory_order_relaxed) ||
        time - queue->cut_at < CUT_AGAIN)
        return;
    pthread_mutex_lock(&readback->lock);
    if (!readback->stopped && getpid() == device->process && checkpoint(queue))
        queue->copied_at = queue->cut_at = time;
    pthread_mutex_unlock(&readback->lock);
}

/* Waits for the copies under way; under the lock. */
static void drain(struct pm_readback *readback)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += STOP_SECONDS;
    while (atomic_load(&readback->under_way) > 0 && !readback->given_up) {
        /* Any other error than that the time is up would only come again. */
        if (pthread_cond_timedwait(&readback->done, &readback->lock, &until) != 0)
            readback->given_up = true;
    }
}

void pm_readback_stop(struct pm_readback *readback)
{
    if (readback == NULL || readback->device->sampling == NULL ||
        getpid() != readback->device->process)
        return;
    struct pm_sampling *sampling = readback->device->sampling;
    pthread_mutex_lock(&readback->lock);
    drain(readback);
    /* A variant that several queues used is read once all but one of them are marked as done. */
    bool more = true;
    for (int round = 0; more && round < STOP_ROUNDS && !readback->given_up; round++) {
        more = false;
        for (uint32_t i = 0; i < sampling->queue_count; i++) {
            struct pm_queue *queue = sampling->queue_list[i];
            if (queue->dirty_count > 0 && !atomic_load(&readback->device->lost))
                more |= checkpoint(queue);
        }
        drain(readback);
    }
    readback->stopped = true;
    const bool given_up = readback->given_up;
    pthread_mutex_unlock(&readback->lock);
    pm_poller_stop(readback->device->poller, !given_up && !atomic_load(&readback->device->lost));
    /* What was given up is let go of. */
    struct pm_report report = {.device = readback->device};
    pm_readback_take(readback, &report);
    pm_report_write(&report);
}
