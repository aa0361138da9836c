#include "layer/shader/specialized_shader.h"
#include "layer/shader/published.h"

#include "layer/core/session.h"
#include "layer/core/trace.h"
#include "layer/shader/passes_cut.h"
#include "layer/shader/pipeline.h"
#include "layer/shader/recipe_shader.h"
#include "layer/shader/shader_words.h"
#include "layer/shader/specialize.h"
#include "layer/shader/specialized_kept.h"
#include "layer/shader/withheld.h"

#include "profile/signed_verdicts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct shader {
    struct pm_specialized_shader made;
    const struct pm_shader_record
        *record;                /* what it was made of; NULL: an earlier session made it */
    struct pm_making_cost cost; /* of such a one */
    enum pm_specialized_use use;
    pthread_mutex_t lock; /* held while it is made, so that it is made once */
    bool tried, usable;
    struct shader *next;
};

struct pm_specialized_shaders {
    struct pm_device *device;
    struct pm_journal *journal;
    struct pm_specialized_kept *kept;
    struct pm_withheld withheld;
    struct pm_recipe_asked recipe;
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
    shaders->environment = pm_session_device_environment(device);
    struct pm_error error = {0};
    if (!pm_withheld_read(&shaders->withheld, device->instance->config.optimize.withhold, &error))
        pm_log_warning(device->instance->log, "nothing is specialized: optimize.withhold: %s",
                       error.message);
    if (!pm_recipe_asked_read(&device->instance->config, &shaders->recipe, &error))
        pm_log_warning(device->instance->log, "nothing is specialized: %s", error.message);
    pthread_mutex_init(&shaders->lock, NULL);
    shaders->kept = pm_specialized_kept_create(device);
    if (shaders->kept)
        return shaders;
    pm_specialized_shaders_destroy(shaders);
    return NULL;
}

static void finish_words(struct pm_specialized_shader *shader)
{
    pm_specialized_finish(&shader->module);
    shader->module = (struct pm_specialized){0};
    pm_partitioned_finish(&shader->partitioned);
}

void pm_specialized_shaders_destroy(struct pm_specialized_shaders *shaders)
{
    if (!shaders)
        return;
    for (struct shader *shader = shaders->first, *next; shader; shader = next) {
        next = shader->next;
        finish_words(&shader->made);
        free((char *)(uintptr_t)shader->made.entry_point);
        pthread_mutex_destroy(&shader->lock);
        free(shader);
    }
    pm_specialized_kept_destroy(shaders->kept);
    pm_withheld_finish(&shaders->withheld);
    pthread_mutex_destroy(&shaders->lock);
    free(shaders);
}

/* ---- what the database says ---- */

/* What others say of its speed. It chooses what is tried and what is compiled, not what is bound:
 * nobody can be believed (HAZARDS 24). */
