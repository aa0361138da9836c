/* Shader records: the instrumented modules of their batches. */
#include "layer/shader/shader_record_instrument.h"

#include "layer/shader/kept_modules.h"

#include <stdlib.h>

enum { MOST_SLOTS = 32 }; /* of counters; more spread no further on the GPUs there are */

/* One of the two modules of a batch, once it is asked for. */
struct instrumented {
    bool made;
    struct pm_instrumented module; /* without its words */
    struct pm_kept_module words;   /* these */
    struct pm_error *error;        /* where it is not made; owned */
};

struct batch {
    pthread_mutex_t lock;                   /* held while one is made, so that it is made once */
    struct instrumented *by_early_tests[2]; /* without and with may_force_early_tests; NULL: nobody
                                               asked */
};

struct pm_record_batches {
    struct pm_kept_modules *kept;
    uint32_t count;
    struct batch of[];
};

struct pm_record_batches *pm_record_batches_create(struct pm_kept_modules *kept, uint32_t count)
{
    struct pm_record_batches *batches = calloc(1, sizeof *batches + count * sizeof batches->of[0]);
    if (!batches)
        return NULL;
    batches->kept = kept;
    batches->count = count;
    for (uint32_t i = 0; i < count; i++)
        pthread_mutex_init(&batches->of[i].lock, NULL);
    return batches;
}

static void destroy_instrumented(struct pm_kept_modules *kept, struct instrumented *instrumented)
{
    if (!instrumented)
        return;
    pm_kept_module_drop(kept, &instrumented->words);
    if (instrumented->made)
        pm_instrumented_finish(&instrumented->module);
    free(instrumented->error);
    free(instrumented);
}

void pm_record_batches_destroy(struct pm_record_batches *batches)
{
    for (uint32_t i = 0; batches && i < batches->count; i++) {
        for (int early = 0; early < 2; early++)
            destroy_instrumented(batches->kept, batches->of[i].by_early_tests[early]);
        pthread_mutex_destroy(&batches->of[i].lock);
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

/* Makes a batch's module. */
static bool instrument(const struct pm_device *device, const struct pm_shader_record *record,
                       uint32_t batch, bool may_force_early_tests, struct pm_instrumented *module,
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
    if (!pm_record_points_instrument(points, &record->canonical, &info, module, error))
        return false;
    if (pm_shader_may_be_compiled(device, &module->words))
        return true;
    pm_instrumented_finish(module);
    return pm_fail(error, PM_ERROR_UNSUPPORTED, "it may crash this driver's compiler");
}

/* Whether what is made again counts where variants of the first are read. */
static bool is_same(const struct pm_instrumented *again, const struct pm_instrumented *module)
{
    return again->spec_id_low == module->spec_id_low &&
           again->spec_id_high == module->spec_id_high &&
           again->slot_stride == module->slot_stride &&
           again->counter_bytes == module->counter_bytes;
}

/* Gives the caller the words of a module that was just made, and keeps them. */
static void hand_out(const struct pm_shader_record *record, struct instrumented *instrumented,
                     struct pm_instrumented *module, struct pm_words *words)
{
    *words = module->words;
    module->words = (struct pm_words){0};
    pm_kept_module_put(record->batches->kept, &instrumented->words, &record->canonical, words);
}

static struct instrumented *make_first(const struct pm_device *device,
                                       const struct pm_shader_record *record, uint32_t batch,
                                       bool may_force_early_tests, struct pm_words *words,
                                       struct pm_error *error)
{
    struct instrumented *instrumented = calloc(1, sizeof *instrumented);
    if (!instrumented) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for an instrumented shader");
        return NULL;
    }
    instrumented->made =
        instrument(device, record, batch, may_force_early_tests, &instrumented->module, error);
    if (instrumented->made)
        hand_out(record, instrumented, &instrumented->module, words);
    else
        instrumented->error = pm_error_keep(error);
    return instrumented;
}

/* Its words are no longer kept. What variants have of the first module stays. */
static bool make_again(const struct pm_device *device, const struct pm_shader_record *record,
                       uint32_t batch, bool may_force_early_tests,
                       struct instrumented *instrumented, struct pm_words *words,
                       struct pm_error *error)
{
    struct pm_instrumented module;
    if (!instrument(device, record, batch, may_force_early_tests, &module, error))
        return false;
    const bool same = is_same(&module, &instrumented->module);
    if (same)
        hand_out(record, instrumented, &module, words);
    pm_instrumented_finish(&module);
    return same || pm_fail(error, PM_ERROR_UNSUPPORTED, "made again, it counts something else");
}

const struct pm_instrumented *
pm_shader_record_instrument(const struct pm_device *device, struct pm_shader_record *record,
                            uint32_t batch, bool may_force_early_tests, bool *first,
                            struct pm_words *words, struct pm_error *error)
{
    struct batch *of = &record->batches->of[batch];
    bool made;
    pthread_mutex_lock(&of->lock);
    struct instrumented *instrumented = of->by_early_tests[may_force_early_tests];
    *first = !instrumented;
    if (!instrumented) {
        instrumented = make_first(device, record, batch, may_force_early_tests, words, error);
        of->by_early_tests[may_force_early_tests] = instrumented;
        made = instrumented && instrumented->made;
    } else if (!instrumented->made) {
        pm_error_recall(instrumented->error, error);
        made = false;
    } else {
        made = pm_kept_module_get(record->batches->kept, &instrumented->words, &record->canonical,
                                  words);
        if (!made) {
            made = make_again(device, record, batch, may_force_early_tests, instrumented, words,
                              error);
            *first = !made;
        }
    }
    pthread_mutex_unlock(&of->lock);
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
