/* The table of what is kept (verdicts.h), and the text that it is on the disk. For verdicts*.c and
 * tests.
 *
 * Thread safety: plain data.
 */
#pragma once

#include "profile/kept_variant.h"

enum {
    PM_VERDICTS_MOST = 4096,          /* variants of a table */
    PM_VERDICTS_MOST_BYTES = 8 << 20, /* they are below */
};

struct pm_kept_table {
    struct pm_kept_variant *variants;
    size_t count, allocated;
};

/* The variant of a key, original and environment; NULL: there is none. */
struct pm_kept_variant *pm_kept_find(const struct pm_kept_table *table,
                                     const struct pm_shader_key *key,
                                     const struct pm_shader_key *original,
                                     const struct pm_environment *environment);
/* Puts a variant in; of too many, what was used longest ago goes: what no trial found faster and no
 * session is to try, then what sessions are to, and then the rest. false: out of memory. */
bool pm_kept_put(struct pm_kept_table *table, const struct pm_kept_variant *kept);

/* Reads a text; of another build of the layer it is empty. false: damaged, and where, or no memory;
 * *table is empty then. */
bool pm_kept_parse(struct pm_kept_table *table, const char *layer, const char *text, size_t size,
                   struct pm_error *error);
bool pm_kept_format(const struct pm_kept_table *table, const char *layer, struct pm_buffer *out);
