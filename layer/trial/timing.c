#include "layer/trial/timing.h"

#include "layer/core/device_lost.h"
#include "layer/core/object_name.h"
#include "layer/counts/poller.h"
#include "layer/frame/command.h"
#include "layer/frame/queue.h"
#include "layer/trial/sessions.h"
#include "layer/trial/submission_marks.h"
#include <stdlib.h>
#include <string.h>

enum { WORDS = 4, MEASUREMENTS = 64 * WORDS }; /* under way at a time */

struct measurement {
    uint32_t next;         /* of the recording; PM_TIMING_NONE: the last */
    uint32_t next_waiting; /* likewise */
    uint64_t mask;         /* of the queue family's valid bits */
    uint64_t started;      /* of trials over sessions: what its first query was when read last */
    uint64_t left[2];      /* by an earlier submission: its queries, where has_left */
    bool has_left;
    struct pm_mark mark; /* its latest submission */
    struct pm_timed_uses timed;
    bool ended;
    bool submitted; /* once: later submissions are not read */
    bool recorded;  /* the recording that names it has not been dropped */
    bool waiting;
};

struct pm_timing {
    struct pm_device *device;
    struct pm_marks *marks;
    PFN_vkResetQueryPool reset; /* NULL: recordings reset the queries themselves */
    VkQueryPool pool;
    double period;     /* nanoseconds a tick */
    uint32_t *bits;    /* valid, by queue family; owned */
    uint32_t families; /* entries of bits */
    _Atomic uint64_t used[WORDS];
    pthread_mutex_t lock; /* below, and of every measurement started, left, has_left, mark,
                             submitted, recorded and waiting */
    struct measurement measurements[MEASUREMENTS];
    uint32_t first_waiting;
    bool reading; /* the driver is asked for queries, none of which may be reset meanwhile */
    _Atomic uint32_t waiting;
};

static bool find_families(struct pm_timing *timing)
{
    struct pm_device *device = timing->device;
    const struct pm_instance_dispatch *dispatch = &device->instance->dispatch;
    dispatch->GetPhysicalDeviceQueueFamilyProperties(device->physical, &timing->families, NULL);
    VkQueueFamilyProperties *found = calloc(timing->families + 1, sizeof *found);
    timing->bits = calloc(timing->families + 1, sizeof *timing->bits);
    bool any = false;
    if (found != NULL && timing->bits != NULL) {
        dispatch->GetPhysicalDeviceQueueFamilyProperties(device->physical, &timing->families,
                                                         found);
        for (uint32_t i = 0; i < timing->families; i++) {
            timing->bits[i] = found[i].timestampValidBits;
            any |= timing->bits[i] > 0;
        }
    }
    free(found);
    return any;
}

static bool make_pool(struct pm_timing *timing)
{
    struct pm_device *device = timing->device;
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = 2 * MEASUREMENTS,
    };
    if (device->dispatch.CreateQueryPool(device->handle, &info, NULL, &timing->pool) != VK_SUCCESS)
        return false;
    pm_name_object(device, VK_OBJECT_TYPE_QUERY_POOL, PM_KEY(timing->pool), "trial timestamps");
    if (timing->reset != NULL)
        timing->reset(device->handle, timing->pool, 0, 2 * MEASUREMENTS);
    return true;
}

struct pm_timing *pm_timing_create(struct pm_device *device)
{
    struct pm_timing *timing = calloc(1, sizeof *timing);
    if (timing == NULL)
        return NULL;
    timing->device = device;
    if (device->abilities.host_query_reset)
        timing->reset = device->dispatch.ResetQueryPool != NULL
                            ? device->dispatch.ResetQueryPool
                            : device->dispatch.ResetQueryPoolEXT;
    timing->period = (double)device->properties.limits.timestampPeriod;
    timing->first_waiting = PM_TIMING_NONE;
    timing->marks = pm_marks_create(device);
    pthread_mutex_init(&timing->lock, NULL);
    if (timing->period > 0 && find_families(timing) && make_pool(timing))
        return timing;
    pm_timing_destroy(timing);
    return NULL;
}

