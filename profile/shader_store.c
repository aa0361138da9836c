#include "profile/shader_store.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/folder_cap.h"
#include "base/utf8.h"
#include "profile/profile.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[8] = {'P', 'M', 'S', 'H', 'D', 'R', '0', '2'};

enum {
    MOST_FILE_BYTES = 64 << 20,
    MOST_TEXT_BYTES = 4096, /* a recipe or an entry point's name */
    RAW_FILE_BYTES = 256,
};

/* What a frame starts with; the contents follow in the same order, texts padded with zeros to 4
 * bytes. */
struct head {
    uint32_t recipe_bytes, entry_point_bytes; /* without a terminator */
    uint32_t stage, target;
    uint32_t spec_value_count, original_count, canonical_count;
};

struct stored_value {
    uint32_t spec_id, size, low, high;
};

struct pm_shader_store {
    char *folder, *raw_folder;
    uint64_t cap;
    pthread_mutex_t lock; /* used, measured */
    uint64_t used; /* bytes on the disk; what other processes add is seen when measured again */
    bool measured;
};

struct pm_shader_store *pm_shader_store_open(const char *folder, uint64_t cap_bytes)
{
    struct pm_shader_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    pthread_mutex_init(&store->lock, NULL);
    store->cap = cap_bytes;
    store->folder = folder ? strdup(folder) : pm_place_path(PM_PLACE_DATA, "shaders");
    if (store->folder && asprintf(&store->raw_folder, "%s/raw", store->folder) < 0)
        store->raw_folder = NULL;
    if (store->raw_folder)
        return store;
    pm_shader_store_close(store);
    return NULL;
}

void pm_shader_store_close(struct pm_shader_store *store)
{
    if (!store)
        return;
    pthread_mutex_destroy(&store->lock);
    free(store->folder);
    free(store->raw_folder);
    free(store);
}

static bool no_memory(struct pm_error *error)
{
    return pm_fail(error, PM_ERROR_MEMORY, "no memory for the shader store");
}

/* "<folder>/<key><suffix>"; malloc'ed. */
static char *path_of(const char *folder, const struct pm_shader_key *key, const char *suffix)
{
    char text[PM_SHADER_KEY_TEXT], *path;
    pm_shader_key_format(key, text);
    return asprintf(&path, "%s/%s%s", folder, text, suffix) < 0 ? NULL : path;
}

/* ---- reading ---- */

/* Reads a file and marks it as used now. PM_ERROR_STATE: there is none. */
static bool read_used(const char *path, struct pm_buffer *out, struct pm_error *error)
{
    if (access(path, F_OK) != 0)
        return pm_fail(error, PM_ERROR_STATE, "%s: not in the shader store", path);
    if (!pm_file_read(path, out, error))
        return false;
    pm_file_used(path);
    return true;
}

bool pm_shader_store_find(struct pm_shader_store *store, const char *recipe,
                          const struct pm_shader_key *digest, struct pm_shader_key *key,
                          struct pm_error *error)
{
    char *path = path_of(store->raw_folder, digest, "");
    if (!path)
        return no_memory(error);
    struct pm_buffer text;
    pm_buffer_init(&text, RAW_FILE_BYTES);
    bool found = read_used(path, &text, error);
    if (found) {
        /* "recipe\nkey\n" */
        const size_t recipe_size = strlen(recipe);
        const size_t key_at = recipe_size + 1;
        char *bytes = (char *)text.data;
        found = text.size == key_at + PM_SHADER_KEY_TEXT &&
                memcmp(bytes, recipe, recipe_size) == 0 && bytes[recipe_size] == '\n' &&
                bytes[text.size - 1] == '\n';
        if (found) {
            bytes[text.size - 1] = '\0';
            found = pm_shader_key_parse(bytes + key_at, key);
        }
        if (!found)
            pm_fail(error, PM_ERROR_STATE, "%s: of another recipe, or damaged", path);
    }
    pm_buffer_finish(&text);
    free(path);
    return found;
}

/* Takes size bytes off what is left. */
static const void *take(const unsigned char **at, size_t *left, uint64_t size)
{
    if (size > *left)
        return NULL;
    const void *taken = *at;
    *at += size;
    *left -= (size_t)size;
    return taken;
}

