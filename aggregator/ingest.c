/*
 * Taking profiles in: one transaction for many. The statistics of the whole group are added up in
 * memory first, so that a shader that many uploads speak of is written once.
 */
#include "aggregator/aggregator_private.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of statistics held in memory before they go to the storage, inside the same transaction. */
#define GROUP_BYTES ((size_t)64 << 20)
/* Points that one profile's shaders may have in all: a space costs an uploader nothing, but
 * everyone else memory. */
#define PROFILE_SPACE ((uint64_t)1 << 22)

struct group_entry {
    struct pm_storage_key key; /* its strings are the profiles' */
    struct pm_statistics statistics;
};

struct group {
    struct pm_aggregator *aggregator;
    uint32_t day;
    void *tree; /* tsearch(3): a balanced tree, since uploaders choose the keys */
    struct group_entry **entries;
    size_t count, allocated, bytes;
};

static int compare_keys(const void *a, const void *b)
{
    const struct pm_storage_key *left = &((const struct group_entry *)a)->key;
    const struct pm_storage_key *right = &((const struct group_entry *)b)->key;
    int order = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    if (order == 0)
        order = memcmp(&left->environment, &right->environment, sizeof(left->environment));
    if (order == 0)
        order = (left->kind > right->kind) - (left->kind < right->kind);
    if (order == 0)
        order = (left->flags > right->flags) - (left->flags < right->flags);
    if (order == 0)
        order = strcmp(left->game, right->game);
    return order != 0 ? order : strcmp(left->scene, right->scene);
}

static void forget(void *node)
{
    (void)node; /* the entries are freed through their array */
}

static void group_clear(struct group *group)
{
    tdestroy(group->tree, forget);
    group->tree = NULL;
    for (size_t i = 0; i < group->count; i++) {
        pm_statistics_finish(&group->entries[i]->statistics);
        free(group->entries[i]);
    }
    group->count = 0;
    group->bytes = 0;
}

static void group_finish(struct group *group)
{
    group_clear(group);
    free(group->entries);
}

static struct group_entry *entry_of(struct group *group, const struct pm_storage_key *key)
{
    struct group_entry wanted = {.key = *key};
    struct group_entry **found = tfind(&wanted, &group->tree, compare_keys);
    if (found)
        return *found;
    if (group->count == group->allocated) {
        const size_t allocated = group->allocated ? group->allocated * 2 : 64;
        struct group_entry **entries = realloc(group->entries, allocated * sizeof(*entries));
        if (!entries)
            return NULL;
        group->entries = entries;
        group->allocated = allocated;
    }
    struct group_entry *entry = calloc(1, sizeof(*entry));
    if (!entry)
        return NULL;
    entry->key = *key;
    pm_statistics_init(&entry->statistics);
    if (!tsearch(entry, &group->tree, compare_keys)) {
        free(entry);
        return NULL;
    }
    group->entries[group->count++] = entry;
    return entry;
}

/* Hands everything to the storage, in its transaction, and forgets it. */
static bool group_flush(struct group *group, struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    bool done = true;
    struct pm_buffer blob;
    pm_buffer_init(&blob, PM_STATISTICS_BLOB_CAP);
    for (size_t i = 0; done && i < group->count; i++) {
        const struct group_entry *entry = group->entries[i];
        blob.size = 0;
        done = pm_statistics_encode(&entry->statistics, &blob, error) &&
               storage->operations->add_blob(storage, &entry->key, blob.data, blob.size, error);
    }
    pm_buffer_finish(&blob);
    group_clear(group);
    return done;
}

/* ---- one profile ---- */

static bool is_refusal(const struct pm_error *error)
{
    return error->code == PM_ERROR_INPUT || error->code == PM_ERROR_UNSUPPORTED;
}

static bool fail_shader(struct pm_error *error, const struct pm_shader_key *key)
{
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(key, text);
    return pm_fail_prefix(error, "shader %s", text);
}

static int compare_shaders(const void *a, const void *b)
{
    const struct pm_shader_profile *left = *(const struct pm_shader_profile *const *)a;
    const struct pm_shader_profile *right = *(const struct pm_shader_profile *const *)b;
    int order = memcmp(left->key.bytes, right->key.bytes, PM_SHADER_KEY_BYTES);
    if (order == 0)
        order = (left->kind > right->kind) - (left->kind < right->kind);
    if (order == 0)
        order = memcmp(&left->environment, &right->environment, sizeof(left->environment));
    return order != 0 ? order : (left->flags > right->flags) - (left->flags < right->flags);
}

