/*
 * Shaders that keep the game's own whatever is known of them (optimize.withhold): a text file, a
 * key of an original a line. When the first line is "*" it is all but those that have a line
 * "!KEY". For who looks for the one that is wrong (`piecemeal bisect`), and for who has found it.
 *
 * Thread safety: read-only once it was read; any thread.
 */
#pragma once

#include "base/error.h"
#include "profile/shader_key.h"

struct pm_withheld {
    bool all;                   /* but for `keys`; else only `keys` */
    struct pm_shader_key *keys; /* owned */
    size_t count;
};

/* What cannot be read withholds all, so that nothing is used that was not to be: *error says why.
 * path NULL: nothing is withheld. */
bool pm_withheld_read(struct pm_withheld *withheld, const char *path, struct pm_error *error);
void pm_withheld_finish(struct pm_withheld *withheld);

bool pm_withheld_has(const struct pm_withheld *withheld, const struct pm_shader_key *key);