/* A text and its padding; NULL: not there, too long, or with a zero in it. */
static const char *take_text(const unsigned char **at, size_t *left, uint32_t bytes,
                             struct pm_arena *arena)
{
    const char *text =
        bytes <= MOST_TEXT_BYTES ? take(at, left, ((uint64_t)bytes + 3) & ~UINT64_C(3)) : NULL;
    if (!text || memchr(text, 0, bytes))
        return NULL;
    char *copy = pm_arena_zalloc(arena, bytes + 1, 1);
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

static bool take_values(const unsigned char **at, size_t *left, uint32_t count,
                        struct pm_arena *arena, struct pm_stored_shader *shader)
{
    const unsigned char *stored = take(at, left, (uint64_t)count * sizeof(struct stored_value));
    struct pm_spec_value *values =
        stored ? pm_arena_zalloc(arena, count ? count : 1, sizeof *values) : NULL;
    if (!values)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct stored_value value;
        memcpy(&value, stored + i * sizeof value, sizeof value);
        values[i] = (struct pm_spec_value){
            .spec_id = value.spec_id,
            .size = value.size,
            .bits = (uint64_t)value.high << 32 | value.low,
        };
        if (value.size != 4 && value.size != 8)
            return false;
    }
    shader->spec_values = values;
    shader->spec_value_count = count;
    return true;
}

static const uint32_t *take_words(const unsigned char **at, size_t *left, uint32_t count,
                                  struct pm_arena *arena)
{
    const void *words = take(at, left, (uint64_t)count * sizeof(uint32_t));
    return words ? pm_arena_dup(arena, words, (size_t)count * sizeof(uint32_t)) : NULL;
}

static bool parse_contents(const unsigned char *at, size_t left, struct pm_arena *arena,
                           struct pm_stored_shader *shader, struct pm_error *error)
{
    struct head head;
    const void *start = take(&at, &left, sizeof head);
    if (!start)
        return pm_fail(error, PM_ERROR_INPUT, "a shader's file ends in its head");
    memcpy(&head, start, sizeof head);
    shader->stage = head.stage;
    shader->target = head.target;
    shader->original_count = head.original_count;
    shader->canonical_count = head.canonical_count;
    if (!(shader->recipe = take_text(&at, &left, head.recipe_bytes, arena)))
        return pm_fail(error, PM_ERROR_INPUT, "a shader's file: its recipe is damaged");
    if (!(shader->entry_point = take_text(&at, &left, head.entry_point_bytes, arena)))
        return pm_fail(error, PM_ERROR_INPUT, "a shader's file: its entry point is damaged");
    if (!take_values(&at, &left, head.spec_value_count, arena, shader))
        return pm_fail(error, PM_ERROR_INPUT, "a shader's file: its constants are damaged");
    if (!(shader->original = take_words(&at, &left, head.original_count, arena)))
        return pm_fail(error, PM_ERROR_INPUT, "a shader's file ends in its original words");
    if (!(shader->canonical = take_words(&at, &left, head.canonical_count, arena)))
        return pm_fail(error, PM_ERROR_INPUT, "a shader's file ends in its canonical words");
    if (left != 0)
        return pm_fail(error, PM_ERROR_INPUT, "a shader's file has %zu bytes too many", left);
    shader->key = pm_shader_key_compute(shader->recipe, shader->canonical, shader->canonical_count);
    return true;
}

bool pm_stored_shader_parse(const void *data, size_t size, const struct pm_shader_key *key,
                            struct pm_arena *arena, struct pm_stored_shader *shader,
                            struct pm_error *error)
{
    *shader = (struct pm_stored_shader){.name = ""};
    if (size < sizeof magic || memcmp(data, magic, sizeof magic) != 0)
        return pm_fail(error, PM_ERROR_INPUT, "not a file of this version of the shader store");
    struct pm_buffer contents;
    pm_buffer_init(&contents, MOST_FILE_BYTES);
    const bool parsed =
        pm_decompress((const char *)data + sizeof magic, size - sizeof magic, &contents, error) &&
        parse_contents(contents.data, contents.size, arena, shader, error);
    pm_buffer_finish(&contents);
    if (parsed && key && !pm_shader_key_equal(key, &shader->key))
        return pm_fail(error, PM_ERROR_INPUT, "a shader's words do not have the key of its file");
    return parsed;
}

