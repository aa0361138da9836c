#include "profile/words_store.h"

#include "base/file.h"
#include "base/folder_cap.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Bytes that are added until room is made. */
#define TIDY_BYTES (UINT64_C(16) << 20)

struct pm_words_store {
    char *folder;
    uint64_t cap;
    _Atomic uint64_t added;  /* bytes */
    _Atomic uint64_t tidied; /* of these, when room was made last */
    _Atomic bool is_made;    /* the folder */
    pthread_mutex_t tidying;
};

struct pm_words_hash pm_words_hash_compute(const uint32_t *words, size_t count)
{
    const XXH128_hash_t hash = XXH3_128bits(words, count * sizeof *words);
    return (struct pm_words_hash){hash.high64, hash.low64};
}

struct pm_words_store *pm_words_store_open(const char *folder, uint64_t cap_bytes)
{
    struct pm_words_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->cap = cap_bytes;
    store->folder = folder ? strdup(folder) : pm_place_path(PM_PLACE_DATA, "shaders/words");
    pthread_mutex_init(&store->tidying, NULL);
    if (store->folder)
        return store;
    pm_words_store_close(store);
    return NULL;
}

void pm_words_store_close(struct pm_words_store *store)
{
    if (!store)
        return;
    pthread_mutex_destroy(&store->tidying);
    free(store->folder);
    free(store);
}

/* malloc'ed. */
static char *path_of(const struct pm_words_store *store, const struct pm_words_hash *hash,
                     struct pm_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%016" PRIx64 "%016" PRIx64, store->folder, hash->high, hash->low) >= 0)
        return path;
    pm_fail(error, PM_ERROR_MEMORY, "no memory to keep a shader's words");
    return NULL;
}

static uint64_t on_disk(size_t bytes)
{
    return (bytes + 4095) & ~UINT64_C(4095);
}

static bool add(struct pm_words_store *store, const char *path, const uint32_t *words, size_t bytes,
                struct pm_error *error)
{
    const uint64_t takes = on_disk(bytes);
    if (atomic_fetch_add(&store->added, takes) + takes > store->cap / 2) {
        atomic_fetch_sub(&store->added, takes);
        return pm_fail(error, PM_ERROR_LIMIT, "limits.shader_store_mib is too small for its words");
    }
    if (!atomic_load(&store->is_made)) {
        if (!pm_make_folder(store->folder, error))
            return false;
        atomic_store(&store->is_made, true);
    }
    return pm_file_put(path, words, bytes, error);
}

static bool is_there(const char *path)
{
    const bool there = access(path, F_OK) == 0;
    if (there)
        pm_file_used(path);
    return there;
}

bool pm_words_store_find(struct pm_words_store *store, const struct pm_words_hash *hash)
{
    struct pm_error error;
    char *path = path_of(store, hash, &error);
    const bool there = path && is_there(path);
    free(path);
    return there;
}

bool pm_words_store_keep(struct pm_words_store *store, const struct pm_words_hash *hash,
                         const uint32_t *words, size_t count, bool *tidy, struct pm_error *error)
{
    *tidy = false;
    char *path = path_of(store, hash, error);
    if (!path)
        return false;
    bool kept = true;
    if (!is_there(path)) {
        kept = add(store, path, words, count * sizeof *words, error);
        const uint64_t added = atomic_load(&store->added);
        uint64_t tidied = atomic_load(&store->tidied);
        *tidy = kept && (tidied == 0 || added - tidied > TIDY_BYTES) &&
                atomic_compare_exchange_strong(&store->tidied, &tidied, added);
    }
    free(path);
    return kept;
}

bool pm_words_store_read(struct pm_words_store *store, const struct pm_words_hash *hash,
                         uint32_t *words, size_t count, struct pm_error *error)
{
    char *path = path_of(store, hash, error);
    if (!path)
        return false;
    const size_t bytes = count * sizeof *words;
    FILE *file = fopen(path, "re");
    bool read = file != NULL;
    if (!read) {
        pm_fail_errno(error, errno, "%s: a shader's words are not there any more", path);
    } else {
        setvbuf(file, NULL, _IONBF, 0);
        read = fread(words, 1, bytes, file) == bytes && fgetc(file) == EOF;
        fclose(file);
        const struct pm_words_hash found =
            read ? pm_words_hash_compute(words, count) : (struct pm_words_hash){0, 0};
        if (!read || found.high != hash->high || found.low != hash->low) {
            read = pm_fail(error, PM_ERROR_INPUT, "%s: not the words that were kept", path);
            (void)unlink(path);
        }
    }
    free(path);
    return read;
}

void pm_words_store_tidy(struct pm_words_store *store)
{
    const char *const folders[] = {store->folder};
    pthread_mutex_lock(&store->tidying);
    (void)pm_folders_shrink(folders, 1, store->cap, 0);
    pthread_mutex_unlock(&store->tidying);
}
