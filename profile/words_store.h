/*
 * Words of shader modules as games gave them, on the local disk, so that a session that may need
 * them later need not keep them in memory. One file a content, `shaders/words/<hash>` in the data's
 * place, which the next session finds there; it appears whole or not at all (rename), and is never
 * uploaded. What is read is checked: after a power failure a file may be empty, and one that was
 * used longest ago goes when there are too many.
 *
 * Thread safety: any thread may use a store at any time, but for closing it.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

struct pm_words_store;

/* A content's name: XXH3, 128 bits. */
struct pm_words_hash {
    uint64_t high, low;
};
struct pm_words_hash pm_words_hash_compute(const uint32_t *words, size_t count);

/* folder NULL: the default place. cap_bytes bounds what is on the disk, and half of it what one
 * store adds; 0: nothing is kept. Touches no disk yet. NULL: out of memory, or no home. */
struct pm_words_store *pm_words_store_open(const char *folder, uint64_t cap_bytes);
void pm_words_store_close(struct pm_words_store *store);

/* Keeps words, unless they are there already. Makes no room: *tidy says that it is time for
 * pm_words_store_tidy, elsewhere. PM_ERROR_LIMIT: the store has added as much as it may. */
bool pm_words_store_keep(struct pm_words_store *store, const struct pm_words_hash *hash,
                         const uint32_t *words, size_t count, bool *tidy, struct pm_error *error);

/* Whether words are kept already; if so, they were used just now. */
bool pm_words_store_find(struct pm_words_store *store, const struct pm_words_hash *hash);

/* Reads words that were kept, into `count` words at `words`. PM_ERROR_IO: they are gone;
 * PM_ERROR_INPUT: the file is damaged, and was removed. */
bool pm_words_store_read(struct pm_words_store *store, const struct pm_words_hash *hash,
                         uint32_t *words, size_t count, struct pm_error *error);

/* Makes room for what was kept. Reads the folder: not for a game's own threads. */
void pm_words_store_tidy(struct pm_words_store *store);
