/*
 * Bytes that are the same are kept once, as most states of a game's pipelines are. A cap bounds
 * what that takes; nothing goes before the end.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <stddef.h>

struct pm_interned;

/* cap: the most bytes that all of it may take, rounded up. NULL: out of memory. */
struct pm_interned *pm_interned_create(size_t cap);
/* NULL is allowed. */
void pm_interned_destroy(struct pm_interned *interned);

/* The one copy of these bytes, aligned to 16, read-only, owned by it. NULL: there is none, and it
 * is full or memory is out. */
const void *pm_interned_get(struct pm_interned *interned, const void *data, size_t size);