/* A shader that is there twice would be two clusters; spaces within one profile must agree too. */
static bool check_repeats(const struct pm_profile *profile, struct pm_error *error)
{
    const struct pm_shader_profile **sorted = calloc(profile->shader_count + 1, sizeof(*sorted));
    if (!sorted)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders",
                       profile->shader_count);
    for (size_t i = 0; i < profile->shader_count; i++)
        sorted[i] = &profile->shaders[i];
    qsort(sorted, profile->shader_count, sizeof(*sorted), compare_shaders);
    bool done = true;
    for (size_t i = 1; done && i < profile->shader_count; i++) {
        const struct pm_shader_profile *before = sorted[i - 1], *now = sorted[i];
        if (compare_shaders(&sorted[i - 1], &sorted[i]) == 0) {
            pm_fail(error, PM_ERROR_INPUT, "key: is there twice");
            done = fail_shader(error, &now->key);
        } else if (pm_shader_key_equal(&before->key, &now->key) && before->kind == now->kind &&
                   before->space != now->space) {
            pm_fail(error, PM_ERROR_INPUT, "space: %" PRIu32 " and %" PRIu32 " in one profile",
                    before->space, now->space);
            done = fail_shader(error, &now->key);
        }
    }
    free(sorted);
    return done;
}

/* Everything about a profile that can be told without the storage. */
static bool check_profile(const struct pm_profile *profile, struct pm_error *error)
{
    uint64_t space = 0;
    if (!profile->game || profile->game[0] == 0)
        return pm_fail(error, PM_ERROR_INPUT, "game: is empty");
    for (size_t i = 0; i < profile->shader_count; i++) {
        if (!pm_statistics_check_profile(&profile->shaders[i], error))
            return fail_shader(error, &profile->shaders[i].key);
        space += profile->shaders[i].space;
    }
    if (space > PROFILE_SPACE)
        return pm_fail(error, PM_ERROR_INPUT, "space: %" PRIu64 " in all, which is above %" PRIu64,
                       space, PROFILE_SPACE);
    return check_repeats(profile, error);
}

/* Every blob of the shader is of a space that was a lie: also those that are still in memory. */
static bool replace_space(struct group *group, const char *game,
                          const struct pm_shader_profile *shader, uint32_t known,
                          struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, text);
    pm_log_warning(group->aggregator->log,
                   "\"%s\", shader %s: %" PRIu32
                   " points, as many clients say, and not the %" PRIu32
                   " known before: its profiles are deleted",
                   game, text, shader->space, known);
    return group_flush(group, error) &&
           storage->operations->replace_space(storage, game, &shader->key, shader->kind,
                                              shader->space, error);
}

/* false: the storage failed. *agrees false: the profile is to be refused, for *reason. All shaders
 * are looked at all the same, since each that disagrees is a claim. */
static bool check_spaces(struct group *group, const struct pm_profile *profile,
                         const struct pm_ingest_source *source, bool *agrees,
                         struct pm_error *reason, struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    *agrees = true;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        uint32_t known;
        bool wins = false;
        if (!storage->operations->find_space(storage, profile->game, &shader->key, shader->kind,
                                             &known, error))
            return false;
        if (known == 0 || known == shader->space)
            continue;
        if (source && !pm_claims_note(group->aggregator, profile->game, shader, source, group->day,
                                      known, &wins, error))
            return false;
        if (wins && !replace_space(group, profile->game, shader, known, error))
            return false;
        if (!wins && *agrees) {
            pm_fail(reason, PM_ERROR_INPUT,
                    "space: %" PRIu32 " does not agree with the %" PRIu32 " known before",
                    shader->space, known);
            *agrees = fail_shader(reason, &shader->key);
        }
    }
    return true;
}

static bool put_spaces(struct group *group, const struct pm_profile *profile,
                       const struct pm_ingest_source *source, struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        uint32_t known;
        bool wins;
        /* Asked again: one key may occur in a profile with several environments. */
        if (!storage->operations->find_space(storage, profile->game, &shader->key, shader->kind,
                                             &known, error) ||
            (known == 0 && !storage->operations->put_space(storage, profile->game, &shader->key,
                                                           shader->kind, shader->space, error)) ||
            (source && !pm_claims_note(group->aggregator, profile->game, shader, source, group->day,
                                       shader->space, &wins, error)))
            return false;
    }
    return true;
}

