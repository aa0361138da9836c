#include "base/interned.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 1024 };

struct entry {
    struct entry *next;
    uint64_t hash;
    size_t size;
    _Alignas(16) unsigned char data[];
};

struct pm_interned {
    pthread_mutex_t lock;
    struct pm_arena *arena;
    struct entry *chains[CHAINS]; /* by the hash's low bits */
};

struct pm_interned *pm_interned_create(size_t cap)
{
    struct pm_interned *interned = calloc(1, sizeof *interned);
    struct pm_arena *arena = pm_arena_create(cap);
    if (!interned || !arena) {
        free(interned);
        pm_arena_destroy(arena);
        return NULL;
    }
    interned->arena = arena;
    pthread_mutex_init(&interned->lock, NULL);
    return interned;
}

void pm_interned_destroy(struct pm_interned *interned)
{
    if (!interned)
        return;
    pthread_mutex_destroy(&interned->lock);
    pm_arena_destroy(interned->arena);
    free(interned);
}

/* FNV-1a. */
static uint64_t hash_of(const unsigned char *data, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    return hash;
}

const void *pm_interned_get(struct pm_interned *interned, const void *data, size_t size)
{
    const uint64_t hash = hash_of(data, size);
    struct entry **chain = &interned->chains[hash % CHAINS];
    pthread_mutex_lock(&interned->lock);
    struct entry *entry = *chain;
    while (entry &&
           (entry->hash != hash || entry->size != size || memcmp(entry->data, data, size) != 0))
        entry = entry->next;
    if (!entry && size <= SIZE_MAX - sizeof *entry &&
        (entry = pm_arena_alloc(interned->arena, sizeof *entry + size))) {
        *entry = (struct entry){.next = *chain, .hash = hash, .size = size};
        memcpy(entry->data, data, size);
        *chain = entry;
    }
    pthread_mutex_unlock(&interned->lock);
    return entry ? entry->data : NULL;
}
