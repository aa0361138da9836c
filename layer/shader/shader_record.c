#include "layer/shader/shader_record.h"
#include "layer/core/trace.h"
#include "layer/shader/object.h"
#include "layer/shader/points_deficit.h"
#include "layer/shader/spec_values.h"
#include "profile/left_alone.h"
#include "profile/shader_store.h"
#include "shader_rewrite/ir/ir_module.h"
#include "shader_rewrite/quirks/hiding_casts.h"
#include <stdlib.h>
#include <string.h>

enum {
    RAW_CHAINS = 256,
    MOST_SLOTS = 32, /* of counters; more spread no further on the GPUs there are */
};

/* One of the two modules of a batch. */
struct instrumented {
    pthread_mutex_t lock; /* held while it is made, so that it is made once */
    bool tried, made;
    struct pm_instrumented module;
    struct pm_error error; /* when tried and not made */
};

struct pm_record_batch {
    struct instrumented by_early_tests[2]; /* without and with may_force_early_tests */
};

/* A request with what it takes to look it up. */
struct asked {
    const struct pm_shader_request *request;
    struct pm_words words;     /* of its module */
    struct pm_spec_values set; /* by its stage */
};

/* What the raw words of a pipeline's stage led to. */
struct raw {
    struct pm_shader_key digest;
    uint32_t subgroup_size;
    pthread_mutex_t lock; /* held while the shader is canonicalized, so that it happens once */
    bool tried, keyed, named;
    struct pm_shader_key key;        /* when keyed */
    struct pm_shader_record *record; /* NULL: none, and why when tried */
    struct pm_error error;
    struct raw *next;
};

struct pm_shader_records {
    struct pm_device *device;
    struct pm_shader_store *store; /* NULL: none, and every shader is canonicalized anew */
    pthread_mutex_t lock;          /* the two lists; taken inside a raw's lock, not around it */
    /* Searched on compile threads only. Of records there are as many as limits.variants at most. */
    struct raw *raws[RAW_CHAINS]; /* by the digest's first byte */
    struct pm_shader_record *records;
};

struct pm_shader_store *pm_shader_records_store(const struct pm_shader_records *records)
{
    return records->store;
}

struct pm_shader_records *pm_shader_records_create(struct pm_device *device)
{
    struct pm_shader_records *records = calloc(1, sizeof *records);
    if (!records)
        return NULL;
    records->device = device;
    records->store = pm_shader_store_open(
        NULL, (uint64_t)device->instance->config.limits.shader_store_mib << 20);
    pthread_mutex_init(&records->lock, NULL);
    return records;
}

static void destroy_record(struct pm_shader_record *record)
{
    for (uint32_t i = 0; record->batches && i < record->batch_count; i++) {
        for (int early = 0; early < 2; early++) {
            struct instrumented *instrumented = &record->batches[i].by_early_tests[early];
            if (instrumented->made)
                pm_instrumented_finish(&instrumented->module);
            pthread_mutex_destroy(&instrumented->lock);
        }
    }
    free(record->batches);
    free(record->use);
    pm_shader_sampler_destroy(record->sampler);
    pm_constant_values_destroy(record->values);
    pm_words_finish(&record->canonical);
    pm_record_points_finish(record->points);
    free(record->entry_point);
    free(record);
}

void pm_shader_records_destroy(struct pm_shader_records *records)
{
    if (!records)
        return;
    for (size_t i = 0; i < RAW_CHAINS; i++) {
        for (struct raw *raw = records->raws[i], *next; raw; raw = next) {
            next = raw->next;
            pthread_mutex_destroy(&raw->lock);
            free(raw);
        }
    }
    for (struct pm_shader_record *record = records->records, *next; record; record = next) {
        next = record->next;
        destroy_record(record);
    }
    pm_shader_store_close(records->store);
    pthread_mutex_destroy(&records->lock);
    free(records);
}

/* ---- a new record ---- */

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

