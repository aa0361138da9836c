#include "layer/shader/specialized_shader.h"

#include "layer/core/session.h"
#include "layer/core/trace.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/specialized_kept.h"
#include "profile/values_store.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/zero/zero_profile.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shader {
    struct pm_specialized_shader made;
    const struct pm_shader_record
        *record;  /* what it was made of; NULL: an earlier session made it */
    int64_t took; /* of such a one: nanoseconds of the driver's, last */
    enum pm_specialized_use use;
    pthread_mutex_t lock; /* held while it is made, so that it is made once */
    bool tried, usable;
    struct shader *next;
};

struct pm_specialized_shaders {
    struct pm_device *device;
    struct pm_journal *journal;
    struct pm_specialized_kept *kept;
    struct pm_environment environment; /* but for the subgroup size */
    pthread_mutex_t lock;              /* the list */
    struct shader *first;              /* as many as shaders with a zero profile: a list will do */
};

struct pm_specialized_shaders *pm_specialized_shaders_create(struct pm_device *device,
                                                             struct pm_journal *journal)
{
    struct pm_specialized_shaders *shaders = calloc(1, sizeof *shaders);
    if (!shaders)
        return NULL;
    shaders->device = device;
    shaders->journal = journal;
    shaders->environment = (struct pm_environment){
        .vendor_id = device->properties.vendorID,
        .device_id = device->properties.deviceID,
        .driver_id = device->abilities.driver_id,
        .driver_version = device->properties.driverVersion,
    };
    pthread_mutex_init(&shaders->lock, NULL);
    shaders->kept = pm_specialized_kept_create(device);
    if (shaders->kept)
        return shaders;
    pm_specialized_shaders_destroy(shaders);
    return NULL;
}

void pm_specialized_shaders_destroy(struct pm_specialized_shaders *shaders)
{
    if (!shaders)
        return;
    for (struct shader *shader = shaders->first, *next; shader; shader = next) {
        next = shader->next;
        pm_specialized_finish(&shader->made.module);
        free((char *)(uintptr_t)shader->made.entry_point);
        pthread_mutex_destroy(&shader->lock);
        free(shader);
    }
    pm_specialized_kept_destroy(shaders->kept);
    pthread_mutex_destroy(&shaders->lock);
    free(shaders);
}

/* ---- what the database says ---- */

/* The published estimates of a shader, to be finished; false: there are none. */
static bool find_published(const struct pm_specialized_shaders *shaders,
                           const struct pm_shader_key *key,
                           const struct pm_environment *environment, enum pm_kind kind,
                           struct pm_shader_estimates *found)
{
    if (!pm_packed_database_find(shaders->device->instance->database, key, environment, kind,
                                 found))
        return false;
    if (found->published && found->points)
        return true;
    pm_shader_estimates_finish(found);
    return false;
}

/* What others say of its speed. It chooses what is tried and what is compiled, not what is bound:
 * nobody can be believed (HAZARDS 24). */
static enum pm_timing_verdict published_timing(const struct pm_specialized_shaders *shaders,
                                               const struct pm_specialized_shader *shader)
{
    struct pm_shader_estimates found;
    enum pm_timing_verdict verdict = PM_TIMING_UNDECIDED;
    if (!find_published(shaders, &shader->key, &shader->environment, PM_KIND_TIMING, &found))
        return verdict;
    if (found.space == 1) {
        const struct pm_ratio *time = &found.points[0].measures[PM_MEASURE_TIME];
        verdict = time->mean_high < 1  ? PM_TIMING_FASTER
                  : time->mean_low > 1 ? PM_TIMING_SLOWER
                                       : PM_TIMING_UNDECIDED;
    }
    pm_shader_estimates_finish(&found);
    return verdict;
}

/* ---- making ---- */

