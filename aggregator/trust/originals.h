/*
 * Which of the game's shaders the timed ones were specialized from. A specialized shader has a key
 * of its own, which says nothing of where it comes from; with the original's beside it, what was
 * measured of the one can be shown with what is estimated of the other. Like all that is published,
 * an original needs the word of min_tokens distinct tokens (claims.h); before that it is not even
 * kept. The first that has it stays until no day of the retention is one on which so many gave it.
 *
 * Thread safety: a list belongs to one thread at a time.
 */
#pragma once

#include "aggregator/storage/storage.h"

struct pm_original {
    struct pm_shader_key key, original;
};

/* Those of a game. */
struct pm_originals {
    struct pm_original *items; /* ascending by key */
    size_t count, allocated;
    size_t damaged;     /* rows that are not what was written, and are left out */
    uint32_t first_day; /* what was last vouched for before is left out */
};

/* Fills the list, which must be empty but for first_day; the caller finishes it, also after a
 * failure. */
bool pm_originals_read(struct pm_originals *originals, struct pm_storage *storage, const char *game,
                       struct pm_error *error);
void pm_originals_finish(struct pm_originals *originals);

/* None when it is not known. */
struct pm_shader_key pm_originals_find(const struct pm_originals *originals,
                                       const struct pm_shader_key *key);
