/*
 * Which shaders a database has room for.
 *
 * Thread safety: no state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one shader is worth, and takes. */
struct pm_worth {
    bool stays;           /* it comes before all that need not stay */
    uint64_t sessions;    /* clusters that entered it */
    uint64_t entry_lanes; /* that ran it, as its uploads say */
    size_t bytes;         /* of its encoding, at most */
    size_t index;         /* its place in the list that it is of */
    bool fits;            /* what pm_worth_choose finds */
};

/* Sets `fits`, those that are worth most first; what is too large for the rest leaves it to others.
 * The order is by `index` again. Returns the bytes of those that fit. */
size_t pm_worth_choose(struct pm_worth *all, size_t count, size_t most_bytes);
