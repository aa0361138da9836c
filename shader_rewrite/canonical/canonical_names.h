/*
 * The author's names for the values of a canonical module that people read: variables are gone
 * there, and with them their names. Before the optimizer runs, every value that is stored to a
 * named variable or a member of one, or returned by a named function, gets a line of its own: lines
 * survive inlining and the removal of the variables. Afterwards the lines become names.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "shader_rewrite/canonical/canonical_words.h"

#include <string.h>

struct pm_value_names {
    char **texts; /* by line number, from 1 on; owned */
    uint32_t count;
};

/* Marks the values; *names is to be finished also when it fails, with PM_ERROR_MEMORY. */
bool pm_words_mark_names(struct pm_words *module, struct pm_value_names *names,
                         struct pm_error *error);

/* Takes the marks out and names what they mark, phis of values of one name, and block variables
 * without a name after their types. */
bool pm_words_put_names(struct pm_words *module, const struct pm_value_names *names,
                        struct pm_error *error);

/* The text of a literal string at a word of a validated module. */
static inline const char *pm_words_text(const struct pm_words *module, size_t word)
{
    return (const char *)(module->data + word);
}

/* Copies words behind the *used ones of out, which has room for them. */
static inline void pm_words_append(uint32_t *out, size_t *used, const uint32_t *words, size_t count)
{
    memcpy(out + *used, words, count * sizeof(*out));
    *used += count;
}

void pm_value_names_finish(struct pm_value_names *names);
