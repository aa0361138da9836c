/*
 * Lists of names, in the order they came.
 *
 * Thread safety: no state; a list is its owner's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All zero: empty. */
struct pm_names {
    char **names; /* owned, as what it points to is */
    size_t count;
};

/* Adds a copy. false: out of memory. */
bool pm_names_append(struct pm_names *list, const char *name);

/* Adds a copy unless it is there: for short lists. false: out of memory. */
bool pm_names_add(struct pm_names *list, const char *name);

bool pm_names_has(const struct pm_names *list, const char *name);

/* Frees what it holds; it is empty then. */
void pm_names_finish(struct pm_names *list);
