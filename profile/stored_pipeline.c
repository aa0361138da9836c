#include "profile/stored_pipeline.h"

#include "profile/fossilize.h"
#include "profile/profile.h"
#include <string.h>

static const char magic[8] = {'P', 'M', 'P', 'I', 'P', 'E', '0', '1'};
static const char suffix[] = ".pipeline";

enum { MOST_BYTES = 64 << 20, MOST_MODULES = 64 };

/* Before the words of a module. */
struct module_head {
    uint64_t hash, count;
};

bool pm_stored_pipeline_append(struct pm_buffer *modules, uint64_t hash, const uint32_t *words,
                               size_t count)
{
    const struct module_head head = {hash, count};
    return pm_buffer_append(modules, &head, sizeof head) &&
           pm_buffer_append(modules, words, count * sizeof *words);
}

bool pm_stored_pipeline_is_there(struct pm_shader_store *store, const struct pm_shader_key *key)
{
    return pm_shader_store_has(store, key, suffix);
}

bool pm_stored_pipeline_write(struct pm_shader_store *store, const struct pm_shader_key *key,
                              const char *document, const struct pm_buffer *modules,
                              struct pm_error *error)
{
    const size_t length = strlen(document) + 1;
    struct pm_buffer contents, file;
    if (pm_stored_pipeline_is_there(store, key))
        return true;
    pm_buffer_init(&contents, MOST_BYTES);
    pm_buffer_init(&file, MOST_BYTES);
    bool ok = pm_buffer_append(&contents, document, length) &&
              pm_buffer_append(&contents, "\0\0\0", (4 - length % 4) % 4) &&
              pm_buffer_append(&contents, modules->data, modules->size) &&
              pm_buffer_append(&file, magic, sizeof magic);
    if (!ok)
        pm_fail(error, PM_ERROR_LIMIT, "a pipeline is too large for the shader store");
    ok = ok && pm_compress(contents.data, contents.size, &file, error) &&
         pm_shader_store_put(store, key, suffix, &file, error);
    pm_buffer_finish(&file);
    pm_buffer_finish(&contents);
    return ok;
}

/* The modules behind the document. false: they end early, or are too many. */
static bool take_modules(const unsigned char *at, size_t left, struct pm_arena *arena,
                         struct pm_stored_pipeline *pipeline)
{
    struct pm_stored_module *modules = pm_arena_zalloc(arena, MOST_MODULES, sizeof *modules);
    pipeline->modules = modules;
    while (left > 0) {
        struct module_head head;
        if (!modules || pipeline->module_count == MOST_MODULES || left < sizeof head)
            return false;
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        left -= sizeof head;
        if (head.count > left / sizeof(uint32_t))
            return false;
        const size_t count = (size_t)head.count, bytes = count * sizeof(uint32_t);
        struct pm_stored_module *module = &modules[pipeline->module_count++];
        *module = (struct pm_stored_module){head.hash, pm_arena_dup(arena, at, bytes), count};
        if (!module->words || pm_fossilize_hash_module(module->words, module->count) != head.hash)
            return false;
        at += bytes;
        left -= bytes;
    }
    return true;
}

static bool parse(const struct pm_buffer *file, struct pm_arena *arena,
                  struct pm_stored_pipeline *pipeline, struct pm_error *error)
{
    struct pm_buffer contents;
    *pipeline = (struct pm_stored_pipeline){0};
    if (file->size < sizeof magic || memcmp(file->data, magic, sizeof magic) != 0)
        return pm_fail(error, PM_ERROR_INPUT, "not a pipeline of this version of the store");
    pm_buffer_init(&contents, MOST_BYTES);
    bool ok = pm_decompress((const char *)file->data + sizeof magic, file->size - sizeof magic,
                            &contents, error);
    if (ok) {
        const unsigned char *bytes = contents.data;
        const unsigned char *end = contents.size > 0 ? memchr(bytes, 0, contents.size) : NULL;
        const size_t length = end ? (size_t)(end - bytes) + 1 : 0;
        const size_t padded = (length + 3) & ~(size_t)3;
        pipeline->document = end ? pm_arena_strdup(arena, (const char *)bytes) : NULL;
        ok = (pipeline->document && padded <= contents.size &&
              take_modules(bytes + padded, contents.size - padded, arena, pipeline)) ||
             pm_fail(error, PM_ERROR_INPUT, "a pipeline's file is damaged");
    }
    pm_buffer_finish(&contents);
    return ok;
}

bool pm_stored_pipeline_read(struct pm_shader_store *store, const struct pm_shader_key *key,
                             struct pm_arena *arena, struct pm_stored_pipeline *pipeline,
                             struct pm_error *error)
{
    struct pm_buffer file;
    pm_buffer_init(&file, MOST_BYTES);
    const bool ok = pm_shader_store_get(store, key, suffix, &file, error) &&
                    parse(&file, arena, pipeline, error);
    pm_buffer_finish(&file);
    return ok;
}