void pm_timing_destroy(struct pm_timing *timing)
{
    if (timing == NULL)
        return;
    if (timing->pool != VK_NULL_HANDLE)
        timing->device->dispatch.DestroyQueryPool(timing->device->handle, timing->pool, NULL);
    pm_marks_destroy(timing->marks);
    pthread_mutex_destroy(&timing->lock);
    free(timing->bits);
    free(timing);
}

bool pm_timing_is_possible(const struct pm_timing *timing, uint32_t family)
{
    return timing != NULL && family < timing->families && timing->bits[family] > 0;
}

/* ---- in a recording ---- */

/* Without a lock: draws are recorded on many threads. */
static uint32_t reserve(struct pm_timing *timing)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        uint64_t used = atomic_load(&timing->used[i]);
        while (used != UINT64_MAX) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(~used);
            if (atomic_compare_exchange_weak(&timing->used[i], &used, used | UINT64_C(1) << bit))
                return 64 * i + bit;
        }
    }
    return PM_TIMING_NONE;
}

/* The GPU is done with it. */
static void release(struct pm_timing *timing, uint32_t index)
{
    if (timing->reset != NULL && !atomic_load(&timing->device->lost))
        timing->reset(timing->device->handle, timing->pool, 2 * index, 2);
    atomic_fetch_and(&timing->used[index / 64], ~(UINT64_C(1) << index % 64));
}

static void write_timestamp(const struct pm_command *command, uint32_t query)
{
    const struct pm_device *device = command->device;
    device->dispatch.CmdWriteTimestamp(command->handle, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                       device->timing->pool, query);
}

bool pm_timing_needs_no_reset(const struct pm_command *command)
{
    return command->once && command->device->timing->reset != NULL;
}

uint32_t pm_timing_reserve(struct pm_command *command)
{
    struct pm_timing *timing = command->device->timing;
    const uint32_t index = reserve(timing);
    if (index == PM_TIMING_NONE)
        return index;
    if (command->timings == PM_TIMING_NONE)
        atomic_fetch_add(&command->device->sampling->holding, 1);
    const uint32_t bits = timing->bits[command->pool->family];
    timing->measurements[index] = (struct measurement){
        .next = command->timings,
        .mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX,
        .recorded = true,
    };
    command->timings = index;
    if (!pm_timing_needs_no_reset(command))
        command->device->dispatch.CmdResetQueryPool(command->handle, timing->pool, 2 * index, 2);
    return index;
}

void pm_timing_reset(struct pm_command *command, uint32_t index)
{
    command->device->dispatch.CmdResetQueryPool(command->handle, command->device->timing->pool,
                                                2 * index, 2);
}

bool pm_timing_resets(const struct pm_timing *timing)
{
    return timing != NULL && timing->reset != NULL;
}

void pm_timing_start(const struct pm_command *command, uint32_t index)
{
    write_timestamp(command, 2 * index);
}

void pm_timing_end(struct pm_command *command, uint32_t index, const struct pm_timed_uses *timed)
{
    struct measurement *measurement = &command->device->timing->measurements[index];
    write_timestamp(command, 2 * index + 1);
    measurement->timed = *timed;
    measurement->ended = true;
}

void pm_timing_executed(const struct pm_command *command, uint64_t area)
{
    struct pm_timing *timing = command->device->timing;
    for (uint32_t i = command->timings; i != PM_TIMING_NONE; i = timing->measurements[i].next) {
        struct pm_timed_uses *timed = &timing->measurements[i].timed;
        for (uint32_t use = 0; use < timed->count; use++)
            if (timed->uses[use].inherited)
                timed->uses[use].area = area;
    }
}

