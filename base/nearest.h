/*
 * "Did you mean": how near a name that is not known is to one that is.
 *
 * Thread safety: no state.
 */
#pragma once

#include <stddef.h>

/* The Levenshtein distance of a and the first b_length bytes of b; SIZE_MAX when either is too long
 * to be meant. */
size_t pm_nearest_distance(const char *a, const char *b, size_t b_length);

/* The distance up to which a suggestion instead of name helps. */
size_t pm_nearest_most(const char *name);