static bool make_batches(struct pm_device *device, struct pm_shader_record *record,
                         struct pm_error *error)
{
    const struct pm_config *config = &device->instance->config;
    uint64_t seed = config->sampler.seed, of_key;
    if (!config->sampler.seed_set && !pm_random_system(&seed, sizeof seed))
        return pm_fail(error, PM_ERROR_IO, "the system gives no random numbers");
    memcpy(&of_key, record->key.bytes, sizeof of_key);
    if (!split_points(device, record, seed ^ of_key))
        return no_memory(error);
    const uint32_t count = record->sampler ? pm_shader_sampler_batch_count(record->sampler) : 0;
    record->batches = calloc(count + 1u, sizeof *record->batches);
    record->use = calloc(count + 1u, sizeof *record->use);
    if (!record->batches || !record->use)
        return no_memory(error);
    record->batch_count = count;
    for (uint32_t i = 0; i < count; i++) {
        for (int early = 0; early < 2; early++)
            pthread_mutex_init(&record->batches[i].by_early_tests[early].lock, NULL);
    }
    return true;
}

static struct pm_shader_record *find_record(const struct pm_shader_records *records,
                                            const struct pm_shader_key *key, uint32_t subgroup_size)
{
    struct pm_shader_record *record = records->records;
    while (record && (!pm_shader_key_equal(&record->key, key) ||
                      record->environment.subgroup_size != subgroup_size))
        record = record->next;
    return record;
}

/* The record of a canonical module, which is consumed. */
static struct pm_shader_record *add_record(struct pm_shader_records *records,
                                           const struct pm_shader_request *request,
                                           struct pm_words *canonical, struct pm_error *error)
{
    const struct pm_shader_key key =
        pm_shader_key_compute(pm_canonicalize_recipe(), canonical->data, canonical->count);
    pthread_mutex_lock(&records->lock);
    struct pm_shader_record *record = find_record(records, &key, request->subgroup_size);
    pthread_mutex_unlock(&records->lock);
    if (record) {
        pm_words_finish(canonical);
        return record;
    }
    record = calloc(1, sizeof *record);
    if (!record) {
        pm_words_finish(canonical);
        no_memory(error);
        return NULL;
    }
    record->key = key;
    record->environment.subgroup_size = request->subgroup_size;
    record->stage = request->stage;
    record->canonical = *canonical;
    record->entry_point = pm_canonical_entry_point(canonical->data, canonical->count, error);
    if (record->entry_point &&
        pm_record_points_find(records->device, &record->canonical, record->points, error) &&
        make_values(records->device, record, error) &&
        make_batches(records->device, record, error)) {
        /* Two shaders that differ before they are canonical may have got here at once. */
        pthread_mutex_lock(&records->lock);
        struct pm_shader_record *other = find_record(records, &key, request->subgroup_size);
        if (!other) {
            record->next = records->records;
            records->records = record;
        }
        pthread_mutex_unlock(&records->lock);
        if (other)
            destroy_record(record);
        return other ? other : record;
    }
    destroy_record(record);
    return NULL;
}

/* ---- from raw words to a record ---- */

/* What an earlier session found, if the store has it. */
static bool load(struct pm_shader_records *records, const struct pm_shader_key *digest,
                 enum pm_stage stage, struct pm_words *canonical)
{
    struct pm_shader_key key;
    struct pm_stored_shader stored;
    if (!records->store ||
        !pm_shader_store_find(records->store, pm_canonicalize_recipe(), digest, &key, NULL))
        return false;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_error error = {0};
    bool loaded = arena && pm_shader_store_read(records->store, &key, arena, &stored, &error) &&
                  stored.stage == (uint32_t)stage;
    if (loaded) {
        const size_t bytes = stored.canonical_count * sizeof(uint32_t);
        *canonical = (struct pm_words){malloc(bytes ? bytes : 1), stored.canonical_count};
        loaded = canonical->data != NULL;
        if (loaded)
            memcpy(canonical->data, stored.canonical, bytes);
    } else if (error.code != PM_OK && error.code != PM_ERROR_STATE) {
        pm_log_info(records->device->instance->log, "%s", error.message);
    }
    pm_arena_destroy(arena);
    return loaded;
}

