/* Shader records: what is made of a canonical module. */
#include "layer/shader/shader_record_make.h"

#include "layer/core/session.h"
#include "layer/shader/points_deficit.h"
#include "layer/shader/shader_record_instrument.h"
#include <stdlib.h>
#include <string.h>

void pm_shader_record_destroy(struct pm_shader_record *record)
{
    pm_record_batches_destroy(record->batches);
    free(record->use);
    pm_shader_sampler_destroy(record->sampler);
    pm_constant_values_destroy(record->values);
    pm_words_finish(&record->canonical);
    pm_record_points_finish(record->points);
    free(record->entry_point);
    free(record);
}

static bool no_memory(struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_MEMORY, "no memory to remember a shader");
}

/* Not more of a shader than a driver compiles in good time, also where the batch is "all": code is
 * added for each point, of which there may be thousands. */
static uint32_t batch_size(const struct pm_device *device, const struct pm_shader_record *record)
{
    const uint32_t batch = device->instance->config.sampler.batch;
    const uint32_t most = pm_instrument_most_points(record->canonical.count);
    return batch < most ? batch : most;
}

/* Whether a point lacks samples; deficit NULL: all do. */
static bool any_of(const uint8_t *deficit, uint32_t count)
{
    bool any = !deficit && count > 0;
    for (uint32_t i = 0; deficit && i < (count + 7u) / 8u; i++)
        any = any || deficit[i] != 0;
    return any;
}

/* The session's split of the points of all kinds, steered by what the database still lacks. */
static bool split_points(const struct pm_device *device, struct pm_shader_record *record,
                         uint64_t seed)
{
    struct pm_sampler_space spaces[PM_RECORD_KINDS] = {{0}};
    uint8_t *deficits[PM_RECORD_KINDS] = {NULL};
    bool any = false, found = true;
    for (size_t i = 0; found && i < PM_RECORD_KINDS; i++) {
        found = pm_points_deficit(device, &record->key, &record->environment, &record->points[i],
                                  &deficits[i]);
        spaces[i] = (struct pm_sampler_space){record->points[i].counted, batch_size(device, record),
                                              deficits[i]};
        any = any || spaces[i].count > 0;
        record->lacks = record->lacks || any_of(deficits[i], spaces[i].count);
    }
    if (found && any)
        record->sampler = pm_shader_sampler_create(spaces, PM_RECORD_KINDS, seed);
    for (size_t i = 0; i < PM_RECORD_KINDS; i++)
        free(deficits[i]);
    return found && (!any || record->sampler);
}

/* What is seen of the values of its words. */
static bool make_values(const struct pm_device *device, struct pm_shader_record *record,
                        struct pm_error *error)
{
    const struct pm_record_points *points = pm_record_points_constants(record->points);
    if (!points || (device->instance->config.sampler.kinds & PM_KIND_BIT_CONSTANT) == 0)
        return true;
    record->values = pm_constant_values_create(&points->constants);
    return record->values || no_memory(error);
}

static bool make_batches(struct pm_device *device, struct pm_kept_modules *kept,
                         struct pm_shader_record *record, struct pm_error *error)
{
    uint64_t of_key;
    memcpy(&of_key, record->key.bytes, sizeof of_key);
    if (!split_points(device, record, pm_session_seed(device->instance) ^ of_key))
        return no_memory(error);
    const uint32_t count = record->sampler ? pm_shader_sampler_batch_count(record->sampler) : 0;
    record->batches = pm_record_batches_create(kept, count);
    record->use = calloc(count + 1u, sizeof *record->use);
    record->batch_count = record->batches ? count : 0;
    if (!record->batches || !record->use)
        return no_memory(error);
    return true;
}

struct pm_shader_record *pm_shader_record_make(struct pm_device *device,
                                               struct pm_kept_modules *kept,
                                               const struct pm_shader_key *key,
                                               const struct pm_shader_request *request,
                                               struct pm_words *canonical, struct pm_error *error)
{
    struct pm_shader_record *record = aligned_alloc(PM_CACHE_LINE, sizeof *record);
    if (!record) {
        pm_words_finish(canonical);
        no_memory(error);
        return NULL;
    }
    memset(record, 0, sizeof *record);
    record->key = *key;
    record->environment.subgroup_size = request->subgroup_size;
    record->stage = request->stage;
    record->canonical = *canonical;
    record->entry_point = pm_canonical_entry_point(canonical->data, canonical->count, error);
    if (record->entry_point &&
        pm_record_points_find(device, &record->key, &record->environment, &record->canonical,
                              record->points, error) &&
        make_values(device, record, error) && make_batches(device, kept, record, error))
        return record;
    pm_shader_record_destroy(record);
    return NULL;
}