static enum pm_timing_verdict published_timing(const struct pm_specialized_shaders *shaders,
                                               const struct pm_specialized_shader *shader)
{
    struct pm_shader_estimates found;
    enum pm_timing_verdict verdict = PM_TIMING_UNDECIDED;
    if (!pm_find_published(shaders->device, &shader->key, &shader->environment, PM_KIND_TIMING,
                           &found))
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

/* What an operator signed, which is as good as this machine's own verdict (HAZARDS 24). */
static enum pm_timing_verdict signed_timing(const struct pm_specialized_shaders *shaders,
                                            const struct pm_specialized_shader *shader)
{
    const struct pm_signed_verdict *verdict =
        pm_signed_verdicts_find(&shaders->device->instance->signed_verdicts, &shader->key,
                                &shader->environment, (uint64_t)time(NULL));
    return !verdict ? PM_TIMING_UNDECIDED : verdict->faster ? PM_TIMING_FASTER : PM_TIMING_SLOWER;
}

/* ---- making ---- */

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
    shader->timing = signed_timing(shaders, shader);
    if (shader->timing != PM_TIMING_UNDECIDED) {
        log_of(shaders, PM_LOG_INFO, &shader->original,
               shader->timing == PM_TIMING_FASTER
                   ? "is faster when specialized, says the operator, who signed it"
                   : "is not specialized: the operator signed that it is slower then");
        return shader->timing == PM_TIMING_FASTER;
    }
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
    if (!shaders->recipe.asked && !may_be_faster(shaders, shader))
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

/* The key of all passes' words. */
static bool key_of_passes(struct pm_specialized_shader *shader, struct pm_error *error)
{
    const struct pm_partitioned *partitioned = &shader->partitioned;
    struct pm_words all = {0};
    for (uint32_t i = 0; i < partitioned->count; i++)
        all.count += partitioned->passes[i].words.count;
    all.data = malloc(all.count * sizeof *all.data);
    if (!all.data)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader");
    for (uint32_t i = 0, at = 0; i < partitioned->count; i++) {
        const struct pm_words *words = &partitioned->passes[i].words;
        memcpy(all.data + at, words->data, words->count * sizeof *words->data);
        at += (uint32_t)words->count;
    }
    shader->key = pm_shader_key_compute(pm_canonicalize_recipe(), all.data, all.count);
    pm_words_finish(&all);
    return true;
}

/* Its words, and their key. PM_OK and false: there are none. */
static bool make_words(struct pm_specialized_shaders *shaders, enum pm_specialized_use use,
                       const struct pm_shader_record *record, struct pm_specialized_shader *shader,
                       struct pm_error *error)
{
    if (shaders->recipe.asked)
        return pm_recipe_asked_make(&shaders->recipe, shaders->device, record,
                                    pm_withheld_parts(&shaders->withheld, &record->key), shader,
                                    error) &&
               shader->module.words.count > 0;
    if (use == PM_USE_PASSES)
        return pm_passes_cut(shaders->device, record, &shader->partitioned, error) &&
               key_of_passes(shader, error);
    if (!pm_specialize_shader(shaders->device, record, use, shader, error) ||
        shader->module.words.count == 0)
        return false;
    if (!pm_shader_may_be_compiled(shaders->device, &shader->module.words))
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "it may crash this driver's compiler");
    if (!pm_specialized_slow_down(shaders->device, &record->canonical, &shader->module.words,
                                  error))
        return false;
    shader->key = pm_specialized_key(&shader->module.words, 0);
    return true;
}

/* What was made, for the log. */
static void log_made(const struct pm_specialized_shaders *shaders,
                     const struct pm_shader_record *record,
                     const struct pm_specialized_shader *shader)
{
    char what[PM_SPECIALIZED_TEXT];
    pm_specialized_describe(shader, record->stage, what);
    log_of(shaders, PM_LOG_INFO, &record->key, what);
}

static bool make(struct pm_specialized_shaders *shaders, enum pm_specialized_use use,
                 const struct pm_shader_record *record, struct pm_specialized_shader *shader)
{
    struct pm_error error = {0};
    shader->original = record->key;
    shader->entry_point = strdup(record->entry_point);
    if (!shader->entry_point)
        return false;
    pm_trace_begin(shaders->device->trace, NULL, "specialize", &record->key);
    const bool made = make_words(shaders, use, record, shader, &error);
    pm_trace_end(shaders->device->trace, NULL, NULL);
    if (!made) {
        /* PM_ERROR_STATE: what came out is not valid, so the pass is wrong. */
        log_of(shaders,
               error.code == PM_OK            ? PM_LOG_DEBUG
               : error.code == PM_ERROR_STATE ? PM_LOG_WARNING
                                              : PM_LOG_INFO,
               &record->key,
               error.code != PM_OK     ? error.message
               : shaders->recipe.asked ? "is not changed by the recipe"
               : use == PM_USE_PASSES  ? "fits one pass"
                                       : "is not worth specializing");
        return false;
    }
    shader->is_private = shader->known.count > 0;
    shader->is_pushed = use == PM_USE_PUSHED;
    shader->made_by |= (shader->module.transforms ? (uint32_t)PM_MADE_BY_ZEROS : 0) |
                       (shader->changes ? (uint32_t)PM_MADE_BY_BLOCKS : 0) |
                       (shader->is_private ? (uint32_t)PM_MADE_BY_WORDS : 0);
    shader->environment = shaders->environment;
    shader->environment.subgroup_size = record->environment.subgroup_size;
    if (!may_use(shaders, shader))
        return false;
    log_made(shaders, record, shader);
    return true;
}