/* The name that is kept; "": none. NULL: out of memory. */
static const char *read_name(const struct pm_shader_store *store, const struct pm_shader_key *key,
                             struct pm_arena *arena)
{
    char *path = path_of(store->folder, key, ".name");
    struct pm_buffer text;
    pm_buffer_init(&text, PM_SHADER_NAME_BYTES + 1);
    const bool found = path && access(path, F_OK) == 0 && pm_file_read(path, &text, NULL) &&
                       pm_buffer_append(&text, "", 1);
    const char *name = pm_arena_strdup(arena, found ? (const char *)text.data : "");
    pm_buffer_finish(&text);
    free(path);
    return name;
}

bool pm_shader_store_read(struct pm_shader_store *store, const struct pm_shader_key *key,
                          struct pm_arena *arena, struct pm_stored_shader *shader,
                          struct pm_error *error)
{
    char *path = path_of(store->folder, key, ".pmshader");
    if (!path)
        return no_memory(error);
    struct pm_buffer file;
    pm_buffer_init(&file, MOST_FILE_BYTES);
    bool done = read_used(path, &file, error);
    if (done && !pm_stored_shader_parse(file.data, file.size, key, arena, shader, error)) {
        done = pm_fail_prefix(error, "%s", path);
        if (store->cap > 0 && error && error->code == PM_ERROR_INPUT)
            (void)unlink(path); /* or it would never be written again */
    }
    if (done && !(shader->name = read_name(store, key, arena)))
        done = no_memory(error);
    pm_buffer_finish(&file);
    free(path);
    return done;
}

/* ---- the cap ---- */

/* Measures what is on the disk and removes the longest unused until bytes more fit; the lock is
 * held. */
static void make_room(struct pm_shader_store *store, uint64_t bytes)
{
    if (store->measured && store->used + bytes <= store->cap)
        return;
    const char *const folders[] = {store->folder, store->raw_folder};
    store->used = pm_folders_shrink(folders, 2, store->cap, bytes);
    store->measured = true;
}

/* ---- writing ---- */

static bool write_file(struct pm_shader_store *store, const char *path,
                       const struct pm_buffer *bytes, struct pm_error *error)
{
    if (!path)
        return no_memory(error);
    const uint64_t blocks = (bytes->size + 4095) & ~UINT64_C(4095);
    pthread_mutex_lock(&store->lock);
    make_room(store, blocks);
    const bool fits = store->used + blocks <= store->cap;
    if (fits)
        store->used += blocks;
    pthread_mutex_unlock(&store->lock);
    if (!fits)
        return pm_fail(error, PM_ERROR_LIMIT, "%s: limits.shader_store_mib is too small for it",
                       path);
    return pm_file_put(path, bytes->data, bytes->size, error);
}

static bool append_text(struct pm_buffer *out, const char *text)
{
    const size_t bytes = strlen(text);
    return pm_buffer_append(out, text, bytes) &&
           pm_buffer_append(out, "\0\0\0", (4 - bytes % 4) % 4);
}

static bool append_contents(struct pm_buffer *out, const struct pm_stored_shader *shader)
{
    const struct head head = {
        .recipe_bytes = (uint32_t)strlen(shader->recipe),
        .entry_point_bytes = (uint32_t)strlen(shader->entry_point),
        .stage = shader->stage,
        .target = shader->target,
        .spec_value_count = (uint32_t)shader->spec_value_count,
        .original_count = (uint32_t)shader->original_count,
        .canonical_count = (uint32_t)shader->canonical_count,
    };
    bool done = pm_buffer_append(out, &head, sizeof head) && append_text(out, shader->recipe) &&
                append_text(out, shader->entry_point);
    for (size_t i = 0; done && i < shader->spec_value_count; i++) {
        const struct pm_spec_value *from = &shader->spec_values[i];
        const struct stored_value value = {from->spec_id, from->size, (uint32_t)from->bits,
                                           (uint32_t)(from->bits >> 32)};
        done = pm_buffer_append(out, &value, sizeof value);
    }
    return done &&
           pm_buffer_append(out, shader->original, shader->original_count * sizeof(uint32_t)) &&
           pm_buffer_append(out, shader->canonical, shader->canonical_count * sizeof(uint32_t));
}

