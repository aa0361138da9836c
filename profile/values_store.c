#include "profile/values_store.h"

#include "base/file.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "piecemeal values 1 "

enum {
    MOST_BYTES = 1 << 20, /* of a file: some 10,000 words */
    MOST_SHADERS = 4096,
    MOST_WORDS = 1 << 16, /* of a shader */
};
/* Loads from which on the past is halved: what changes with a patch of the game wins in time. */
#define OLD_LOADS (UINT64_C(1) << 24)

struct shader {
    struct pm_shader_key key;
    uint32_t space;
    struct pm_word_values *found; /* `space` words, of the sessions before */
    struct pm_word_values *seen;  /* likewise, of this one; NULL: nothing was put */
};

struct pm_values_store {
    char *path;
    char *recipe;
    pthread_mutex_t lock; /* all below, but for what shaders have found */
    struct shader **shaders;
    uint32_t count, found_count;
    bool changed;
};

/* ---- shaders ---- */

static void destroy_shader(struct shader *shader)
{
    if (shader == NULL)
        return;
    free(shader->found);
    free(shader->seen);
    free(shader);
}

static struct shader *find(const struct pm_values_store *store, const struct pm_shader_key *key,
                           uint32_t space)
{
    for (uint32_t i = 0; i < store->count; i++)
        if (store->shaders[i]->space == space && pm_shader_key_equal(&store->shaders[i]->key, key))
            return store->shaders[i];
    return NULL;
}

/* NULL: out of memory, or there are too many. */
static struct shader *add(struct pm_values_store *store, const struct pm_shader_key *key,
                          uint32_t space)
{
    if (store->count == MOST_SHADERS || space == 0 || space > MOST_WORDS)
        return NULL;
    struct shader **shaders =
        reallocarray(store->shaders, store->count + 1u, sizeof(*store->shaders));
    if (shaders == NULL)
        return NULL;
    store->shaders = shaders;
    struct shader *shader = calloc(1, sizeof(*shader));
    if (shader == NULL)
        return NULL;
    shader->key = *key;
    shader->space = space;
    shader->found = calloc(space, sizeof(*shader->found));
    if (shader->found == NULL) {
        destroy_shader(shader);
        return NULL;
    }
    return store->shaders[store->count++] = shader;
}

/* ---- reading ---- */

/* "KEY SPACE POINT LOADS ZEROS VALUE:COUNT…" */
static void take_line(struct pm_values_store *store, const char *line)
{
    char text[PM_SHADER_KEY_TEXT];
    struct pm_shader_key key;
    uint32_t space, point;
    struct pm_word_values values = {0};
    int end = 0;
    if (sscanf(line, "%48s %" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu64 "%n", text, &space, &point,
               &values.loads, &values.zeros, &end) != 5 ||
        !pm_shader_key_parse(text, &key) || point >= space)
        return;
    uint64_t sum = 0;
    for (line += end; values.count < PM_VALUES_KEPT; line += end) {
        struct pm_value_count *kept = &values.kept[values.count];
        if (sscanf(line, " %" SCNx32 ":%" SCNu64 "%n", &kept->value, &kept->count, &end) != 2)
            break;
        values.count++;
        values.same = kept->count > values.same ? kept->count : values.same;
        if (kept->count > values.loads - sum)
            return;
        sum += kept->count;
    }
    struct shader *shader = find(store, &key, space);
    if (shader == NULL)
        shader = add(store, &key, space);
    if (shader != NULL && values.zeros <= values.loads)
        shader->found[point] = values;
}

static void take_text(struct pm_values_store *store, char *text)
{
    char *next = NULL, *line = strtok_r(text, "\n", &next);
    if (line == NULL || strncmp(line, HEAD, strlen(HEAD)) != 0 ||
        strcmp(line + strlen(HEAD), store->recipe) != 0)
        return;
    while ((line = strtok_r(NULL, "\n", &next)))
        take_line(store, line);
}

/* Nothing where there is no file, or it cannot be read. */
static void read_file(struct pm_values_store *store)
{
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES + 1);
    if (pm_file_read(store->path, &text, NULL) && pm_buffer_append(&text, "", 1))
        take_text(store, (char *)text.data);
    pm_buffer_finish(&text);
}

static struct pm_values_store *create(const char *path, const char *recipe)
{
    struct pm_values_store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        return NULL;
    store->path = strdup(path);
    store->recipe = strdup(recipe);
    pthread_mutex_init(&store->lock, NULL);
    if (store->path == NULL || store->recipe == NULL) {
        pm_values_store_close(store);
        return NULL;
    }
    read_file(store);
    store->found_count = store->count;
    return store;
}

struct pm_values_store *pm_values_store_open(const char *folder, const char *game,
                                             const char *recipe)
{
    char *place = folder ? strdup(folder) : pm_place_path(PM_PLACE_DATA, "values");
    char *safe = pm_file_safe_name(game), *path = NULL;
    if (place == NULL || safe == NULL || asprintf(&path, "%s/%s", place, safe) < 0)
        path = NULL;
    struct pm_values_store *store = path ? create(path, recipe) : NULL;
    free(path);
    free(safe);
    free(place);
    return store;
}

