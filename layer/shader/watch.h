/*
 * The words of push constants that a variant was made for: it may be bound where they have these
 * values, and nowhere else.
 *
 * Thread safety: read-only.
 */
#pragma once

#include "layer/shader/push_ranges.h"

enum { PM_WATCHED_MOST = 4 };

struct pm_watch {
    struct pm_push_ranges *ranges; /* of the pipeline's layout */
    uint64_t mask;                 /* of the words, a bit each */
    uint32_t count;                /* at least 1 */
    struct {
        uint32_t word, value; /* word: offset in bytes over 4 */
    } words[PM_WATCHED_MOST];
};
