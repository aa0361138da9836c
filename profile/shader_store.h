/*
 * The shader store (DESIGN, Shader store): shader key to original and canonical words, and raw
 * digest to key, on the local disk. The layer fills it, so that a shader is canonicalized once per
 * machine; `piecemeal report` reads it. It is never uploaded.
 *
 * One file a shader, `<key>.pmshader`, and beside it `<key>.name` where the program named it and
 * `<key>.pipeline` (stored_pipeline.h): magic, then a zstd frame (profile.h) of lengths and
 * contents; one file a raw digest, `raw/<digest>`: the recipe and the key as text. Both appear
 * whole or not at all (rename), in any number of processes at once; after a power failure one may
 * be empty, which reads as absent. What is read is checked: the canonical words must have the key
 * that the file is named by.
 *
 * Thread safety: any thread may use a store at any time, but for closing it.
 */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/shader_key.h"

struct pm_shader_store;

struct pm_stored_shader {
    struct pm_shader_key key;
    const char *name;   /* by pm_shader_store_name; "": none */
    const char *recipe; /* that the key was computed with: pm_canonicalize_recipe() */
    uint32_t stage;     /* enum pm_stage of shader_rewrite.h: 0 fragment, 1 compute */
    uint32_t target;    /* of the device that it was kept for first: pm_target_bits() of target.h */
    const char *entry_point;                 /* of the original */
    const struct pm_spec_value *spec_values; /* set by the pipeline; the rest keep their default */
    size_t spec_value_count;
    const uint32_t *original; /* as the game gave it; of several originals with one key, one */
    size_t original_count;    /* words */
    const uint32_t *canonical;
    size_t canonical_count;
};

/* folder NULL: the default place, $PLACE_DATA/shaders. cap_bytes bounds what is on the disk: beyond
 * it the files that were used longest ago go; 0: only for reading. Touches no disk yet. NULL: out
 * of memory, or no home. */
struct pm_shader_store *pm_shader_store_open(const char *folder, uint64_t cap_bytes);
void pm_shader_store_close(struct pm_shader_store *store);

/* The key of a raw digest under the recipe. PM_ERROR_STATE: not known. */
bool pm_shader_store_find(struct pm_shader_store *store, const char *recipe,
                          const struct pm_shader_key *digest, struct pm_shader_key *key,
                          struct pm_error *error);

/* Reads a shader; what *shader points to is the arena's. PM_ERROR_STATE: it is not there;
 * PM_ERROR_INPUT: the file is damaged, and where. */
bool pm_shader_store_read(struct pm_shader_store *store, const struct pm_shader_key *key,
                          struct pm_arena *arena, struct pm_stored_shader *shader,
                          struct pm_error *error);

/* Keeps a shader and that the digest leads to it. One that is there already is not written again.
 */
bool pm_shader_store_write(struct pm_shader_store *store, const struct pm_shader_key *digest,
                           const struct pm_stored_shader *shader, struct pm_error *error);

/* Keeps what the program calls a shader, in place of an earlier name; the shader itself need not be there. Of a name the
 * first PM_SHADER_NAME_BYTES are kept, up to a control character or what is no UTF-8. */
enum { PM_SHADER_NAME_BYTES = 96 };
bool pm_shader_store_name(struct pm_shader_store *store, const struct pm_shader_key *key,
                          const char *name, struct pm_error *error);

/* Another file beside a shader's, named by its key and a suffix of its own (stored_pipeline.h):
 * whether it is there; written, within the store's cap; and read, PM_ERROR_STATE: it is not there. */
bool pm_shader_store_has(struct pm_shader_store *store, const struct pm_shader_key *key,
                         const char *suffix);
bool pm_shader_store_put(struct pm_shader_store *store, const struct pm_shader_key *key,
                         const char *suffix, const struct pm_buffer *bytes, struct pm_error *error);
bool pm_shader_store_get(struct pm_shader_store *store, const struct pm_shader_key *key,
                         const char *suffix, struct pm_buffer *out, struct pm_error *error);

/* The bytes of a shader's file, as pm_shader_store_read takes them apart: for tests and fuzzing.
 * key NULL: whatever key the words have. */
bool pm_stored_shader_parse(const void *data, size_t size, const struct pm_shader_key *key,
                            struct pm_arena *arena, struct pm_stored_shader *shader,
                            struct pm_error *error);