/* The canonical module itself, for benchmarks. */
static bool keep_canonical(const struct pm_shader_record *record, struct pm_specialized *module,
                           struct pm_error *error)
{
    const size_t bytes = record->canonical.count * sizeof(uint32_t);
    *module = (struct pm_specialized){.words = {malloc(bytes), record->canonical.count}};
    if (!module->words.data)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader");
    memcpy(module->words.data, record->canonical.data, bytes);
    return true;
}

/* For known words, and for zeros in what is left (NULL: not for them). */
static bool specialize_known(const struct pm_specialized_shaders *shaders,
                             const struct pm_shader_record *record,
                             const struct pm_known_words *known,
                             const struct pm_specialize_zero_info *zero,
                             struct pm_specialized *module, struct pm_error *error)
{
    const struct pm_device *device = shaders->device;
    const struct pm_driver driver = pm_device_driver(device);
    const struct pm_specialize_constants_info info = {
        .known = known->words,
        .known_count = known->count,
        .costs = pm_costs_of(device->properties.vendorID),
        .float_zero = device->instance->config.optimize.float_zero,
        .target = device->abilities.target,
        .driver = &driver,
        .zero = zero,
        .take_all = device->instance->config.debug.specialize == PM_SPECIALIZE_ALL,
    };
    struct pm_specialized_constants made;
    if (!pm_specialize_constants(record->canonical.data, record->canonical.count, &info, &made,
                                 error))
        return false;
    *module = (struct pm_specialized){.words = made.words, .transforms = made.transforms};
    made.words = (struct pm_words){0};
    pm_specialized_constants_finish(&made);
    return true;
}

/* Known words first, then zeros: of what may run anywhere zeros alone where no word is worth it.
 * *known: the words that it was made for. */
static bool specialize_by(const struct pm_specialized_shaders *shaders,
                          const struct pm_shader_record *record, enum pm_specialized_use use,
                          const struct pm_specialize_zero_info *zero, struct pm_known_words *known,
                          struct pm_specialized *module, struct pm_error *error)
{
    *module = (struct pm_specialized){0};
    if (use == PM_USE_PUSHED)
        pm_known_words_pushed(shaders->device, record, known);
    else
        pm_known_words_uniform(shaders->device, record, known);
    if (known->count > 0 && !specialize_known(shaders, record, known, zero, module, error))
        return false;
    if (module->words.count > 0 || use == PM_USE_PUSHED || !zero)
        return true;
    known->count = 0;
    return pm_specialize_zero(record->canonical.data, record->canonical.count, zero, module, error);
}

/* estimates NULL: no zero profile. */
static bool specialize(const struct pm_specialized_shaders *shaders,
                       const struct pm_shader_record *record, enum pm_specialized_use use,
                       const struct pm_shader_estimates *estimates, struct pm_known_words *known,
                       struct pm_specialized *module, struct pm_error *error)
{
    const struct pm_device *device = shaders->device;
    struct pm_shader_estimates blocks;
    const enum pm_specialize which = device->instance->config.debug.specialize;
    const enum pm_beyond beyond = device->instance->config.debug.beyond;
    struct pm_zero_profile profile;
    if (which == PM_SPECIALIZE_CANONICAL && use == PM_USE_ANYWHERE)
        return keep_canonical(record, module, error);
    if (!estimates)
        return specialize_by(shaders, record, use, NULL, known, module, error);
    const bool has_blocks =
        find_published(shaders, &record->key, &record->environment, PM_KIND_BLOCK, &blocks);
    const bool ready = pm_zero_profile_init(&profile, estimates, has_blocks ? &blocks : NULL);
    pm_shader_estimates_finish(&blocks);
    if (!ready)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a zero profile");
    const struct pm_driver driver = pm_device_driver(device);
    const struct pm_specialize_zero_info info = {
        .profile = &profile,
        .zeros = pm_record_points_zeros(record->points),
        .costs = pm_costs_of(device->properties.vendorID),
        .float_zero = device->instance->config.optimize.float_zero,
        .subgroup_quad = device->abilities.subgroup_quad,
        .target = device->abilities.target,
        .driver = &driver,
        .beyond = {.fit_regions = beyond == PM_BEYOND_FIT || beyond == PM_BEYOND_ALL,
                   .hoist_across = beyond == PM_BEYOND_HOIST || beyond == PM_BEYOND_ALL,
                   .pairs = beyond == PM_BEYOND_PAIRS || beyond == PM_BEYOND_ALL},
        .take_all = which == PM_SPECIALIZE_ALL,
    };
    const bool made = specialize_by(shaders, record, use, &info, known, module, error);
    pm_zero_profile_finish(&profile);
    return made;
}

