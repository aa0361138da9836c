/* Shader records: the instrumented modules of their batches. */
#include "layer/shader/shader_record_instrument.h"

#include <stdlib.h>

enum { MOST_SLOTS = 32 }; /* of counters; more spread no further on the GPUs there are */

/* One of the two modules of a batch. */
struct instrumented {
    pthread_mutex_t lock; /* held while it is made, so that it is made once */
    bool tried, made;
    struct pm_instrumented module;
    struct pm_error *error; /* when tried and not made; owned */
};

struct pm_record_batch {
    struct instrumented by_early_tests[2]; /* without and with may_force_early_tests */
};

struct pm_record_batch *pm_record_batches_create(uint32_t count)
{
    struct pm_record_batch *batches = calloc(count + 1u, sizeof *batches);
    for (uint32_t i = 0; batches && i < count; i++) {
        for (int early = 0; early < 2; early++)
            pthread_mutex_init(&batches[i].by_early_tests[early].lock, NULL);
    }
    return batches;
}

void pm_record_batches_destroy(struct pm_record_batch *batches, uint32_t count)
{
    for (uint32_t i = 0; batches && i < count; i++) {
        for (int early = 0; early < 2; early++) {
            struct instrumented *instrumented = &batches[i].by_early_tests[early];
            if (instrumented->made)
                pm_instrumented_finish(&instrumented->module);
            free(instrumented->error);
            pthread_mutex_destroy(&instrumented->lock);
        }
    }
    free(batches);
}

const struct pm_record_points *pm_shader_record_points(const struct pm_shader_record *record,
                                                       uint32_t batch)
{
    return &record->points[pm_shader_sampler_space(record->sampler, batch)];
}

uint32_t pm_shader_record_slots(const struct pm_device *device, uint32_t units)
{
    /* As many as leave room for limits.variants variants in the counter memory, whatever their
     * batches. */
    const struct pm_config *config = &device->instance->config;
    const uint64_t variants = config->limits.variants ? config->limits.variants : 1;
    const uint64_t share = ((uint64_t)config->limits.counter_memory_mib << 20) / variants;
    const uint64_t slot_bytes = (((uint64_t)units + 7) & ~UINT64_C(7)) * 8;
    uint32_t slots = 1;
    while (slots < MOST_SLOTS && slots * 2 * slot_bytes <= share)
        slots *= 2;
    return slots;
}

const struct pm_instrumented *pm_shader_record_instrument(const struct pm_device *device,
                                                          struct pm_shader_record *record,
                                                          uint32_t batch,
                                                          bool may_force_early_tests, bool *first,
                                                          struct pm_error *error)
{
    const struct pm_device_abilities *abilities = &device->abilities;
    const struct pm_driver driver = pm_device_driver(device);
    struct pm_instrument_info info = {
        .int64_atomics = abilities->int64_atomics,
        .memory_model_device_scope = abilities->memory_model_device_scope,
        .may_force_early_tests = may_force_early_tests,
        .subgroup_quad = abilities->subgroup_quad,
        .count_copies = true,
        .subgroup_size = record->environment.subgroup_size,
        .most_lanes = abilities->most_lanes,
        .subgroup_arithmetic = abilities->subgroup_arithmetic,
        .sums_outlive_loops = !(pm_quirks_of(&driver) & PM_QUIRK_CHOOSES_AGAIN),
        .target = abilities->target,
    };
    info.points = pm_shader_sampler_batch(record->sampler, batch, &info.point_count);
    const struct pm_record_points *points = pm_shader_record_points(record, batch);
    info.slot_count =
        pm_shader_record_slots(device, pm_record_points_units(points, info.point_count));

    struct instrumented *instrumented =
        &record->batches[batch].by_early_tests[may_force_early_tests];
    pthread_mutex_lock(&instrumented->lock);
    *first = !instrumented->tried;
    if (!instrumented->tried) {
        struct pm_error found;
        instrumented->tried = true;
        instrumented->made = pm_record_points_instrument(points, &record->canonical, &info,
                                                         &instrumented->module, &found);
        if (instrumented->made && !pm_shader_may_be_compiled(device, &instrumented->module.words)) {
            pm_instrumented_finish(&instrumented->module);
            instrumented->made =
                pm_fail(&found, PM_ERROR_UNSUPPORTED, "it may crash this driver's compiler");
        }
        if (!instrumented->made)
            instrumented->error = pm_error_keep(&found);
    }
    const bool made = instrumented->made;
    if (!made)
        pm_error_recall(instrumented->error, error);
    pthread_mutex_unlock(&instrumented->lock);
    return made ? &instrumented->module : NULL;
}

void pm_shader_record_sum(const struct pm_shader_record *record, struct pm_record_sum *sum)
{
    *sum = (struct pm_record_sum){0};
    for (uint32_t i = 0; record->sampler && i < record->batch_count; i++) {
        uint32_t count;
        const uint64_t read = atomic_load(&record->use[i].read);
        (void)pm_shader_sampler_batch(record->sampler, i, &count);
        sum->points += count;
        sum->read += read > 0 ? count : 0;
        sum->calls += read;
    }
}
