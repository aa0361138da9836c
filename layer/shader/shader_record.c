/* Shader records: the table, by what a pipeline's stage says. */
#include "layer/shader/shader_record.h"

#include "layer/shader/kept_modules.h"
#include "layer/shader/object.h"
#include "layer/shader/shader_record_make.h"
#include "profile/left_alone.h"
#include <stdlib.h>

enum { RAW_CHAINS = 256 };

/* Bytes of instrumented modules, compressed to a third: a hundred or two of large shaders. */
enum { MOST_KEPT = 1 << 20 };

/* What the raw words of a pipeline's stage led to. */
struct pm_raw_shader {
    struct pm_shader_key digest;
    uint32_t subgroup_size;
    pthread_mutex_t lock; /* held while the shader is canonicalized, so that it happens once */
    bool tried, keyed, named;
    bool looked, allowed;            /* whether the driver may do without its casts, and it may */
    struct pm_shader_key key;        /* when keyed */
    struct pm_shader_record *record; /* NULL: none, and why when tried */
    struct pm_error *error; /* of that; owned; NULL: memory was out, or there is a record */
    struct pm_raw_shader *next;
};

struct pm_shader_records {
    struct pm_device *device;
    struct pm_shader_store *store; /* NULL: none, and every shader is canonicalized anew */
    struct pm_kept_modules *kept;  /* of instrumented modules */
    pthread_mutex_t lock;          /* the two lists; taken inside a raw's lock, not around it */
    /* Searched on compile threads only. */
    struct pm_raw_shader *raws[RAW_CHAINS]; /* by the digest's first byte */
    struct pm_shader_record *records;
};

struct pm_shader_store *pm_shader_records_store(const struct pm_shader_records *records)
{
    return records->store;
}

struct pm_shader_records *pm_shader_records_create(struct pm_device *device)
{
    struct pm_shader_records *records = calloc(1, sizeof *records);
    if (!records || !(records->kept = pm_kept_modules_create(MOST_KEPT))) {
        free(records);
        return NULL;
    }
    records->device = device;
    records->store = pm_shader_store_open(
        NULL, (uint64_t)device->instance->config.limits.shader_store_mib << 20);
    pthread_mutex_init(&records->lock, NULL);
    return records;
}

void pm_shader_records_destroy(struct pm_shader_records *records)
{
    if (!records)
        return;
    for (size_t i = 0; i < RAW_CHAINS; i++) {
        for (struct pm_raw_shader *raw = records->raws[i], *next; raw; raw = next) {
            next = raw->next;
            pthread_mutex_destroy(&raw->lock);
            free(raw->error);
            free(raw);
        }
    }
    for (struct pm_shader_record *record = records->records, *next; record; record = next) {
        next = record->next;
        pm_shader_record_destroy(record);
    }
    pm_kept_modules_destroy(records->kept);
    pm_shader_store_close(records->store);
    pthread_mutex_destroy(&records->lock);
    free(records);
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
    record = pm_shader_record_make(records->device, records->kept, &key, request, canonical, error);
    if (!record)
        return NULL;
    /* Two shaders that differ before they are canonical may have got here at once. */
    pthread_mutex_lock(&records->lock);
    struct pm_shader_record *other = find_record(records, &key, request->subgroup_size);
    if (!other) {
        record->next = records->records;
        records->records = record;
    }
    pthread_mutex_unlock(&records->lock);
    if (other)
        pm_shader_record_destroy(record);
    return other ? other : record;
}

