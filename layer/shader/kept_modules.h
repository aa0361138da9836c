/*
 * Words of modules that may be needed again, compressed. Together they take no more than so many
 * bytes: what was asked for the longest time ago goes first, and who needs it then makes it again.
 *
 * Thread safety: any thread. Compressing takes a while: compile threads only.
 */
#pragma once

#include "shader_rewrite/ir/words.h"

#include <stdbool.h>

struct pm_kept_modules;

/* One module's place; all zero: nothing is kept. Its owner lets it lie where it is while something
 * may be kept; what is in it is under the lock of those it is kept with. */
struct pm_kept_module {
    unsigned char *data; /* compressed; owned; NULL: nothing is kept */
    size_t size, count;  /* bytes of that; words of the module */
    struct pm_kept_module *newer, *older;
};

/* At most so many bytes, compressed. NULL: out of memory. */
struct pm_kept_modules *pm_kept_modules_create(size_t most);
/* Nothing may be kept any more. NULL is allowed. */
void pm_kept_modules_destroy(struct pm_kept_modules *kept);

/* Keeps a copy of the words, in place of what is kept there. Where it does not fit, or memory is
 * out, that stays. like: what the words were made of, of which hardly anything is kept again; the
 * same whenever they are asked for. */
void pm_kept_module_put(struct pm_kept_modules *kept, struct pm_kept_module *module,
                        const struct pm_words *like, const struct pm_words *words);
/* A copy of what is kept, which the caller owns; false: nothing is, or memory is out. */
bool pm_kept_module_get(struct pm_kept_modules *kept, struct pm_kept_module *module,
                        const struct pm_words *like, struct pm_words *words);
void pm_kept_module_drop(struct pm_kept_modules *kept, struct pm_kept_module *module);
