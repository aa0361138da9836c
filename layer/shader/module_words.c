#include "layer/shader/module_words.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL_WORDS = 256,         /* not worth a file */
    MOST_IN_MEMORY = 64 << 20, /* bytes */
};

static void finish_job(struct pm_job *job)
{
    struct pm_module_words_place *place =
        (void *)((char *)job - offsetof(struct pm_module_words_place, tidy));
    atomic_store(&place->tidies, false);
}

static void run_job(struct pm_job *job)
{
    struct pm_module_words_place *place =
        (void *)((char *)job - offsetof(struct pm_module_words_place, tidy));
    pm_words_store_tidy(place->store);
    finish_job(job);
}

void pm_module_words_begin(struct pm_module_words_place *place, struct pm_device *device)
{
    *place = (struct pm_module_words_place){.device = device};
    place->tidy =
        (struct pm_job){.run = run_job, .drop = finish_job, .owner = place, .always = true};
    place->store =
        pm_words_store_open(NULL, (uint64_t)device->instance->config.limits.shader_store_mib << 20);
}

void pm_module_words_end(struct pm_module_words_place *place)
{
    pm_words_store_close(place->store);
    place->store = NULL;
}

static void tidy(struct pm_module_words_place *place)
{
    struct pm_compiler *compiler = place->device->compiler;
    if (compiler && !atomic_exchange(&place->tidies, true) &&
        !pm_compiler_queue(compiler, &place->tidy))
        atomic_store(&place->tidies, false);
}

bool pm_module_words_keep(struct pm_module_words_place *place, const uint32_t *words,
                          const struct pm_module_content *content, struct pm_words *in_memory,
                          struct pm_error *error)
{
    bool due = false;
    if (content->count > SMALL_WORDS && place->store &&
        pm_words_store_keep(place->store, &content->hash, words, content->count, &due, error)) {
        if (due)
            tidy(place);
        return true;
    }
    const size_t bytes = content->count * sizeof *words;
    if (atomic_fetch_add(&place->in_memory, bytes) + bytes > MOST_IN_MEMORY) {
        atomic_fetch_sub(&place->in_memory, bytes);
        return pm_fail(error, PM_ERROR_LIMIT, "no room for the %zu bytes of a shader module",
                       bytes);
    }
    uint32_t *copy = malloc(bytes ? bytes : 1);
    if (!copy) {
        atomic_fetch_sub(&place->in_memory, bytes);
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader module's words");
    }
    memcpy(copy, words, bytes);
    *in_memory = (struct pm_words){copy, content->count};
    return true;
}

void pm_module_words_release(struct pm_module_words_place *place, struct pm_words *in_memory)
{
    if (in_memory->data)
        atomic_fetch_sub(&place->in_memory, in_memory->count * sizeof *in_memory->data);
    pm_words_finish(in_memory);
    *in_memory = (struct pm_words){0};
}

bool pm_module_words_read(struct pm_module_words_place *place,
                          const struct pm_module_content *content, const struct pm_words *in_memory,
                          struct pm_words *words, struct pm_error *error)
{
    const size_t bytes = content->count * sizeof(uint32_t);
    *words = (struct pm_words){malloc(bytes ? bytes : 1), content->count};
    if (!words->data)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader module's words");
    if (in_memory->data) {
        memcpy(words->data, in_memory->data, bytes);
        return true;
    }
    if (pm_words_store_read(place->store, &content->hash, words->data, content->count, error))
        return true;
    pm_words_finish(words);
    *words = (struct pm_words){0};
    return false;
}