static void save(struct pm_shader_records *records, const struct pm_shader_key *digest,
                 const struct asked *asked, const struct pm_words *canonical)
{
    if (!records->store)
        return;
    const struct pm_stored_shader shader = {
        .key = pm_shader_key_compute(pm_canonicalize_recipe(), canonical->data, canonical->count),
        .recipe = pm_canonicalize_recipe(),
        .stage = asked->request->stage,
        .target = pm_target_bits(&records->device->abilities.target),
        .entry_point = asked->request->entry_point,
        .spec_values = asked->set.data,
        .spec_value_count = asked->set.count,
        .original = asked->words.data,
        .original_count = asked->words.count,
        .canonical = canonical->data,
        .canonical_count = canonical->count,
    };
    struct pm_error error;
    if (!pm_shader_store_write(records->store, digest, &shader, &error))
        pm_log_debug(records->device->instance->log, "a shader is not kept: %s", error.message);
}

static bool canonicalize(struct pm_shader_records *records, const struct pm_shader_key *digest,
                         const struct asked *asked, struct pm_words *canonical,
                         struct pm_error *error)
{
    if (load(records, digest, asked->request->stage, canonical))
        return true;
    struct pm_error kept;
    const struct pm_canonicalize_info info = {
        .words = asked->words.data,
        .word_count = asked->words.count,
        .stage = asked->request->stage,
        .entry_point = asked->request->entry_point,
        .spec_values = asked->set.data,
        .spec_value_count = asked->set.count,
        .target = records->device->abilities.target,
        .kept = &kept,
    };
    pm_trace_begin(records->device->trace, NULL, "canonicalize", NULL);
    const bool done = pm_canonicalize(&info, canonical, error);
    pm_trace_end(records->device->trace, NULL, NULL);
    if (!done)
        return false;
    if (kept.message[0])
        pm_log_info(records->device->instance->log,
                    "a shader is not simplified, so that it may have nothing to count: %s",
                    kept.message);
    save(records, digest, asked, canonical);
    return true;
}

/* The entry of a digest, made when there is none. NULL: out of memory. */
static struct raw *get_raw(struct pm_shader_records *records, const struct pm_shader_key *digest,
                           uint32_t subgroup_size)
{
    pthread_mutex_lock(&records->lock);
    struct raw **chain = &records->raws[digest->bytes[0]], *raw = *chain;
    while (raw &&
           (!pm_shader_key_equal(&raw->digest, digest) || raw->subgroup_size != subgroup_size))
        raw = raw->next;
    if (!raw && (raw = calloc(1, sizeof *raw))) {
        raw->digest = *digest;
        raw->subgroup_size = subgroup_size;
        pthread_mutex_init(&raw->lock, NULL);
        raw->next = *chain;
        *chain = raw;
    }
    pthread_mutex_unlock(&records->lock);
    return raw;
}

/* Counted for who asks why a game has so little to show; not what may be otherwise next time. */
static void note_left_alone(const struct pm_shader_records *records, const struct raw *raw)
{
    if (raw->error.code == PM_ERROR_INPUT || raw->error.code == PM_ERROR_UNSUPPORTED ||
        raw->error.code == PM_ERROR_LIMIT)
        pm_left_alone_note(NULL, records->device->instance->game, pm_canonicalize_recipe(),
                           &raw->digest, raw->error.message);
}