/* Bytes, near enough. */
static size_t held(const struct group_entry *entry)
{
    const struct pm_statistics *statistics = &entry->statistics;
    return statistics->count * sizeof(*statistics->points) + statistics->space / 8;
}

static bool keep(struct group *group, const struct pm_profile *profile,
                 const struct pm_ingest_source *source, struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    if (!put_spaces(group, profile, source, error) ||
        !storage->operations->add_uploads(storage, profile->game, 1, error))
        return false;
    for (size_t i = 0; i < profile->shader_count; i++) {
        const struct pm_shader_profile *shader = &profile->shaders[i];
        const struct pm_storage_key key = {.game = profile->game,
                                           .scene = profile->scene ? profile->scene : "",
                                           .key = shader->key,
                                           .environment = shader->environment,
                                           .kind = shader->kind,
                                           .flags = shader->flags,
                                           .day = group->day};
        struct group_entry *entry = entry_of(group, &key);
        if (!entry)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders", group->count);
        const size_t before = held(entry);
        if (!pm_statistics_add_profile(&entry->statistics, shader, error))
            return fail_shader(error, &shader->key);
        group->bytes += held(entry) - before;
        if (group->bytes >= GROUP_BYTES && !group_flush(group, error))
            return false;
    }
    return true;
}

/* false: the group fails as a whole. */
static bool take(struct group *group, const struct pm_profile *profile,
                 const struct pm_ingest_source *source, struct pm_ingest_outcome *outcome,
                 struct pm_error *error)
{
    struct pm_storage *storage = group->aggregator->storage;
    bool agrees, fresh;
    memset(outcome, 0, sizeof(*outcome));
    outcome->result = PM_INGEST_REFUSED;
    if (!check_profile(profile, &outcome->reason)) {
        if (!is_refusal(&outcome->reason) && error)
            *error = outcome->reason;
        return is_refusal(&outcome->reason);
    }
    if (!check_spaces(group, profile, source, &agrees, &outcome->reason, error))
        return false;
    if (!agrees)
        return true;
    if (!storage->operations->add_upload_id(storage, profile->upload_id, group->day, &fresh, error))
        return false;
    outcome->result = fresh ? PM_INGEST_STORED : PM_INGEST_DUPLICATE;
    if (!fresh)
        return true;
    outcome->uncounted =
        source && !pm_sources_count(group->aggregator->sources, source, profile->game);
    return outcome->uncounted || keep(group, profile, source, error);
}

static bool take_all(struct group *group, const struct pm_profile *const *profiles,
                     const struct pm_ingest_source *const *sources, size_t count,
                     struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct pm_aggregator *aggregator = group->aggregator;
    struct pm_storage *storage = aggregator->storage;
    if (!pm_aggregator_begin_epoch(aggregator, group->day, error) ||
        !storage->operations->begin(storage, error))
        return false;
    bool done = true;
    for (size_t i = 0; done && i < count; i++)
        done = take(group, profiles[i], sources ? sources[i] : NULL, &outcomes[i], error);
    done = done && group_flush(group, error);
    if (done)
        done = storage->operations->commit(storage, error);
    else
        storage->operations->rollback(storage);
    if (done) {
        pm_sources_keep(aggregator->sources);
    } else {
        pm_sources_undo(aggregator->sources);
        pm_claims_forget(aggregator->claims);
    }
    return done;
}

bool pm_aggregator_ingest_from(struct pm_aggregator *aggregator,
                               const struct pm_profile *const *profiles,
                               const struct pm_ingest_source *const *sources, size_t count,
                               struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    struct group group = {.aggregator = aggregator};
    pthread_mutex_lock(&aggregator->write_mutex);
    group.day = pm_aggregator_today(aggregator);
    const bool done = take_all(&group, profiles, sources, count, outcomes, error);
    pthread_mutex_unlock(&aggregator->write_mutex);
    group_finish(&group);
    for (size_t i = 0; done && i < count; i++) {
        if (outcomes[i].result == PM_INGEST_REFUSED)
            pm_quarantine_add_profile(aggregator, profiles[i], outcomes[i].reason.message);
    }
    return done;
}

bool pm_aggregator_ingest(struct pm_aggregator *aggregator,
                          const struct pm_profile *const *profiles, size_t count,
                          struct pm_ingest_outcome *outcomes, struct pm_error *error)
{
    return pm_aggregator_ingest_from(aggregator, profiles, NULL, count, outcomes, error);
}