/* Under the lock. */
static void wait_for(struct pm_timing *timing, uint32_t index)
{
    struct measurement *measurement = &timing->measurements[index];
    measurement->waiting = true;
    measurement->next_waiting = timing->first_waiting;
    timing->first_waiting = index;
    atomic_fetch_add(&timing->waiting, 1);
}

/* Of trials over sessions, whether any of them wants more. */
static bool is_wanted(const struct measurement *measurement)
{
    bool wanted = false;
    for (uint32_t i = 0; i < measurement->timed.session_count; i++)
        wanted = wanted || pm_session_wants(measurement->timed.sessions[i]);
    return wanted;
}

/* The two queries of a measurement. false: they are not there. */
static bool read_one(struct pm_timing *timing, uint32_t index, uint64_t values[2])
{
    struct pm_device *device = timing->device;
    uint64_t queries[2][2] = {{0}}; /* value, and whether it is there */
    const VkResult result = device->dispatch.GetQueryPoolResults(
        device->handle, timing->pool, 2 * index, 2, sizeof queries, queries, sizeof *queries,
        VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
    for (int i = 0; i < 2; i++)
        values[i] = queries[i][0];
    return result == VK_SUCCESS && queries[0][1] != 0 && queries[1][1] != 0;
}

/* Where the driver is asked only for what is done: what the recording's submission before has left.
 * A program that submits it again as soon as it is done leaves the poller no time, and without
 * SIMULTANEOUS_USE it is done by now. While it is wanted, once for each time that the poller takes.
 */
static void look_back(struct pm_timing *timing, const struct pm_command *command)
{
    for (uint32_t i = command->timings; i != PM_TIMING_NONE; i = timing->measurements[i].next) {
        struct measurement *measurement = &timing->measurements[i];
        if (measurement->timed.session_count == 0 || !is_wanted(measurement))
            continue;
        pthread_mutex_lock(&timing->lock);
        const bool wanted = measurement->waiting && !measurement->has_left;
        pthread_mutex_unlock(&timing->lock);
        uint64_t left[2];
        if (!wanted || !read_one(timing, i, left))
            continue;
        pthread_mutex_lock(&timing->lock);
        measurement->has_left = left[0] != measurement->started;
        memcpy(measurement->left, left, sizeof left);
        pthread_mutex_unlock(&timing->lock);
    }
}

void pm_timing_submit(struct pm_command *command, const struct pm_queue *queue)
{
    struct pm_timing *timing = command->device->timing;
    const struct pm_mark mark = pm_marks_next(timing->marks, queue);
    bool any = false;
    if (timing->marks != NULL && command->repeats && !command->simultaneous)
        look_back(timing, command);
    pthread_mutex_lock(&timing->lock);
    for (uint32_t i = command->timings; i != PM_TIMING_NONE; i = timing->measurements[i].next) {
        struct measurement *measurement = &timing->measurements[i];
        measurement->mark = mark;
        for (uint32_t use = 0; measurement->ended && use < measurement->timed.session_count; use++)
            pm_session_counts(measurement->timed.sessions[use]);
        if (measurement->ended && !measurement->waiting && is_wanted(measurement)) {
            wait_for(timing, i);
            any = true;
        }
        if (measurement->submitted || !measurement->ended || measurement->timed.count == 0)
            continue;
        measurement->submitted = true;
        if (timing->reset == NULL)
            continue;
        wait_for(timing, i);
        any = true;
    }
    pthread_mutex_unlock(&timing->lock);
    if (any)
        pm_poller_wake(command->device->poller);
}

void pm_timing_submitted(struct pm_timing *timing, const struct pm_queue *queue)
{
    if (timing != NULL)
        pm_marks_submitted(timing->marks, queue);
}

void pm_timing_submit_failed(struct pm_command *command)
{
    struct pm_timing *timing = command->device->timing;
    pthread_mutex_lock(&timing->lock);
    for (uint32_t i = command->timings; i != PM_TIMING_NONE; i = timing->measurements[i].next)
        timing->measurements[i].submitted &= timing->measurements[i].waiting;
    pthread_mutex_unlock(&timing->lock);
}

/* Under the lock. true: its result can be read from now on. */
static bool drop_one(struct pm_timing *timing, uint32_t index)
{
    struct measurement *measurement = &timing->measurements[index];
    measurement->recorded = false;
    if (measurement->waiting)
        return false;
    const bool readable = timing->reset == NULL && measurement->submitted;
    if (!readable && !timing->reading) {
        release(timing, index);
        return false;
    }
    if (!readable)
        measurement->timed.count = measurement->timed.session_count =
            0; /* taken already, or never submitted */
    wait_for(timing, index);
    return readable;
}

void pm_timing_drop(struct pm_command *command)
{
    if (command->timings == PM_TIMING_NONE)
        return;
    struct pm_timing *timing = command->device->timing;
    bool any = false;
    pthread_mutex_lock(&timing->lock);
    for (uint32_t i = command->timings, next; i != PM_TIMING_NONE; i = next) {
        next = timing->measurements[i].next;
        any |= drop_one(timing, i);
    }
    pthread_mutex_unlock(&timing->lock);
    command->timings = PM_TIMING_NONE;
    pm_sampling_let_go(command->device->sampling);
    if (any)
        pm_poller_wake(command->device->poller);
}

/* ---- results ---- */

bool pm_timing_is_waiting(const struct pm_timing *timing)
{
    return timing != NULL && atomic_load(&timing->waiting) > 0;
}

/* What was read of the queries of measurements first to last, which are the pool's own. */
struct reading {
    uint32_t first, last;
    bool asked[MEASUREMENTS];             /* for */
    bool left[MEASUREMENTS];              /* there are earlier ones, which come first */
    bool recorded[MEASUREMENTS];          /* when it was asked for */
    uint64_t queries[MEASUREMENTS][2][2]; /* value, and whether it is there */
};

static bool is_taken(const struct measurement *measurement)
{
    return measurement->timed.count == 0 && measurement->timed.session_count == 0;
}

/* Takes what is waiting off the list. Returns the first of them. */
static uint32_t detach(struct pm_timing *timing, struct reading *reading)
{
    pthread_mutex_lock(&timing->lock);
    const uint32_t first = timing->first_waiting;
    timing->first_waiting = PM_TIMING_NONE;
    timing->reading = first != PM_TIMING_NONE;
    reading->first = MEASUREMENTS;
    reading->last = 0;
    memset(reading->asked, 0, sizeof reading->asked);
    memset(reading->left, 0, sizeof reading->left);
    for (uint32_t i = first; i != PM_TIMING_NONE; i = timing->measurements[i].next_waiting) {
        const struct measurement *measurement = &timing->measurements[i];
        reading->asked[i] =
            !is_taken(measurement) && pm_marks_done(timing->marks, measurement->mark);
        reading->left[i] = !is_taken(measurement) && measurement->has_left;
        reading->recorded[i] = measurement->recorded;
        reading->first = i < reading->first ? i : reading->first;
        reading->last = i > reading->last ? i : reading->last;
    }
    pthread_mutex_unlock(&timing->lock);
    return first;
}

/* The results of some measurements from the first on, of which nothing may be known. */
static void read_range(struct pm_timing *timing, struct reading *reading, uint32_t first,
                       uint32_t count)
{
    struct pm_device *device = timing->device;
    void *out = reading->queries[first];
    memset(out, 0, count * sizeof *reading->queries);
    const VkResult result = device->dispatch.GetQueryPoolResults(
        device->handle, timing->pool, 2 * first, 2 * count, count * sizeof *reading->queries, out,
        sizeof **reading->queries, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    if (result == VK_ERROR_DEVICE_LOST)
        pm_device_was_lost(device);
}

/* In few calls: asked one by one lavapipe gave two to four of thirty in time (seen). Where
 * recordings reset the queries, and where the driver wants it, only those that the GPU is done with
 * may be asked for. */
static void read_queries(struct pm_timing *timing, struct reading *reading)
{
    if (timing->reset != NULL && timing->marks == NULL) {
        read_range(timing, reading, reading->first, reading->last - reading->first + 1);
        return;
    }
    for (uint32_t first = reading->first, end; first <= reading->last; first = end + 1) {
        for (end = first; end <= reading->last && reading->asked[end];)
            end++;
        if (end > first)
            read_range(timing, reading, first, end - first);
    }
}

/* Those that an earlier submission left are taken before others. */
static void take_left(struct pm_timing *timing, struct reading *reading)
{
    pthread_mutex_lock(&timing->lock);
    for (uint32_t i = reading->first; i <= reading->last; i++) {
        if (!reading->left[i])
            continue;
        struct measurement *measurement = &timing->measurements[i];
        for (int query = 0; query < 2; query++) {
            reading->queries[i][query][0] = measurement->left[query];
            reading->queries[i][query][1] = 1;
        }
        reading->asked[i] = true;
        measurement->has_left = false;
    }
    pthread_mutex_unlock(&timing->lock);
}

/* Of trials over sessions what an earlier submission left may still be there. */
static bool is_there(const struct pm_timing *timing, const struct reading *reading, uint32_t index)
{
    const struct measurement *measurement = &timing->measurements[index];
    return reading->asked[index] && reading->queries[index][0][1] != 0 &&
           reading->queries[index][1][1] != 0 &&
           (measurement->timed.session_count == 0 ||
            reading->queries[index][0][0] != measurement->started);
}

static double nanoseconds_of(const struct pm_timing *timing, const struct reading *reading,
                             uint32_t index)
{
    const uint64_t taken = (reading->queries[index][1][0] - reading->queries[index][0][0]) &
                           timing->measurements[index].mask;
    return (double)(taken > 0 ? taken : 1) * timing->period;
}

/* Under the lock. Of a recording that was dropped before it was asked for nothing more will come,
 * but what its submission was not yet seen to leave. */
static void settle(struct pm_timing *timing, const struct reading *reading, uint32_t index)
{
    struct measurement *measurement = &timing->measurements[index];
    const bool there = is_there(timing, reading, index);
    if (there)
        measurement->started = reading->queries[index][0][0];
    const bool comes = !is_taken(measurement) && !reading->asked[index] &&
                       pm_marks_was_made(timing->marks, measurement->mark);
    if (!there && (reading->recorded[index] || comes)) {
        measurement->next_waiting = timing->first_waiting;
        timing->first_waiting = index;
        return;
    }
    measurement->waiting = false;
    atomic_fetch_sub(&timing->waiting, 1);
    if (!measurement->recorded)
        release(timing, index);
}

/* The driver is asked without the lock: the game's submits must not wait for it. */
void pm_timing_poll(struct pm_timing *timing, pm_timing_taker take, void *user)
{
    struct reading reading;
    pm_marks_look(timing->marks);
    const uint32_t first = detach(timing, &reading);
    if (first == PM_TIMING_NONE)
        return;
    read_queries(timing, &reading);
    take_left(timing, &reading);
    for (uint32_t i = first; i != PM_TIMING_NONE; i = timing->measurements[i].next_waiting) {
        const struct pm_timed_uses *timed = &timing->measurements[i].timed;
        if (!is_there(timing, &reading, i))
            continue;
        for (uint32_t use = 0; use < timed->count; use++)
            take(user, &timed->uses[use], nanoseconds_of(timing, &reading, i));
        for (uint32_t use = 0; use < timed->session_count; use++)
            pm_session_take(timed->sessions[use], nanoseconds_of(timing, &reading, i));
    }
    pthread_mutex_lock(&timing->lock);
    timing->reading = false;
    for (uint32_t i = first, next; i != PM_TIMING_NONE; i = next) {
        next = timing->measurements[i].next_waiting;
        settle(timing, &reading, i);
    }
    pthread_mutex_unlock(&timing->lock);
}
