/*
 * A SPIR-V module as words, as it goes from pass to pass and in and out of this room.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pm_words {
    uint32_t *data; /* in host byte order; malloc'ed */
    size_t count;
};

/* Frees them. NULL is allowed. */
void pm_words_finish(struct pm_words *words);