/* The entry of a record, made when there is none. NULL: out of memory. */
static struct shader *get_entry(struct pm_specialized_shaders *shaders,
                                const struct pm_shader_record *record, enum pm_specialized_use use,
                                enum pm_uniform_reads reads)
{
    pthread_mutex_lock(&shaders->lock);
    struct shader *shader = shaders->first;
    while (shader &&
           (shader->record != record || shader->use != use || shader->made.reads != reads))
        shader = shader->next;
    if (!shader && (shader = calloc(1, sizeof *shader))) {
        shader->record = record;
        shader->use = use;
        shader->made.reads = reads;
        pthread_mutex_init(&shader->lock, NULL);
        shader->next = shaders->first;
        shaders->first = shader;
    }
    pthread_mutex_unlock(&shaders->lock);
    return shader;
}

/* Whether there is to be none of the use. */
static bool withholds(const struct pm_specialized_shaders *shaders, uint32_t withheld,
                      enum pm_specialized_use use)
{
    const uint32_t anywhere = PM_PART_WORDS | PM_PART_ZEROS | PM_PART_BLOCKS;
    if (shaders->recipe.asked)
        return use != PM_USE_ANYWHERE || (withheld & PM_PART_RECIPE) != 0;
    return use == PM_USE_PASSES   ? (withheld & PM_PART_PASSES) != 0
           : use == PM_USE_PUSHED ? (withheld & PM_PART_PUSHED) != 0
                                  : (withheld & anywhere) == anywhere;
}

/* What is known, and is not to be used (enum pm_known_of). */
static uint32_t known_withheld(uint32_t withheld, enum pm_specialized_use use)
{
    return (withheld & PM_PART_ZEROS ? (uint32_t)PM_KNOWN_ZEROS : 0) |
           (withheld & PM_PART_BLOCKS ? (uint32_t)PM_KNOWN_BLOCKS : 0) |
           (withheld & PM_PART_WORDS && use == PM_USE_ANYWHERE ? (uint32_t)PM_KNOWN_VALUES : 0);
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
    uint32_t of = 0;
    if (pm_shader_records_key(records, request, &key, &first, &error)) {
        const uint32_t withheld = pm_withheld_parts(&shaders->withheld, &key);
        if (withholds(shaders, withheld, use))
            return NULL;
        of = pm_known_of_shader(shaders->device, &key, request->subgroup_size) &
             ~known_withheld(withheld, use);
    }
    const struct pm_shader_record *record =
        of || use == PM_USE_PASSES || shaders->recipe.asked
            ? pm_shader_records_get(records, request, &first, &error)
            : NULL;
    if (!record) {
        if (first && error.code != PM_OK)
            pm_log_info(shaders->device->instance->log, "a shader gets no variants: %s",
                        error.message);
        return NULL;
    }
    struct shader *shader =
        get_entry(shaders, record, use, use == PM_USE_PUSHED ? PM_READS_LOADED : request->reads);
    if (!shader)
        return NULL;
    pthread_mutex_lock(&shader->lock);
    if (!shader->tried) {
        shader->tried = true;
        shader->made.made_of = of;
        shader->usable = make(shaders, use, record, &shader->made);
        /* What is not used is not kept. */
        if (!shader->usable)
            finish_words(&shader->made);
        free(shader->made.module.report);
        shader->made.module.report = NULL;
    }
    const bool usable = shader->usable;
    pthread_mutex_unlock(&shader->lock);
    return usable ? &shader->made : NULL;
}

