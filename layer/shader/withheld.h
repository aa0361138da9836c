/*
 * Shaders that keep the game's own whatever is known of them, or that some parts of what would be
 * done to them are not done to (optimize.withhold): a text file, a key of an original a line, which
 * the names of parts may follow with commas between them ("KEY zeros,blocks",
 * profile/variant_parts.h). When the first line is "*" it is all but what has a line "!KEY" or
 * "!KEY PARTS". For who looks for what is wrong (`piecemeal bisect`), and for who has found it.
 *
 * Thread safety: read-only once it was read; any thread.
 */
#pragma once

#include "base/error.h"
#include "profile/shader_key.h"
#include "profile/variant_parts.h"

struct pm_withheld_line {
    struct pm_shader_key key;
    uint32_t parts; /* enum pm_part */
};

struct pm_withheld {
    bool all;                       /* but for `lines`; else only `lines` */
    struct pm_withheld_line *lines; /* owned; of one key there may be several */
    size_t count;
};

/* What cannot be read withholds all, so that nothing is used that was not to be: *error says why.
 * path NULL: nothing is withheld. */
bool pm_withheld_read(struct pm_withheld *withheld, const char *path, struct pm_error *error);
void pm_withheld_finish(struct pm_withheld *withheld);

/* The parts that are withheld of a shader (enum pm_part). */
uint32_t pm_withheld_parts(const struct pm_withheld *withheld, const struct pm_shader_key *key);
