#include "layer/shader/module_words.h"

#include "layer/core/thread.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SMALL_WORDS = 256,         /* not worth a file */
    MOST_IN_MEMORY = 64 << 20, /* bytes */
    MOST_WAITING = 256,
    MOST_WAITING_BYTES = 1 << 20,
    STACK_BYTES = 256 << 10,
    NICENESS = 10, /* not the lowest: what it does not get done, the game's threads do */
};

struct pm_kept_words {
    struct pm_module_content content;
    _Atomic uint32_t references; /* the holder's, and the queue's while it waits */
    uint32_t *words;             /* NULL: they are on the disk; else under the place's lock while it
                                    waits */
    bool counted;                /* in in_memory */
    struct pm_kept_words *next;
};

static size_t bytes_of(const struct pm_kept_words *kept)
{
    return kept->content.count * sizeof *kept->words;
}

/* In a forked child the lock may be held by a thread that does not exist there. */
static bool is_forked(const struct pm_module_words_place *place)
{
    return getpid() != place->device->process;
}

/* ---- memory ---- */

static bool count(struct pm_module_words_place *place, size_t bytes)
{
    if (atomic_fetch_add(&place->in_memory, bytes) + bytes <= MOST_IN_MEMORY)
        return true;
    atomic_fetch_sub(&place->in_memory, bytes);
    return false;
}

static void unreference(struct pm_module_words_place *place, struct pm_kept_words *kept)
{
    if (atomic_fetch_sub(&kept->references, 1) != 1)
        return;
    if (kept->counted)
        atomic_fetch_sub(&place->in_memory, bytes_of(kept));
    free(kept->words);
    free(kept);
}

/* ---- the thread ---- */

static void *write_all(void *user)
{
    struct pm_module_words_place *place = user;
    pm_thread_lower(NICENESS);
    pthread_mutex_lock(&place->lock);
    while (!place->stop) {
        struct pm_kept_words *kept = place->first;
        if (!kept && !place->tidy) {
            pthread_cond_wait(&place->work, &place->lock);
            continue;
        }
        bool due = place->tidy, written = false;
        place->tidy = false;
        pthread_mutex_unlock(&place->lock);
        struct pm_error error;
        if (due)
            pm_words_store_tidy(place->store);
        due = false;
        if (kept)
            written = pm_words_store_keep(place->store, &kept->content.hash, kept->words,
                                          kept->content.count, &due, &error);
        pthread_mutex_lock(&place->lock);
        place->tidy |= due;
        if (!kept)
            continue;
        place->first = kept->next;
        place->last = place->first ? place->last : NULL;
        place->waiting--;
        place->waiting_bytes -= bytes_of(kept);
        /* What cannot be written stays, if there is room. */
        kept->counted = !written && count(place, bytes_of(kept));
        if (!kept->counted) {
            free(kept->words);
            kept->words = NULL;
        }
        unreference(place, kept);
    }
    pthread_mutex_unlock(&place->lock);
    return NULL;
}

/* Under the lock. */
static bool start(struct pm_module_words_place *place)
{
    if (!place->started) {
        place->started = true;
        place->runs =
            pm_thread_start(&place->thread, STACK_BYTES, "piecemeal-words", write_all, place);
    }
    return place->runs;
}

/* Leaves the words to the thread, with a reference. false: it has no room, or there is none. */
static bool leave(struct pm_module_words_place *place, struct pm_kept_words *kept)
{
    const size_t bytes = bytes_of(kept);
    pthread_mutex_lock(&place->lock);
    const bool left = place->waiting < MOST_WAITING &&
                      place->waiting_bytes + bytes <= MOST_WAITING_BYTES && start(place);
    if (left) {
        atomic_fetch_add(&kept->references, 1);
        kept->next = NULL;
        if (place->last)
            place->last->next = kept;
        else
            place->first = kept;
        place->last = kept;
        place->waiting++;
        place->waiting_bytes += bytes;
        pthread_cond_signal(&place->work);
    }
    pthread_mutex_unlock(&place->lock);
    return left;
}