/* The entry of a digest, made when there is none. NULL: out of memory. */
static struct pm_raw_shader *get_raw(struct pm_shader_records *records,
                                     const struct pm_shader_key *digest, uint32_t subgroup_size)
{
    pthread_mutex_lock(&records->lock);
    struct pm_raw_shader **chain = &records->raws[digest->bytes[0]], *raw = *chain;
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

/* Why there is no record of it. Counted for who asks why a game has so little to show; not what may
 * be otherwise next time. Under the raw's lock. */
static void leave_alone(const struct pm_shader_records *records, struct pm_raw_shader *raw,
                        const struct pm_error *error)
{
    free(raw->error);
    raw->error = pm_error_keep(error);
    if (error->code == PM_ERROR_INPUT || error->code == PM_ERROR_UNSUPPORTED ||
        error->code == PM_ERROR_LIMIT)
        pm_left_alone_note(NULL, records->device->instance->game, pm_canonicalize_recipe(),
                           &raw->digest, error->message);
}

/* What the game calls the shader's module, for people; under the raw's lock. */
static void keep_name(struct pm_shader_records *records, struct pm_raw_shader *raw,
                      const struct pm_asked_shader *asked)
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
static bool find_key(struct pm_shader_records *records, struct pm_raw_shader *raw,
                     const struct pm_asked_shader *asked)
{
    if (raw->record) {
        raw->key = raw->record->key;
    } else if (!records->store || !pm_shader_store_find(records->store, pm_canonicalize_recipe(),
                                                        &raw->digest, &raw->key, NULL)) {
        struct pm_words canonical;
        struct pm_error error = {0};
        if (!pm_shader_canonicalize(records->device, records->store, &raw->digest, asked,
                                    &canonical, &error)) {
            raw->tried = true;
            leave_alone(records, raw, &error);
            return false;
        }
        raw->key = pm_shader_key_compute(pm_canonicalize_recipe(), canonical.data, canonical.count);
        pm_words_finish(&canonical);
    }
    return raw->keyed = true;
}

static void make_record(struct pm_shader_records *records, struct pm_raw_shader *raw,
                        const struct pm_asked_shader *asked)
{
    struct pm_words canonical;
    struct pm_error error = {0};
    raw->tried = true;
    if (pm_shader_may_do_without_casts(records->device, &asked->words, &error) &&
        pm_shader_canonicalize(records->device, records->store, &raw->digest, asked, &canonical,
                               &error)) {
        if (pm_shader_may_be_changed(records->device, &canonical, &error))
            raw->record = add_record(records, asked->request, &canonical, &error);
        else
            pm_words_finish(&canonical);
    }
    if (!raw->record)
        leave_alone(records, raw, &error);
}

static void finish_asked(struct pm_asked_shader *asked)
{
    pm_words_finish(&asked->words);
    pm_spec_values_finish(&asked->set);
}

/* The entry of what a request asks for, with *asked filled in. NULL: *error says why. */
static struct pm_raw_shader *get_requested(struct pm_shader_records *records,
                                           const struct pm_shader_request *request,
                                           struct pm_asked_shader *asked, struct pm_error *error)
{
    struct pm_spec_values used;
    *asked = (struct pm_asked_shader){.request = request};
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
    struct pm_raw_shader *raw = get_raw(records, &digest, request->subgroup_size);
    if (!raw) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory to remember a shader");
        finish_asked(asked);
    }
    return raw;
}

struct pm_shader_record *pm_shader_records_get(struct pm_shader_records *records,
                                               const struct pm_shader_request *request, bool *first,
                                               struct pm_error *error)
{
    struct pm_asked_shader asked;
    *first = true;
    struct pm_raw_shader *raw = get_requested(records, request, &asked, error);
    if (!raw)
        return NULL;
    pthread_mutex_lock(&raw->lock);
    *first = !raw->tried;
    if (!raw->tried)
        make_record(records, raw, &asked);
    struct pm_shader_record *record = raw->record;
    if (record && !raw->named) /* it may be named after its first pipeline was made */
        keep_name(records, raw, &asked);
    if (!record)
        pm_error_recall(raw->error, error);
    pthread_mutex_unlock(&raw->lock);
    finish_asked(&asked);
    return record;
}

bool pm_shader_records_key(struct pm_shader_records *records,
                           const struct pm_shader_request *request, struct pm_shader_key *key,
                           bool *first, struct pm_error *error)
{
    struct pm_asked_shader asked;
    *first = true;
    struct pm_raw_shader *raw = get_requested(records, request, &asked, error);
    if (!raw)
        return false;
    pthread_mutex_lock(&raw->lock);
    *first = !raw->tried && !raw->keyed;
    const bool found =
        raw->keyed || ((!raw->tried || raw->record) && find_key(records, raw, &asked));
    *key = raw->key;
    if (!found)
        pm_error_recall(raw->error, error);
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

static bool lock(struct pm_raw_shader *raw, const struct pm_shader_request *request)
{
    return (request->waits ? pthread_mutex_lock : pthread_mutex_trylock)(&raw->lock) == 0;
}

bool pm_shader_records_known(struct pm_shader_records *records,
                             const struct pm_shader_request *request, struct pm_shader_key *key)
{
    struct pm_asked_shader asked;
    struct pm_raw_shader *raw = get_requested(records, request, &asked, NULL);
    if (!raw)
        return false;
    finish_asked(&asked);
    if (!lock(raw, request))
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

bool pm_shader_records_allow(struct pm_shader_records *records,
                             const struct pm_shader_request *request)
{
    struct pm_asked_shader asked;
    if (!pm_shader_casts_matter(records->device))
        return true;
    struct pm_raw_shader *raw = get_requested(records, request, &asked, NULL);
    if (!raw)
        return false;
    bool allowed = false;
    if (lock(raw, request)) {
        if (!raw->looked && !raw->tried)
            raw->allowed = pm_shader_may_do_without_casts(records->device, &asked.words, NULL);
        raw->looked = true;
        allowed = raw->tried ? raw->record != NULL : raw->allowed;
        pthread_mutex_unlock(&raw->lock);
    }
    finish_asked(&asked);
    return allowed;
}
