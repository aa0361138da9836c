/*
 * A table from a 64-bit key (a dispatch key, a handle) to a pointer that is read without locks: the
 * draw hooks find their command buffer in it. Open addressing; writers take the table's lock; a
 * table that grew keeps its smaller predecessors until it is finished, so a reader never touches
 * freed memory.
 *
 * Thread safety: any thread may find, put and remove at any time. Who finds a key must be sure, as
 * Vulkan's external synchronization makes it, that its value is not freed meanwhile. init and
 * finish belong to one thread.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_lookup_slot {
    _Atomic uint64_t key; /* 0: empty, UINT64_MAX: removed */
    _Atomic(void *) value;
};

struct pm_lookup_slots {
    struct pm_lookup_slots *retired;           /* the smaller array before this one */
    uint64_t mask;                             /* number of slots - 1; a power of two - 1 */
    uint32_t shift;                            /* 64 - log2(number of slots) */
    _Alignas(16) struct pm_lookup_slot slot[]; /* none lies in two cache lines */
};

struct pm_lookup {
    _Atomic(struct pm_lookup_slots *) slots; /* NULL until the first put */
    pthread_mutex_t lock;
    size_t used;  /* keys */
    size_t taken; /* keys and removed slots */
};

void pm_lookup_init(struct pm_lookup *lookup);

/* The values are the caller's to free before. */
void pm_lookup_finish(struct pm_lookup *lookup);

/* Remembers value for key (not 0 or UINT64_MAX), replacing an older value. false: out of memory. */
bool pm_lookup_put(struct pm_lookup *lookup, uint64_t key, void *value);

/* Forgets key and returns its value, NULL when it is unknown (0 always is). */
void *pm_lookup_remove(struct pm_lookup *lookup, uint64_t key);

/* Calls visit for every value, under the lock: visit must not put or remove. */
void pm_lookup_each(struct pm_lookup *lookup, void (*visit)(void *user, void *value), void *user);
/* The same for who must not wait. false: somebody holds the lock, and nothing was visited. */
bool pm_lookup_try_each(struct pm_lookup *lookup, void (*visit)(void *user, void *value),
                        void *user);

/* A key that is not in the slot `home`, where its hash points, but may be behind it. */
void *pm_lookup_find_behind(const struct pm_lookup_slots *slots, uint64_t home, uint64_t key);

/* NULL: unknown, as 0 always is. About ten instructions when the key is where its hash points. */
static inline void *pm_lookup_find(const struct pm_lookup *lookup, uint64_t key)
{
    const struct pm_lookup_slots *slots =
        atomic_load_explicit(&lookup->slots, memory_order_acquire);
    if (slots == NULL)
        return NULL;
    const uint64_t home = (key * UINT64_C(0x9e3779b97f4a7c15)) >> slots->shift;
    const struct pm_lookup_slot *slot = &slots->slot[home];
    if (__builtin_expect(atomic_load_explicit(&slot->key, memory_order_acquire) == key, 1))
        return atomic_load_explicit(&slot->value, memory_order_relaxed);
    return pm_lookup_find_behind(slots, home, key);
}

/* A handle as a key: dispatchable ones are pointers, the others are numbers of 64 bits where
 * pointers have 32. */
#define PM_KEY(handle)                                                                             \
    ((uint64_t) _Generic((handle), uint64_t : (handle), default : (uintptr_t)(handle)))