/* What the game calls the shader's module, for people; under the raw's lock. */
static void keep_name(struct pm_shader_records *records, struct raw *raw, const struct asked *asked)
{
    struct pm_error error;
    char *name = records->store ? pm_object_name_copy(asked->request->module) : NULL;
    if (name && !pm_shader_store_name(records->store, &raw->record->key, name, &error))
        pm_log_debug(records->device->instance->log, "a shader's name is not kept: %s",
                     error.message);
    raw->named = name != NULL;
    free(name);
}

/* The key, without a record; under the raw's lock. */
static bool find_key(struct pm_shader_records *records, struct raw *raw, const struct asked *asked)
{
    if (raw->record) {
        raw->key = raw->record->key;
    } else if (!records->store || !pm_shader_store_find(records->store, pm_canonicalize_recipe(),
                                                        &raw->digest, &raw->key, NULL)) {
        struct pm_words canonical;
        if (!canonicalize(records, &raw->digest, asked, &canonical, &raw->error)) {
            raw->tried = true;
            note_left_alone(records, raw);
            return false;
        }
        raw->key = pm_shader_key_compute(pm_canonicalize_recipe(), canonical.data, canonical.count);
        pm_words_finish(&canonical);
    }
    return raw->keyed = true;
}

struct pm_driver pm_device_driver(const struct pm_device *device)
{
    return pm_driver_of(device->abilities.driver_id, device->properties.driverVersion,
                        device->abilities.driver_info);
}

/* On the drivers that need no such casts to compute the same bits, and where there are none. */
static bool may_do_without_casts(const struct pm_device *device, const struct pm_words *original,
                                 struct pm_error *error)
{
    const struct pm_driver driver = pm_device_driver(device);
    if (!(pm_quirks_of(&driver) & PM_QUIRK_FOLDS_UNCAST))
        return true;
    struct pm_ir_module *module = pm_ir_parse(original->data, original->count, error);
    if (!module)
        return false;
    const bool has = pm_has_hiding_casts(module);
    pm_ir_module_destroy(module);
    return !has || pm_fail(error, PM_ERROR_UNSUPPORTED,
                           "it casts floats to integers and back, and this driver folds floats "
                           "inexactly without such casts");
}

static void make_record(struct pm_shader_records *records, struct raw *raw,
                        const struct asked *asked)
{
    struct pm_words canonical;
    raw->tried = true;
    if (may_do_without_casts(records->device, &asked->words, &raw->error) &&
        canonicalize(records, &raw->digest, asked, &canonical, &raw->error))
        raw->record = add_record(records, asked->request, &canonical, &raw->error);
    if (!raw->record)
        note_left_alone(records, raw);
}

static void finish_asked(struct asked *asked)
{
    pm_words_finish(&asked->words);
    pm_spec_values_finish(&asked->set);
}

/* The entry of what a request asks for, with *asked filled in. NULL: *error says why. */
static struct raw *get_requested(struct pm_shader_records *records,
                                 const struct pm_shader_request *request, struct asked *asked,
                                 struct pm_error *error)
{
    struct pm_spec_values used;
    *asked = (struct asked){.request = request};
    if (!pm_spec_values_set(request->specialization, &asked->set, error))
        return NULL;
    if (!pm_object_words(request->module, &asked->words, error) ||
        !pm_spec_values_used(asked->words.data, asked->words.count, &asked->set, &used, error)) {
        finish_asked(asked);
        return NULL;
    }
    const struct pm_shader_key digest =
        pm_raw_digest_compute(asked->words.data, asked->words.count, request->stage,
                              request->entry_point, used.data, used.count);
    pm_spec_values_finish(&used);
    struct raw *raw = get_raw(records, &digest, request->subgroup_size);
    if (!raw) {
        no_memory(error);
        finish_asked(asked);
    }
    return raw;
}