static bool write_shader(struct pm_shader_store *store, const struct pm_stored_shader *shader,
                         struct pm_error *error)
{
    char *path = path_of(store->folder, &shader->key, ".pmshader");
    if (path && access(path, F_OK) == 0) {
        free(path);
        return true;
    }
    struct pm_buffer contents, file;
    pm_buffer_init(&contents, MOST_FILE_BYTES);
    pm_buffer_init(&file, MOST_FILE_BYTES);
    bool done = append_contents(&contents, shader) && pm_buffer_append(&file, magic, sizeof magic);
    if (!done)
        pm_fail(error, PM_ERROR_LIMIT, "a shader of %zu words is too large for the shader store",
                shader->original_count);
    done = done && pm_compress(contents.data, contents.size, &file, error) &&
           write_file(store, path, &file, error);
    free(path);
    pm_buffer_finish(&file);
    pm_buffer_finish(&contents);
    return done;
}

bool pm_shader_store_write(struct pm_shader_store *store, const struct pm_shader_key *digest,
                           const struct pm_stored_shader *shader, struct pm_error *error)
{
    if (!pm_make_folder(store->raw_folder, error) || !write_shader(store, shader, error))
        return false;
    struct pm_buffer text;
    pm_buffer_init(&text, RAW_FILE_BYTES);
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->key, key);
    char *path = path_of(store->raw_folder, digest, "");
    const bool done =
        pm_buffer_printf(&text, "%s\n%s\n", shader->recipe, key)
            ? write_file(store, path, &text, error)
            : pm_fail(error, PM_ERROR_LIMIT, "too long a recipe for the shader store");
    free(path);
    pm_buffer_finish(&text);
    return done;
}

bool pm_shader_store_name(struct pm_shader_store *store, const struct pm_shader_key *key,
                          const char *name, struct pm_error *error)
{
    struct pm_buffer before, text;
    const size_t length = strlen(name);
    const size_t size =
        pm_utf8_check_line(name, length < PM_SHADER_NAME_BYTES ? length : PM_SHADER_NAME_BYTES);
    char *path = path_of(store->folder, key, ".name");
    pm_buffer_init(&before, PM_SHADER_NAME_BYTES);
    pm_buffer_init(&text, PM_SHADER_NAME_BYTES);
    const bool same = path && access(path, F_OK) == 0 && pm_file_read(path, &before, NULL) &&
                      before.size == size && memcmp(before.data, name, size) == 0;
    const bool done = size == 0 || same ||
                      (pm_make_folder(store->raw_folder, error) &&
                       (pm_buffer_append(&text, name, size) || no_memory(error)) &&
                       write_file(store, path, &text, error));
    free(path);
    pm_buffer_finish(&before);
    pm_buffer_finish(&text);
    return done;
}

/* ---- other files ---- */

bool pm_shader_store_has(struct pm_shader_store *store, const struct pm_shader_key *key,
                         const char *suffix)
{
    char *path = path_of(store->folder, key, suffix);
    const bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

bool pm_shader_store_put(struct pm_shader_store *store, const struct pm_shader_key *key,
                         const char *suffix, const struct pm_buffer *bytes, struct pm_error *error)
{
    char *path = path_of(store->folder, key, suffix);
    const bool done =
        pm_make_folder(store->raw_folder, error) && write_file(store, path, bytes, error);
    free(path);
    return done;
}

bool pm_shader_store_get(struct pm_shader_store *store, const struct pm_shader_key *key,
                         const char *suffix, struct pm_buffer *out, struct pm_error *error)
{
    char *path = path_of(store->folder, key, suffix);
    const bool done = path ? read_used(path, out, error) : no_memory(error);
    free(path);
    return done;
}
