/*
 * Where the words of a game's shader modules are: most of what a game's pipelines are made of, and
 * mostly never looked at again. All but small ones are on the disk (profile/words_store.h), where
 * the next session finds them; so many bytes of what cannot be are kept in memory.
 *
 * Thread safety: any thread, but for beginning and ending.
 */
#pragma once

#include "layer/core/compiler.h"
#include "profile/words_store.h"
#include "shader_rewrite/ir/words.h"

struct pm_module_words_place {
    struct pm_device *device;
    struct pm_words_store *store; /* NULL: none, and all words are in memory */
    struct pm_job tidy;           /* makes room in the store */
    _Atomic bool tidies;          /* the job is queued, or runs */
    _Atomic uint64_t in_memory;   /* bytes */
};

/* What tells a module's words from others. */
struct pm_module_content {
    uint64_t count;
    struct pm_words_hash hash;
};

void pm_module_words_begin(struct pm_module_words_place *place, struct pm_device *device);
/* After pm_compiler_destroy. */
void pm_module_words_end(struct pm_module_words_place *place);

/* Keeps words. in_memory: they, if that is where they are, else without data. PM_ERROR_LIMIT: there
 * is no room for them. */
bool pm_module_words_keep(struct pm_module_words_place *place, const uint32_t *words,
                          const struct pm_module_content *content, struct pm_words *in_memory,
                          struct pm_error *error);
void pm_module_words_release(struct pm_module_words_place *place, struct pm_words *in_memory);

/* A copy of kept words (pm_words_finish). PM_ERROR_IO: they are not there any more. */
bool pm_module_words_read(struct pm_module_words_place *place,
                          const struct pm_module_content *content, const struct pm_words *in_memory,
                          struct pm_words *words, struct pm_error *error);