struct pm_shader_record *pm_shader_records_get(struct pm_shader_records *records,
                                               const struct pm_shader_request *request, bool *first,
                                               struct pm_error *error)
{
    struct asked asked;
    *first = true;
    struct raw *raw = get_requested(records, request, &asked, error);
    if (!raw)
        return NULL;
    pthread_mutex_lock(&raw->lock);
    *first = !raw->tried;
    if (!raw->tried)
        make_record(records, raw, &asked);
    struct pm_shader_record *record = raw->record;
    if (record && !raw->named) /* it may be named after its first pipeline was made */
        keep_name(records, raw, &asked);
    if (!record && error)
        *error = raw->error;
    pthread_mutex_unlock(&raw->lock);
    finish_asked(&asked);
    return record;
}

bool pm_shader_records_key(struct pm_shader_records *records,
                           const struct pm_shader_request *request, struct pm_shader_key *key,
                           bool *first, struct pm_error *error)
{
    struct asked asked;
    *first = true;
    struct raw *raw = get_requested(records, request, &asked, error);
    if (!raw)
        return false;
    pthread_mutex_lock(&raw->lock);
    *first = !raw->tried && !raw->keyed;
    const bool found =
        raw->keyed || ((!raw->tried || raw->record) && find_key(records, raw, &asked));
    *key = raw->key;
    if (!found && error)
        *error = raw->error;
    pthread_mutex_unlock(&raw->lock);
    finish_asked(&asked);
    return found;
}

void pm_shader_records_each(struct pm_shader_records *records,
                            void (*visit)(void *user, struct pm_shader_record *record), void *user)
{
    pthread_mutex_lock(&records->lock);
    struct pm_shader_record *record = records->records;
    pthread_mutex_unlock(&records->lock);
    /* New ones come before, and none goes while there is a device. */
    for (; record; record = record->next)
        visit(user, record);
}

bool pm_shader_records_known(struct pm_shader_records *records,
                             const struct pm_shader_request *request, struct pm_shader_key *key)
{
    struct asked asked;
    struct raw *raw = get_requested(records, request, &asked, NULL);
    if (!raw)
        return false;
    finish_asked(&asked);
    if (pthread_mutex_trylock(&raw->lock) != 0)
        return false;
    if (!raw->keyed && raw->record) {
        raw->key = raw->record->key;
        raw->keyed = true;
    } else if (!raw->keyed && !raw->tried && records->store) {
        raw->keyed = pm_shader_store_find(records->store, pm_canonicalize_recipe(), &raw->digest,
                                          &raw->key, NULL);
    }
    const bool known = raw->keyed;
    *key = raw->key;
    pthread_mutex_unlock(&raw->lock);
    return known;
}

/* ---- instrumented modules ---- */

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

const struct pm_instrumented *pm_shader_record_instrument(struct pm_shader_records *records,
                                                          struct pm_shader_record *record,
                                                          uint32_t batch,
                                                          bool may_force_early_tests, bool *first,
                                                          struct pm_error *error)
{
    const struct pm_device_abilities *abilities = &records->device->abilities;
    struct pm_instrument_info info = {
        .int64_atomics = abilities->int64_atomics,
        .memory_model_device_scope = abilities->memory_model_device_scope,
        .may_force_early_tests = may_force_early_tests,
        .subgroup_quad = abilities->subgroup_quad,
        .count_copies = true,
        .target = abilities->target,
    };
    info.points = pm_shader_sampler_batch(record->sampler, batch, &info.point_count);
    const struct pm_record_points *points = pm_shader_record_points(record, batch);
    info.slot_count =
        pm_shader_record_slots(records->device, pm_record_points_units(points, info.point_count));

    struct instrumented *instrumented =
        &record->batches[batch].by_early_tests[may_force_early_tests];
    pthread_mutex_lock(&instrumented->lock);
    *first = !instrumented->tried;
    if (!instrumented->tried) {
        instrumented->tried = true;
        instrumented->made = pm_record_points_instrument(
            points, &record->canonical, &info, &instrumented->module, &instrumented->error);
    }
    const bool made = instrumented->made;
    if (!made && error)
        *error = instrumented->error;
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
