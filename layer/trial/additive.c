#include "layer/trial/additive_objects.h"

#include "layer/core/compiler.h"
#include "layer/core/device_lost.h"
#include "layer/core/last_wait.h"
#include "layer/core/object_name.h"
#include "layer/core/process_exit.h"
#include "layer/counts/poller.h"
#include "layer/frame/command.h"
#include "layer/shader/object.h"
#include <stdlib.h>
#include <unistd.h>

/* Who sets a stage may touch the rest until the next one is set. */
enum stage {
    IDLE,
    MAKING,    /* the job's */
    READY,     /* for a round: whoever submits next takes it */
    SUBMITTED, /* the reader's */
    DONE,
};

struct pm_additive {
    struct pm_device *device;
    _Atomic uint32_t stage;
    _Atomic uint32_t outcome; /* enum pm_additive_outcome */
    struct pm_job job;
    uint32_t family;
    uint64_t mask; /* of its timestamps' valid bits */
    struct pm_additive_objects objects;
    uint32_t instances, count;
    struct pm_additive_round rounds[PM_ADDITIVE_ROUNDS];
};

static void run_job(struct pm_job *job);
static void drop_job(struct pm_job *job);

struct pm_additive *pm_additive_create(struct pm_device *device)
{
    struct pm_additive *additive = calloc(1, sizeof *additive);
    if (additive == NULL)
        return NULL;
    additive->device = device;
    additive->instances = 1;
    additive->job = (struct pm_job){.run = run_job,
                                    .drop = drop_job,
                                    .owner = additive,
                                    .name = "self-test of timestamps",
                                    .always = true};
    return additive;
}

void pm_additive_destroy(struct pm_additive *additive)
{
    if (additive == NULL)
        return;
    struct pm_device *device = additive->device;
    if (atomic_load(&additive->stage) != SUBMITTED ||
        pm_last_wait_fence(device, additive->objects.fence))
        pm_additive_objects_destroy(device, &additive->objects);
    free(additive);
}

static void finish(struct pm_additive *additive, bool yes, const char *why)
{
    pm_log_info(additive->device->instance->log,
                "timestamps around single draws are %sadditive%s%s: %s",
                yes ? "" : "not taken to be ", why != NULL ? ", " : "", why != NULL ? why : "",
                yes ? "draws are timed one by one" : "render passes are timed as wholes");
    atomic_store(&additive->outcome, yes ? PM_ADDITIVE_YES : PM_ADDITIVE_NO);
    atomic_store(&additive->stage, DONE);
}

enum pm_additive_outcome pm_additive_outcome(const struct pm_additive *additive)
{
    return additive != NULL ? atomic_load_explicit(&additive->outcome, memory_order_relaxed)
                            : PM_ADDITIVE_NO;
}

/* ---- making ---- */

/* The first family with queues that draws and has timestamps. */
static bool find_family(struct pm_additive *additive)
{
    const struct pm_device *device = additive->device;
    const struct pm_instance_dispatch *dispatch = &device->instance->dispatch;
    uint32_t count = 0;
    dispatch->GetPhysicalDeviceQueueFamilyProperties(device->physical, &count, NULL);
    VkQueueFamilyProperties *families = calloc(count + 1, sizeof *families);
    if (families == NULL)
        return false;
    dispatch->GetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
    bool found = false;
    for (uint32_t i = 0; i < device->queue_family_count && !found; i++) {
        const uint32_t family = device->queue_families[i];
        additive->family = family;
        additive->mask = family < count ? pm_additive_mask(&families[family]) : 0;
        found = additive->mask != 0;
    }
    free(families);
    return found;
}

static void name_objects(struct pm_additive *additive)
{
    static const char name[] = "timing self-test";
    struct pm_device *device = additive->device;
    const struct pm_additive_objects *objects = &additive->objects;
    pm_name_object(device, VK_OBJECT_TYPE_IMAGE, PM_BITS(objects->image), name);
    pm_name_object(device, VK_OBJECT_TYPE_PIPELINE, PM_BITS(objects->pipeline), name);
    pm_name_object(device, VK_OBJECT_TYPE_QUERY_POOL, PM_BITS(objects->queries), name);
    pm_name_object(device, VK_OBJECT_TYPE_COMMAND_BUFFER, (uint64_t)(uintptr_t)objects->commands,
                   name);
}