/* ---- what earlier sessions made ---- */

/* from: what it was made of. */
static struct shader *find_proven(struct pm_specialized_shaders *shaders,
                                  const struct pm_shader_key *from, uint32_t subgroup_size,
                                  enum pm_specialized_use use, enum pm_uniform_reads reads)
{
    struct shader *shader = shaders->first;
    while (shader &&
           (shader->record || shader->use != use ||
            !pm_shader_key_equal(pm_specialized_from(&shader->made), from) ||
            shader->made.environment.subgroup_size != subgroup_size || shader->made.reads != reads))
        shader = shader->next;
    return shader;
}

/* Loads it, and writes it down in the journal. NULL: there is none. Under the lock: others that ask
 * for one wait as long as they would for the disk themselves. */
static struct shader *load_proven(struct pm_specialized_shaders *shaders,
                                  const struct pm_shader_key *from, uint32_t subgroup_size,
                                  enum pm_specialized_use use, enum pm_uniform_reads reads,
                                  uint32_t of)
{
    struct pm_environment environment = shaders->environment;
    environment.subgroup_size = subgroup_size;
    struct shader *shader = calloc(1, sizeof *shader);
    if (!shader)
        return NULL;
    shader->use = use;
    if (!pm_specialized_kept_load(shaders->kept, from, &environment, use, reads, of, &shader->made,
                                  &shader->cost)) {
        free(shader);
        return NULL;
    }
    pthread_mutex_init(&shader->lock, NULL);
    shader->next = shaders->first;
    shaders->first = shader;
    shader->usable = !pm_journal_holds(shaders->journal, &shader->made.key);
    return shader;
}

/* Before the driver sees it. Under the lock. NULL: it may not be used. */
static const struct pm_specialized_shader *note(struct pm_specialized_shaders *shaders,
                                                struct shader *shader, struct pm_making_cost *cost)
{
    if (shader && shader->usable && !shader->made.entry)
        shader->made.entry = pm_journal_note(shaders->journal, &shader->made.key, NULL);
    const bool usable = shader && shader->usable && shader->made.entry;
    *cost = usable ? shader->cost : (struct pm_making_cost){0};
    return usable ? &shader->made : NULL;
}

/* The same of what may be known besides: what is proven is so whatever the database says now. */
static struct shader *load_any_proven(struct pm_specialized_shaders *shaders,
                                      const struct pm_shader_key *from, uint32_t subgroup_size,
                                      enum pm_specialized_use use, enum pm_uniform_reads reads,
                                      uint32_t of, uint32_t besides)
{
    for (uint32_t bits = besides;; bits = (bits - 1) & besides) {
        struct shader *shader = load_proven(shaders, from, subgroup_size, use, reads, of | bits);
        if (shader || bits == 0)
            return shader;
    }
}

const struct pm_specialized_shader *
pm_specialized_shaders_proven(struct pm_specialized_shaders *shaders,
                              const struct pm_shader_request *request, enum pm_specialized_use use,
                              struct pm_making_cost *cost)
{
    const bool pushed = use == PM_USE_PUSHED;
    const enum pm_uniform_reads reads = pushed ? PM_READS_LOADED : request->reads;
    struct pm_shader_key key;
    if (shaders->recipe.asked ||
        !pm_shader_records_known(shaders->device->pipelines->records, request, &key))
        return NULL;
    /* Of what has a part that is withheld another one is made, later. */
    const uint32_t withheld = pm_withheld_parts(&shaders->withheld, &key);
    if (withheld == PM_PARTS_ALL)
        return NULL;
    /* First: what is packed meanwhile is then in either. */
    const uint32_t besides = pm_known_once_packed(shaders->device);
    const uint32_t of = pm_known_of_shader(shaders->device, &key, request->subgroup_size);
    /* A recipe's variant needs nothing to be known. */
    if (!of && !besides && (pushed || !pm_session_tests_variants(shaders->device->instance)))
        return NULL;
    pthread_mutex_lock(&shaders->lock);
    struct shader *shader = find_proven(shaders, &key, request->subgroup_size, use, reads);
    if (!shader)
        shader = load_any_proven(shaders, &key, request->subgroup_size, use, reads, of, besides);
    if (shader && (pm_specialized_parts(&shader->made) & withheld) != 0)
        shader = NULL;
    pthread_mutex_unlock(&shaders->lock);
    /* Another shader may have the same canonical form, of which the variant was made. Without the
     * lock: its words may be read for that. */
    if (shader && !pm_shader_records_allow(shaders->device->pipelines->records, request))
        shader = NULL;
    pthread_mutex_lock(&shaders->lock);
    const struct pm_specialized_shader *found = note(shaders, shader, cost);
    pthread_mutex_unlock(&shaders->lock);
    return found;
}