static void log_of(const struct pm_specialized_shaders *shaders, enum pm_log_level level,
                   const struct pm_shader_key *original, const char *what)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(original, key);
    pm_logf(shaders->device->instance->log, level, "shader %.12s %s", key, what);
}

/* Whether it is worth compiling, by this machine's own verdict, else by what is published: said
 * once, in the log. Only the machine's own verdict spares a trial. */
static bool may_be_faster(const struct pm_specialized_shaders *shaders,
                          struct pm_specialized_shader *shader)
{
    if (pm_specialized_kept_timing(shaders->kept, shader, &shader->timing)) {
        if (shader->timing == PM_TIMING_SLOWER)
            log_of(shaders, PM_LOG_INFO, &shader->original,
                   "is not specialized: a trial of an earlier session found it no faster then");
        return shader->timing != PM_TIMING_SLOWER;
    }
    shader->timing = PM_TIMING_UNDECIDED;
    shader->published = published_timing(shaders, shader);
    if (shader->published != PM_TIMING_SLOWER)
        return true;
    const bool doubts = pm_specialized_kept_doubts(shaders->kept, &shader->key);
    log_of(shaders, PM_LOG_INFO, &shader->original,
           doubts ? "is slower when specialized, says the database: this machine tries it"
                  : "is not specialized: the database knows it to be slower then");
    return doubts;
}

/* Whether what was made may be used: said once, in the log. */
static bool may_use(const struct pm_specialized_shaders *shaders,
                    struct pm_specialized_shader *shader)
{
    struct pm_error error = {0};
    if (!may_be_faster(shaders, shader))
        return false;
    if (pm_journal_holds(shaders->journal, &shader->key)) {
        log_of(shaders, PM_LOG_INFO, &shader->original,
               "is not specialized: that is held back (piecemeal doctor)");
        return false;
    }
    /* Before the driver sees it: its compiler may be what does not survive it. */
    shader->entry = pm_journal_write(shaders->journal, &shader->key, &error);
    if (!shader->entry)
        log_of(shaders, PM_LOG_WARNING, &shader->original, error.message);
    return shader->entry != NULL;
}

static bool make(struct pm_specialized_shaders *shaders, enum pm_specialized_use use,
                 const struct pm_shader_estimates *zero, const struct pm_shader_record *record,
                 struct pm_specialized_shader *shader)
{
    struct pm_error error = {0};
    shader->original = record->key;
    shader->entry_point = strdup(record->entry_point);
    if (!shader->entry_point)
        return false;
    pm_trace_begin(shaders->device->trace, NULL, "specialize", &record->key);
    const bool made =
        specialize(shaders, record, use, zero, &shader->known, &shader->module, &error);
    pm_trace_end(shaders->device->trace, NULL, NULL);
    if (!made) {
        /* PM_ERROR_STATE: what came out is not valid, so the pass is wrong. */
        log_of(shaders, error.code == PM_ERROR_STATE ? PM_LOG_WARNING : PM_LOG_INFO, &record->key,
               error.message);
        return false;
    }
    shader->is_private = shader->known.count > 0;
    if (shader->module.words.count == 0) {
        log_of(shaders, PM_LOG_DEBUG, &record->key, "is not worth specializing");
        return false;
    }
    shader->key = pm_shader_key_compute(pm_canonicalize_recipe(), shader->module.words.data,
                                        shader->module.words.count);
    shader->environment = shaders->environment;
    shader->environment.subgroup_size = record->environment.subgroup_size;
    if (!may_use(shaders, shader))
        return false;
    char key[PM_SHADER_KEY_TEXT], what[128], words[48] = "";
    pm_shader_key_format(&shader->key, key);
    if (shader->known.count > 0)
        snprintf(words, sizeof words, ", %u words of %s", shader->known.count,
                 use == PM_USE_PUSHED ? "push constants" : "uniforms");
    snprintf(what, sizeof what, "is specialized: %u transforms%s, %s, as %.12s",
             shader->module.transforms, words,
             record->stage == PM_STAGE_COMPUTE ? "compute" : "fragment", key);
    log_of(shaders, PM_LOG_INFO, &record->key, what);
    return true;
}