void pm_module_words_begin(struct pm_module_words_place *place, struct pm_device *device)
{
    *place = (struct pm_module_words_place){.device = device};
    pthread_mutex_init(&place->lock, NULL);
    pthread_cond_init(&place->work, NULL);
    place->store =
        pm_words_store_open(NULL, (uint64_t)device->instance->config.limits.shader_store_mib << 20);
}

void pm_module_words_end(struct pm_module_words_place *place)
{
    /* A forked child has no thread to join, and may not look at what it was doing. */
    if (is_forked(place))
        return;
    pthread_mutex_lock(&place->lock);
    place->stop = true;
    pthread_cond_signal(&place->work);
    pthread_mutex_unlock(&place->lock);
    if (place->runs)
        pthread_join(place->thread, NULL);
    for (struct pm_kept_words *kept = place->first, *next; kept; kept = next) {
        next = kept->next;
        unreference(place, kept);
    }
    pm_words_store_close(place->store);
    pthread_cond_destroy(&place->work);
    pthread_mutex_destroy(&place->lock);
    place->store = NULL;
}

/* ---- keeping ---- */

static bool write_here(struct pm_module_words_place *place, const uint32_t *words,
                       const struct pm_module_content *content)
{
    bool due = false;
    struct pm_error error;
    if (!pm_words_store_keep(place->store, &content->hash, words, content->count, &due, &error))
        return false;
    if (due && !is_forked(place)) {
        pthread_mutex_lock(&place->lock);
        place->tidy = start(place);
        pthread_cond_signal(&place->work);
        pthread_mutex_unlock(&place->lock);
    }
    return true;
}

/* Copies the words into memory, and leaves them to the thread if they are to go to the disk. */
static bool keep_copy(struct pm_module_words_place *place, struct pm_kept_words *kept,
                      const uint32_t *words, bool to_disk, struct pm_error *error)
{
    const size_t bytes = bytes_of(kept);
    kept->words = malloc(bytes ? bytes : 1);
    if (!kept->words)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader module's words");
    memcpy(kept->words, words, bytes);
    if (to_disk && leave(place, kept))
        return true;
    if (to_disk && write_here(place, words, &kept->content)) {
        free(kept->words);
        kept->words = NULL;
        return true;
    }
    kept->counted = count(place, bytes);
    return kept->counted ||
           pm_fail(error, PM_ERROR_LIMIT, "no room for the %zu bytes of a shader module", bytes);
}

struct pm_kept_words *pm_module_words_keep(struct pm_module_words_place *place,
                                           const uint32_t *words,
                                           const struct pm_module_content *content,
                                           struct pm_error *error)
{
    struct pm_kept_words *kept = calloc(1, sizeof *kept);
    if (!kept) {
        pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader module's words");
        return NULL;
    }
    kept->content = *content;
    atomic_init(&kept->references, 1);
    const bool to_disk = content->count > SMALL_WORDS && place->store;
    const bool kept_here = (to_disk && (pm_words_store_find(place->store, &content->hash) ||
                                        (is_forked(place) && write_here(place, words, content)))) ||
                           keep_copy(place, kept, words, to_disk && !is_forked(place), error);
    if (kept_here)
        return kept;
    unreference(place, kept);
    return NULL;
}

void pm_module_words_release(struct pm_module_words_place *place, struct pm_kept_words *kept)
{
    if (kept)
        unreference(place, kept);
}

bool pm_module_words_read(struct pm_module_words_place *place, struct pm_kept_words *kept,
                          struct pm_words *words, struct pm_error *error)
{
    const size_t bytes = bytes_of(kept);
    *words = (struct pm_words){malloc(bytes ? bytes : 1), kept->content.count};
    if (!words->data)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader module's words");
    const bool forked = is_forked(place);
    if (!forked)
        pthread_mutex_lock(&place->lock);
    const bool here = kept->words != NULL;
    if (here)
        memcpy(words->data, kept->words, bytes);
    if (!forked)
        pthread_mutex_unlock(&place->lock);
    if (here || pm_words_store_read(place->store, &kept->content.hash, words->data,
                                    kept->content.count, error))
        return true;
    pm_words_finish(words);
    *words = (struct pm_words){0};
    return false;
}
