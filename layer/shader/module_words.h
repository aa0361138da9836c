/*
 * Where the words of a game's shader modules are: most of what a game's pipelines are made of, and
 * mostly never looked at again. All but small ones go to the disk (profile/words_store.h), where
 * the next session finds them; so many bytes of what cannot be are kept in memory.
 *
 * A file takes a thread tens of microseconds, so a thread of ours writes them, a few at a time; the
 * words stay in memory until they are on the disk. Only when more wait than it has room for does
 * the caller write itself. What still waits when the device goes, or the process is killed, is not
 * written: it is the next session's to write.
 *
 * Thread safety: any thread, but for beginning and ending. In a forked child there is no such
 * thread, and the caller writes (HAZARDS 19).
 */
#pragma once

#include "layer/core/layer.h"
#include "profile/words_store.h"
#include "shader_rewrite/ir/words.h"

/* What is kept of one module: its words, or that they are on the disk. */
struct pm_kept_words;

struct pm_module_words_place {
    struct pm_device *device;
    struct pm_words_store *store; /* NULL: none, and all words are in memory */
    _Atomic uint64_t in_memory;   /* bytes, but for those that wait */

    pthread_mutex_t lock;
    pthread_cond_t work; /* something waits, or stop was set */
    /* guarded by lock: */
    struct pm_kept_words *first, *last; /* that wait, oldest first */
    uint32_t waiting;
    uint64_t waiting_bytes;
    bool tidy; /* room is to be made in the store */
    bool stop, started, runs;
    pthread_t thread;
};

/* What tells a module's words from others. */
struct pm_module_content {
    size_t count;
    struct pm_words_hash hash;
};

void pm_module_words_begin(struct pm_module_words_place *place, struct pm_device *device);
/* After all that is kept was released. */
void pm_module_words_end(struct pm_module_words_place *place);

/* Keeps words. PM_ERROR_LIMIT: there is no room for them. */
struct pm_kept_words *pm_module_words_keep(struct pm_module_words_place *place,
                                           const uint32_t *words,
                                           const struct pm_module_content *content,
                                           struct pm_error *error);
/* NULL is allowed. Those that wait are written all the same. */
void pm_module_words_release(struct pm_module_words_place *place, struct pm_kept_words *kept);

/* A copy of kept words (pm_words_finish). PM_ERROR_IO: they are not there any more. */
bool pm_module_words_read(struct pm_module_words_place *place, struct pm_kept_words *kept,
                          struct pm_words *words, struct pm_error *error);