/* The entry of a record, made when there is none. NULL: out of memory. */
static struct shader *get_entry(struct pm_specialized_shaders *shaders,
                                const struct pm_shader_record *record, enum pm_specialized_use use)
{
    pthread_mutex_lock(&shaders->lock);
    struct shader *shader = shaders->first;
    while (shader && (shader->record != record || shader->use != use))
        shader = shader->next;
    if (!shader && (shader = calloc(1, sizeof *shader))) {
        shader->record = record;
        shader->use = use;
        pthread_mutex_init(&shader->lock, NULL);
        shader->next = shaders->first;
        shaders->first = shader;
    }
    pthread_mutex_unlock(&shaders->lock);
    return shader;
}

/* Whether anything is known that a shader may be specialized for, and what. *zero: its zero
 * profile, to be finished; all 0: none that may be used. */
static bool is_known(const struct pm_specialized_shaders *shaders, const struct pm_shader_key *key,
                     uint32_t subgroup_size, struct pm_shader_estimates *zero,
                     enum pm_specialized_of *of)
{
    const struct pm_instance *instance = shaders->device->instance;
    const struct pm_environment environment = {.subgroup_size = subgroup_size};
    const bool zeros = instance->config.optimize.zero && shaders->device->abilities.subgroup_vote &&
                       find_published(shaders, key, &environment, PM_KIND_ZERO, zero);
    const bool values =
        pm_session_knows_values(instance) && pm_values_store_knows(instance->values, key);
    *of = !values ? PM_MADE_OF_ZEROS : zeros ? PM_MADE_OF_BOTH : PM_MADE_OF_VALUES;
    return zeros || values;
}

const struct pm_specialized_shader *
pm_specialized_shaders_get(struct pm_specialized_shaders *shaders,
                           const struct pm_shader_request *request, enum pm_specialized_use use)
{
    struct pm_shader_records *records = shaders->device->pipelines->records;
    struct pm_shader_key key;
    struct pm_error error = {0};
    bool first = false;
    /* Most shaders have no profile, and are not to be kept for nothing. */
    struct pm_shader_estimates zero = {0};
    enum pm_specialized_of of;
    const struct pm_shader_record *record =
        pm_shader_records_key(records, request, &key, &first, &error) &&
                is_known(shaders, &key, request->subgroup_size, &zero, &of)
            ? pm_shader_records_get(records, request, &first, &error)
            : NULL;
    if (!record) {
        pm_shader_estimates_finish(&zero);
        if (first && error.code != PM_OK)
            pm_log_info(shaders->device->instance->log, "a shader gets no variants: %s",
                        error.message);
        return NULL;
    }
    struct shader *shader = get_entry(shaders, record, use);
    if (!shader) {
        pm_shader_estimates_finish(&zero);
        return NULL;
    }
    pthread_mutex_lock(&shader->lock);
    if (!shader->tried) {
        shader->tried = true;
        shader->made.made_of = of;
        shader->usable = make(shaders, use, zero.points ? &zero : NULL, record, &shader->made);
        /* What is not used is not kept. */
        if (!shader->usable) {
            pm_specialized_finish(&shader->made.module);
            shader->made.module = (struct pm_specialized){0};
        }
        free(shader->made.module.report);
        shader->made.module.report = NULL;
    }
    const bool usable = shader->usable;
    pthread_mutex_unlock(&shader->lock);
    pm_shader_estimates_finish(&zero);
    return usable ? &shader->made : NULL;
}