static struct shader *find_over(struct pm_specialized_shaders *shaders,
                                const struct pm_specialized_shader *base)
{
    struct shader *shader = shaders->first;
    while (shader && shader->made.base != base)
        shader = shader->next;
    return shader;
}

/* Loads it. Under the lock. */
static struct shader *load_over(struct pm_specialized_shaders *shaders,
                                const struct pm_specialized_shader *base)
{
    struct shader *shader = load_proven(shaders, &base->key, base->environment.subgroup_size,
                                        PM_USE_ANYWHERE, base->reads, base->made_of);
    if (!shader)
        return NULL;
    shader->made.original = base->original;
    shader->made.base = base;
    shader->made.known = base->known;
    /* Sessions alternate with the original alone. */
    shader->usable = shader->usable && shader->made.session == PM_SESSION_NONE;
    return shader;
}

const struct pm_specialized_shader *
pm_specialized_shaders_over(struct pm_specialized_shaders *shaders,
                            const struct pm_specialized_shader *base, struct pm_making_cost *cost)
{
    pthread_mutex_lock(&shaders->lock);
    struct shader *shader = find_over(shaders, base);
    if (!shader)
        shader = load_over(shaders, base);
    if (shader && (pm_specialized_parts(&shader->made) &
                   pm_withheld_parts(&shaders->withheld, &base->original)) != 0)
        shader = NULL;
    const struct pm_specialized_shader *found = note(shaders, shader, cost);
    pthread_mutex_unlock(&shaders->lock);
    return found;
}

uint32_t pm_specialized_shaders_withheld(const struct pm_specialized_shaders *shaders,
                                         const struct pm_shader_request *request)
{
    struct pm_shader_key key;
    bool first;
    return pm_shader_records_key(shaders->device->pipelines->records, request, &key, &first, NULL)
               ? pm_withheld_parts(&shaders->withheld, &key)
               : 0;
}

bool pm_specialized_shaders_any_proven(const struct pm_specialized_shaders *shaders)
{
    return pm_specialized_kept_any(shaders->kept);
}

int64_t pm_specialized_shaders_take(const struct pm_specialized_shaders *shaders)
{
    return pm_specialized_kept_take(shaders->kept);
}

void pm_specialized_shaders_took(struct pm_specialized_shaders *shaders,
                                 const struct pm_specialized_shader *made, int64_t took,
                                 bool own_thread)
{
    /* What a test asks for says nothing of how an ordinary session makes it. */
    if (shaders->recipe.asked)
        return;
    if (!own_thread) {
        pm_specialized_kept_made(shaders->kept, made, took);
        return;
    }
    pm_specialized_kept_took(shaders->kept, made, took);
    pthread_mutex_lock(&shaders->lock);
    struct shader *shader =
        find_proven(shaders, pm_specialized_from(made), made->environment.subgroup_size,
                    made->is_pushed ? PM_USE_PUSHED : PM_USE_ANYWHERE, made->reads);
    if (shader)
        shader->cost.took = took;
    pthread_mutex_unlock(&shaders->lock);
}

void pm_specialized_shaders_save(struct pm_specialized_shaders *shaders)
{
    pm_specialized_kept_save(shaders->kept);
}