void pm_values_store_close(struct pm_values_store *store)
{
    if (store == NULL)
        return;
    for (uint32_t i = 0; i < store->count; i++)
        destroy_shader(store->shaders[i]);
    free(store->shaders);
    free(store->path);
    free(store->recipe);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

bool pm_values_store_has_any(const struct pm_values_store *store)
{
    return store->found_count > 0;
}

bool pm_values_store_knows(const struct pm_values_store *store, const struct pm_shader_key *key)
{
    /* What was found comes first, and stays as it is. */
    struct pm_values_store *mutable = (struct pm_values_store *)(uintptr_t)store;
    bool knows = false;
    pthread_mutex_lock(&mutable->lock);
    for (uint32_t i = 0; i < store->found_count && !knows; i++)
        knows = pm_shader_key_equal(&store->shaders[i]->key, key);
    pthread_mutex_unlock(&mutable->lock);
    return knows;
}

const struct pm_word_values *pm_values_store_find(const struct pm_values_store *store,
                                                  const struct pm_shader_key *key, uint32_t space)
{
    struct pm_values_store *mutable = (struct pm_values_store *)(uintptr_t)store;
    pthread_mutex_lock(&mutable->lock);
    const struct shader *shader = find(store, key, space);
    pthread_mutex_unlock(&mutable->lock);
    return shader != NULL ? shader->found : NULL;
}

bool pm_values_store_put(struct pm_values_store *store, const struct pm_shader_key *key,
                         uint32_t space, const struct pm_word_values *words)
{
    pthread_mutex_lock(&store->lock);
    struct shader *shader = find(store, key, space);
    if (shader == NULL)
        shader = add(store, key, space);
    if (shader != NULL && shader->seen == NULL)
        shader->seen = calloc(space, sizeof(*shader->seen));
    const bool kept = shader != NULL && shader->seen != NULL;
    if (kept) {
        memcpy(shader->seen, words, space * sizeof(*words));
        store->changed = true;
    }
    pthread_mutex_unlock(&store->lock);
    return kept;
}

/* ---- writing ---- */

/* What was found and what was seen. */
static struct pm_word_values sum_of(const struct shader *shader, uint32_t point)
{
    struct pm_word_values sum = shader->found[point];
    while (sum.loads > OLD_LOADS)
        pm_word_values_age(&sum);
    if (shader->seen == NULL || shader->seen[point].loads == 0)
        return sum;
    const struct pm_word_values *seen = &shader->seen[point];
    uint64_t known = 0;
    for (uint32_t i = 0; i < seen->count; i++) {
        pm_word_values_add(&sum, seen->kept[i].value, seen->kept[i].count);
        known += seen->kept[i].count;
    }
    pm_word_values_add_others(&sum, seen->loads - known);
    return sum;
}

static bool put_word(struct pm_buffer *text, const struct shader *shader, uint32_t point)
{
    const struct pm_word_values values = sum_of(shader, point);
    char key[PM_SHADER_KEY_TEXT], line[PM_SHADER_KEY_TEXT + 96 + PM_VALUES_KEPT * 32];
    if (values.loads == 0)
        return true;
    pm_shader_key_format(&shader->key, key);
    int size = snprintf(line, sizeof(line), "%s %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64, key,
                        shader->space, point, values.loads, values.zeros);
    for (uint32_t i = 0; i < values.count; i++)
        size += snprintf(line + size, sizeof(line) - (size_t)size, " %" PRIx32 ":%" PRIu64,
                         values.kept[i].value, values.kept[i].count);
    return pm_buffer_append(text, line, (size_t)size) && pm_buffer_append(text, "\n", 1);
}

/* All of it or nothing. */
static void put_shader(struct pm_buffer *text, const struct shader *shader)
{
    const size_t before = text->size;
    bool put = true;
    for (uint32_t i = 0; put && i < shader->space; i++)
        put = put_word(text, shader, i);
    if (!put)
        text->size = before;
}

/* What other processes wrote of shaders that are not known here. Under the lock. */
static void put_others(struct pm_buffer *text, const struct pm_values_store *store)
{
    struct pm_values_store *now = create(store->path, store->recipe);
    for (uint32_t i = 0; now != NULL && i < now->count; i++)
        if (!find(store, &now->shaders[i]->key, now->shaders[i]->space))
            put_shader(text, now->shaders[i]);
    pm_values_store_close(now);
}

bool pm_values_store_save(struct pm_values_store *store, struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, MOST_BYTES);
    pthread_mutex_lock(&store->lock);
    bool saved = !store->changed;
    if (!saved) {
        pm_buffer_append_string(&text, HEAD);
        pm_buffer_append_string(&text, store->recipe);
        pm_buffer_append(&text, "\n", 1);
        /* First what this session has seen: the last do not fit. */
        for (uint32_t i = 0; i < store->count; i++)
            if (store->shaders[i]->seen != NULL)
                put_shader(&text, store->shaders[i]);
        put_others(&text, store);
        for (uint32_t i = 0; i < store->count; i++)
            if (store->shaders[i]->seen == NULL)
                put_shader(&text, store->shaders[i]);
        char *slash = strrchr(store->path, '/');
        *slash = 0;
        const bool folder = pm_make_folder(store->path, error);
        *slash = '/';
        saved = folder && pm_file_put(store->path, text.data, text.size, error);
        store->changed = !saved;
    }
    pthread_mutex_unlock(&store->lock);
    pm_buffer_finish(&text);
    return saved;
}
