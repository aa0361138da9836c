#include "base/arena.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define PM_ARENA_WATCHED
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PM_ARENA_WATCHED
#endif

/* Under the address sanitizer only what was asked for may be touched. */
#ifdef PM_ARENA_WATCHED
#include <sanitizer/asan_interface.h>
enum { APART = 16 }; /* bytes between allocations that nobody owns */
#define FORBID(data, size) ASAN_POISON_MEMORY_REGION(data, size)
#define ALLOW(data, size) ASAN_UNPOISON_MEMORY_REGION(data, size)
#else
enum { APART = 0 };
#define FORBID(data, size) ((void)(data), (void)(size))
#define ALLOW(data, size) ((void)(data), (void)(size))
#endif

enum { ALIGNMENT = 16, FIRST_CHUNK = 256, LARGEST_CHUNK = 1 << 20 };

struct chunk {
    struct chunk *next;
    size_t size, used; /* bytes of data */
    _Alignas(ALIGNMENT) unsigned char data[];
};

struct pm_arena {
    struct chunk *chunks; /* the one being filled first */
    size_t cap, used;
    size_t next_chunk; /* bytes */
};

struct pm_arena *pm_arena_create(size_t cap)
{
    struct pm_arena *arena = calloc(1, sizeof(*arena));
    if (!arena)
        return NULL;
    arena->cap = cap ? cap : (size_t)256 << 20;
    arena->next_chunk = FIRST_CHUNK;
    return arena;
}

void pm_arena_destroy(struct pm_arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        ALLOW(chunk->data, chunk->size);
        free(chunk);
    }
    free(arena);
}

static struct chunk *add_chunk(struct pm_arena *arena, size_t at_least)
{
    size_t size = arena->next_chunk;
    if (size > arena->cap - arena->used)
        size = arena->cap - arena->used; /* no more will be asked for */
    if (size < at_least)
        size = at_least;
    if (size > SIZE_MAX - sizeof(struct chunk))
        return NULL;
    struct chunk *chunk = malloc(sizeof(*chunk) + size);
    if (!chunk)
        return NULL;
    chunk->size = size;
    chunk->used = 0;
    FORBID(chunk->data, size);
    /* One large allocation must not waste what is left of the chunk being filled. */
    if (arena->chunks && at_least > arena->next_chunk) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        if (chunk->next && arena->next_chunk < LARGEST_CHUNK)
            arena->next_chunk *= 2;
    }
    return chunk;
}

void *pm_arena_alloc(struct pm_arena *arena, size_t asked)
{
    if (asked > SIZE_MAX - ALIGNMENT - APART)
        return NULL;
    size_t size = asked == 0 ? ALIGNMENT : (asked + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (size > arena->cap - arena->used)
        return NULL;
    struct chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size + APART) {
        chunk = add_chunk(arena, size + APART);
        if (!chunk)
            return NULL;
    }
    void *result = chunk->data + chunk->used;
    ALLOW(result, asked);
    chunk->used += size + APART;
    arena->used += size;
    return result;
}

void *pm_arena_zalloc(struct pm_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *result = pm_arena_alloc(arena, bytes);
    if (result)
        memset(result, 0, bytes);
    return result;
}

void *pm_arena_dup(struct pm_arena *arena, const void *data, size_t size)
{
    void *result = pm_arena_alloc(arena, size);
    if (result && size > 0)
        memcpy(result, data, size);
    return result;
}

char *pm_arena_strdup(struct pm_arena *arena, const char *string)
{
    return pm_arena_dup(arena, string, strlen(string) + 1);
}

char *pm_arena_printf(struct pm_arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0)
        return NULL;
    char *result = pm_arena_alloc(arena, (size_t)n + 1);
    if (!result)
        return NULL;
    va_start(arguments, format);
    vsnprintf(result, (size_t)n + 1, format, arguments);
    va_end(arguments);
    return result;
}

size_t pm_arena_used(const struct pm_arena *arena)
{
    return arena->used;
}
