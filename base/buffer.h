/*
 * A growing byte buffer with a mandatory cap (curl's dynbuf is the model).
 *
 * Thread safety: a buffer belongs to one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct pm_buffer {
    unsigned char *data; /* always followed by a 0 byte once anything was appended; NULL while empty */
    size_t size;         /* bytes used */
    size_t allocated;    /* bytes allocated */
    size_t cap;          /* bytes it may grow to; an append beyond fails and leaves it as it was */
};

/* Prepares a buffer that the caller holds; allocates nothing. cap in bytes, not 0. */
void pm_buffer_init(struct pm_buffer *buffer, size_t cap);

/* Frees the bytes; the buffer may be used again with the same cap. */
void pm_buffer_finish(struct pm_buffer *buffer);

/* false: out of memory or over the cap, and nothing was appended. */
bool pm_buffer_append(struct pm_buffer *buffer, const void *data, size_t size);
bool pm_buffer_append_string(struct pm_buffer *buffer, const char *string);
bool pm_buffer_printf(struct pm_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
