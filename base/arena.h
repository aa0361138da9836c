/*
 * An arena: memory whose lifetime ends all at once, with a module or a request. Allocations are never freed
 * one by one. A cap bounds what input from outside can make it grow to.
 *
 * Thread safety: an arena belongs to one thread at a time.
 */
#pragma once

#include <stddef.h>

struct pm_arena;

/* cap: the most bytes the arena may hand out in all; 0 means 256 MiB. NULL when out of memory. */
struct pm_arena *pm_arena_create(size_t cap);

/* Frees everything that was allocated from it. NULL is allowed. */
void pm_arena_destroy(struct pm_arena *arena);

/* size bytes aligned to 16, uninitialized; NULL when out of memory or over the cap. size 0 gives a unique
 * pointer. The memory is owned by the arena. */
void *pm_arena_alloc(struct pm_arena *arena, size_t size);

/* count * size bytes, zeroed, overflow checked; else as pm_arena_alloc. */
void *pm_arena_zalloc(struct pm_arena *arena, size_t count, size_t size);

/* A copy of size bytes. */
void *pm_arena_dup(struct pm_arena *arena, const void *data, size_t size);

/* A copy of a string, with its terminator. */
char *pm_arena_strdup(struct pm_arena *arena, const char *string);

/* A formatted string. */
char *pm_arena_printf(struct pm_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Bytes handed out so far. */
size_t pm_arena_used(const struct pm_arena *arena);
