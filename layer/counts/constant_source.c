#include "layer/counts/constant_source.h"

#include "base/clock.h"
#include "layer/counts/poller.h"
#include "layer/counts/report.h"
#include "layer/frame/sampling.h"
#include "layer/shader/constant_values.h"
#include "layer/shader/pipeline.h"
#include <stdlib.h>

/* Nanoseconds between two writes of the store; the last one is at the end. */
#define SAVE_AGAIN (30 * PM_SECOND)

static bool is_waiting(void *user)
{
    const struct pm_device *device = user;
    return atomic_load(&device->constants.due);
}

struct round {
    struct pm_device *device;
    struct pm_report *report;
    struct pm_values_store *store; /* NULL: there is none */
};

static bool report(const struct round *round, const struct pm_shader_record *record,
                   struct pm_error *error)
{
    const struct pm_record_points *points = pm_record_points_constants(record->points);
    struct pm_point_counts *counts = calloc(points->space, sizeof *counts);
    if (counts == NULL)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a profile of constants");
    const struct pm_shader_profile shader = {
        .key = record->key,
        .environment = record->environment,
        .kind = PM_KIND_CONSTANT,
        .space = points->space,
        .points = counts,
        .point_count = pm_constant_values_take(record->values, counts),
    };
    /* As trials do: of any scene. */
    const bool added =
        shader.point_count == 0 || pm_report_add(round->report, PM_SCENE_STANDARD, &shader, error);
    if (shader.point_count > 0 && round->store != NULL)
        pm_constant_values_keep(record->values, round->store, &record->key);
    free(counts);
    return added;
}

static void take(void *user, struct pm_shader_record *record)
{
    const struct round *round = user;
    struct pm_error error = {0};
    if (record->values != NULL && !report(round, record, &error))
        pm_log_warning(round->device->instance->log, "constants were not kept: %s", error.message);
}

static void save(struct pm_device *device, struct pm_values_store *store)
{
    struct pm_error error = {0};
    const int64_t now = pm_now();
    if (store == NULL || (now - atomic_load(&device->constants.saved_at) < SAVE_AGAIN &&
                          !atomic_load(&device->constants.ends)))
        return;
    atomic_store(&device->constants.saved_at, now);
    if (!pm_values_store_save(store, &error))
        pm_log_info(device->instance->log, "values of constants are not kept: %s", error.message);
}

static bool poll(void *user, struct pm_report *to)
{
    struct pm_device *device = user;
    if (!atomic_exchange(&device->constants.due, false))
        return false;
    const struct round round = {device, to, device->instance->values};
    atomic_store(&device->constants.any, false);
    pm_shader_records_each(device->pipelines->records, take, (void *)(uintptr_t)&round);
    save(device, round.store);
    return false;
}

void pm_constants_poll_with(struct pm_device *device)
{
    pm_poller_add(device->poller, &(struct pm_poll_source){device, is_waiting, poll});
}

static void make_due(struct pm_device *device)
{
    atomic_store(&device->constants.due, true);
    pm_poller_wake(device->poller);
}

void pm_constants_follow(struct pm_device *device)
{
    if (!atomic_load_explicit(&device->constants.any, memory_order_relaxed))
        return;
    pm_sampling_tick(device->sampling);
    const uint64_t latest = atomic_load(&device->sampling->checkpoint);
    if (atomic_exchange(&device->constants.checkpoint, latest) != latest)
        make_due(device);
}

void pm_constants_finish(struct pm_device *device)
{
    atomic_store(&device->constants.ends, true);
    if (device->poller != NULL && device->pipelines != NULL &&
        (atomic_load(&device->constants.any) || atomic_load(&device->constants.saved_at) != 0))
        make_due(device);
}