static void make(struct pm_additive *additive)
{
    if (atomic_load(&additive->device->lost))
        finish(additive, false, "the device is lost");
    else if (!find_family(additive))
        finish(additive, false, "no queue that draws has any");
    else if (!pm_additive_objects_make(additive->device, additive->family, &additive->objects))
        finish(additive, false, "the driver refuses the self-test");
    else {
        name_objects(additive);
        atomic_store(&additive->stage, READY);
    }
}

static struct pm_additive *additive_of(struct pm_job *job)
{
    return (struct pm_additive *)((char *)job - offsetof(struct pm_additive, job));
}

static void run_job(struct pm_job *job)
{
    make(additive_of(job));
}

static void drop_job(struct pm_job *job)
{
    finish(additive_of(job), false, "the self-test was not made");
}

void pm_additive_want(struct pm_additive *additive)
{
    uint32_t idle = IDLE;
    if (additive == NULL || !atomic_compare_exchange_strong(&additive->stage, &idle, MAKING))
        return;
    if (additive->device->instance->config.debug.synchronous)
        make(additive);
    else if (!pm_compiler_queue(additive->device->compiler, &additive->job))
        drop_job(&additive->job);
}

/* ---- a round ---- */

static VkResult submit(struct pm_additive *additive, struct pm_queue *queue)
{
    struct pm_device *device = additive->device;
    if (!pm_additive_record(device, &additive->objects, additive->instances))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &additive->objects.commands,
    };
    return device->dispatch.QueueSubmit(queue->handle, 1, &info, additive->objects.fence);
}

void pm_additive_follow(struct pm_additive *additive, struct pm_queue *queue)
{
    if (additive == NULL || atomic_load_explicit(&additive->stage, memory_order_acquire) != READY ||
        queue->family != additive->family)
        return;
    struct pm_device *device = additive->device;
    uint32_t ready = READY;
    /* In a forked child the device is the parent's. */
    if (pm_process_is_exiting() || getpid() != device->process || atomic_load(&device->lost) ||
        !atomic_compare_exchange_strong(&additive->stage, &ready, MAKING))
        return;
    const VkResult result = submit(additive, queue);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    if (result != VK_SUCCESS) {
        finish(additive, false, "the driver refuses the self-test");
        return;
    }
    atomic_store(&additive->stage, SUBMITTED);
    pm_poller_wake(device->poller);
}

bool pm_additive_is_waiting(const struct pm_additive *additive)
{
    return additive != NULL && atomic_load(&additive->stage) == SUBMITTED;
}

/* ---- what it took ---- */

static void log_round(const struct pm_additive *additive, const struct pm_additive_round *round)
{
    pm_log_debug(additive->device->instance->log,
                 "a light and a heavy draw (%u and %u instances): alone %.0f and %.0f µs; in one "
                 "render pass %.0f and %.0f, the other way round %.0f and %.0f",
                 additive->instances, PM_ADDITIVE_RATIO * additive->instances,
                 round->alone[0] / 1e3, round->alone[1] / 1e3, round->among[0][0] / 1e3,
                 round->among[0][1] / 1e3, round->among[1][0] / 1e3, round->among[1][1] / 1e3);
}

/* rounds[count] has been read. */
static void judge_round(struct pm_additive *additive)
{
    const struct pm_additive_round *round = &additive->rounds[additive->count];
    log_round(additive, round);
    const uint32_t instances = pm_additive_size(additive->instances, round);
    if (instances == 0) {
        finish(additive, false, "the device is done too soon to tell");
    } else if (instances != additive->instances) {
        additive->instances = instances;
        additive->count = 0;
        atomic_store(&additive->stage, READY);
    } else if (++additive->count < PM_ADDITIVE_ROUNDS) {
        atomic_store(&additive->stage, READY);
    } else {
        finish(additive, pm_additive_judge(additive->rounds), NULL);
    }
}

void pm_additive_poll(struct pm_additive *additive)
{
    struct pm_device *device = additive->device;
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    if (atomic_load(&device->lost)) {
        finish(additive, false, "the device is lost");
        return;
    }
    VkResult result = dispatch->GetFenceStatus(device->handle, additive->objects.fence);
    if (result == VK_NOT_READY)
        return;
    if (result == VK_SUCCESS)
        result = dispatch->ResetFences(device->handle, 1, &additive->objects.fence);
    if (result == VK_SUCCESS)
        result = pm_additive_read(device, &additive->objects, additive->mask,
                                  &additive->rounds[additive->count]);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    if (result == VK_SUCCESS)
        judge_round(additive);
    else
        finish(additive, false, "the driver has no results");
}