/* ---- what earlier sessions made ---- */

static struct shader *find_proven(struct pm_specialized_shaders *shaders,
                                  const struct pm_shader_key *original, uint32_t subgroup_size)
{
    struct shader *shader = shaders->first;
    while (shader && (shader->record || !pm_shader_key_equal(&shader->made.original, original) ||
                      shader->made.environment.subgroup_size != subgroup_size))
        shader = shader->next;
    return shader;
}

/* Loads it, and writes it down in the journal. NULL: there is none. Under the lock: others that ask
 * for one wait as long as they would for the disk themselves. */
static struct shader *load_proven(struct pm_specialized_shaders *shaders,
                                  const struct pm_shader_key *original, uint32_t subgroup_size,
                                  enum pm_specialized_of of)
{
    struct pm_environment environment = shaders->environment;
    environment.subgroup_size = subgroup_size;
    struct shader *shader = calloc(1, sizeof *shader);
    if (!shader)
        return NULL;
    if (!pm_specialized_kept_load(shaders->kept, original, &environment, of, &shader->made,
                                  &shader->took)) {
        free(shader);
        return NULL;
    }
    pthread_mutex_init(&shader->lock, NULL);
    shader->next = shaders->first;
    shaders->first = shader;
    shader->usable = !pm_journal_holds(shaders->journal, &shader->made.key);
    return shader;
}

const struct pm_specialized_shader *
pm_specialized_shaders_proven(struct pm_specialized_shaders *shaders,
                              const struct pm_shader_request *request, int64_t *took)
{
    struct pm_shader_estimates zero = {0};
    struct pm_shader_key key;
    enum pm_specialized_of of = PM_MADE_OF_ZEROS;
    if (!pm_shader_records_known(shaders->device->pipelines->records, request, &key))
        return NULL;
    const bool known = is_known(shaders, &key, request->subgroup_size, &zero, &of);
    pm_shader_estimates_finish(&zero);
    /* A recipe's variant needs nothing to be known. */
    if (!known && !pm_session_tests_variants(shaders->device->instance))
        return NULL;
    pthread_mutex_lock(&shaders->lock);
    struct shader *shader = find_proven(shaders, &key, request->subgroup_size);
    if (!shader)
        shader = load_proven(shaders, &key, request->subgroup_size, of);
    /* Before the driver sees it. */
    if (shader && shader->usable && !shader->made.entry)
        shader->made.entry = pm_journal_note(shaders->journal, &shader->made.key, NULL);
    const bool usable = shader && shader->usable && shader->made.entry;
    *took = usable ? shader->took : 0;
    pthread_mutex_unlock(&shaders->lock);
    return usable ? &shader->made : NULL;
}

bool pm_specialized_shaders_any_proven(const struct pm_specialized_shaders *shaders)
{
    return pm_specialized_kept_any(shaders->kept);
}

void pm_specialized_shaders_took(struct pm_specialized_shaders *shaders,
                                 const struct pm_specialized_shader *made, int64_t took,
                                 bool own_thread)
{
    if (!own_thread) {
        pm_specialized_kept_made(shaders->kept, made, took);
        return;
    }
    pm_specialized_kept_took(shaders->kept, made, took);
    pthread_mutex_lock(&shaders->lock);
    struct shader *shader = find_proven(shaders, &made->original, made->environment.subgroup_size);
    if (shader)
        shader->took = took;
    pthread_mutex_unlock(&shaders->lock);
}

void pm_specialized_shaders_save(struct pm_specialized_shaders *shaders)
{
    pm_specialized_kept_save(shaders->kept);
}
