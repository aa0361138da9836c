/*
 * The author's names for the values of a canonical module that people read: variables are gone
 * there, and with them their names. Before the optimizer runs, every value that is stored to a
 * named variable or a member of one, or returned by a named function, gets a line of its own: lines
 * survive inlining and the removal of the variables. Afterwards the lines become names.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "shader_rewrite/analysis/pass.h"

struct pm_value_names {
    char **texts; /* by line number, from 1 on; owned */
    uint32_t count;
};

/* Marks the values. Context: a struct pm_value_names that is zero; it is to be finished also when
 * it fails, with PM_ERROR_MEMORY. */
extern const struct pm_pass pm_pass_mark_names;

/* Takes the marks out and names what they mark, phis of values of one name, and block variables
 * without a name after their types. Context: the same names. */
extern const struct pm_pass pm_pass_put_names;

void pm_value_names_finish(struct pm_value_names *names);
