/*
 * Beside a shader in the shader store: what a pipeline with it is made with, so that
 * `piecemeal db export --format foz` can make it again. One file a shader, `<key>.pipeline`, of the
 * first pipeline that had it: magic, then a zstd frame (profile.h) of a document in Fossilize's
 * JSON (layer/shader/pipeline_state.h), a zero, padding to 4 bytes, and the modules that it names,
 * each as hash (64 bits), number of words (64 bits), words.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "profile/shader_store.h"

struct pm_stored_module {
    uint64_t hash; /* Fossilize's (fossilize.h) */
    const uint32_t *words;
    size_t count;
};

struct pm_stored_pipeline {
    const char *document;
    const struct pm_stored_module *modules;
    size_t module_count;
};

/* Appends a module as it is stored. false: too large, or out of memory. */
bool pm_stored_pipeline_append(struct pm_buffer *modules, uint64_t hash, const uint32_t *words,
                               size_t count);

/* Keeps a shader's pipeline; modules: of pm_stored_pipeline_append. One that is there already is
 * not written again. */
bool pm_stored_pipeline_write(struct pm_shader_store *store, const struct pm_shader_key *key,
                              const char *document, const struct pm_buffer *modules,
                              struct pm_error *error);
/* Whether there is one. */
bool pm_stored_pipeline_is_there(struct pm_shader_store *store, const struct pm_shader_key *key);

/* Reads it; what *pipeline points to is the arena's. PM_ERROR_STATE: it is not there;
 * PM_ERROR_INPUT: the file is damaged, and where. */
bool pm_stored_pipeline_read(struct pm_shader_store *store, const struct pm_shader_key *key,
                             struct pm_arena *arena, struct pm_stored_pipeline *pipeline,
                             struct pm_error *error);
