#include "layer/shader/kept_modules.h"

#include "profile/profile.h"

#include <pthread.h>
#include <stdlib.h>

struct pm_kept_modules {
    pthread_mutex_t lock;
    size_t most, bytes; /* that may be kept, and are */
    struct pm_kept_module *newest, *oldest;
};

struct pm_kept_modules *pm_kept_modules_create(size_t most)
{
    struct pm_kept_modules *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    kept->most = most;
    pthread_mutex_init(&kept->lock, NULL);
    return kept;
}

void pm_kept_modules_destroy(struct pm_kept_modules *kept)
{
    if (!kept)
        return;
    pthread_mutex_destroy(&kept->lock);
    free(kept);
}

static void unlink_module(struct pm_kept_modules *kept, struct pm_kept_module *module)
{
    *(module->newer ? &module->newer->older : &kept->newest) = module->older;
    *(module->older ? &module->older->newer : &kept->oldest) = module->newer;
    module->newer = module->older = NULL;
}

static void link_newest(struct pm_kept_modules *kept, struct pm_kept_module *module)
{
    module->older = kept->newest;
    *(kept->newest ? &kept->newest->newer : &kept->oldest) = module;
    kept->newest = module;
}

static void drop(struct pm_kept_modules *kept, struct pm_kept_module *module)
{
    if (!module->data)
        return;
    unlink_module(kept, module);
    kept->bytes -= module->size;
    free(module->data);
    *module = (struct pm_kept_module){0};
}

void pm_kept_module_put(struct pm_kept_modules *kept, struct pm_kept_module *module,
                        const struct pm_words *like, const struct pm_words *words)
{
    struct pm_buffer packed;
    struct pm_error error;
    pm_buffer_init(&packed, kept->most);
    if (!pm_compress_against(like->data, like->count * sizeof *like->data, words->data,
                             words->count * sizeof *words->data, &packed, &error))
        return;
    /* The buffer is larger than what is in it. */
    unsigned char *data = realloc(packed.data, packed.size);
    if (!data) {
        pm_buffer_finish(&packed);
        return;
    }
    pthread_mutex_lock(&kept->lock);
    drop(kept, module);
    while (kept->bytes > kept->most - packed.size)
        drop(kept, kept->oldest);
    *module = (struct pm_kept_module){.data = data, .size = packed.size, .count = words->count};
    link_newest(kept, module);
    kept->bytes += module->size;
    pthread_mutex_unlock(&kept->lock);
}

bool pm_kept_module_get(struct pm_kept_modules *kept, struct pm_kept_module *module,
                        const struct pm_words *like, struct pm_words *words)
{
    struct pm_buffer plain;
    struct pm_error error;
    bool got = false;
    pthread_mutex_lock(&kept->lock);
    if (module->data) {
        pm_buffer_init(&plain, module->count * sizeof *words->data);
        got = pm_decompress_against(like->data, like->count * sizeof *like->data, module->data,
                                    module->size, &plain, &error);
        if (got) {
            *words = (struct pm_words){(uint32_t *)(void *)plain.data, module->count};
            unlink_module(kept, module);
            link_newest(kept, module);
        } else {
            pm_buffer_finish(&plain);
        }
    }
    pthread_mutex_unlock(&kept->lock);
    return got;
}

void pm_kept_module_drop(struct pm_kept_modules *kept, struct pm_kept_module *module)
{
    pthread_mutex_lock(&kept->lock);
    drop(kept, module);
    pthread_mutex_unlock(&kept->lock);
}
