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
    uint64_t factor;                           /* of the hash */
    uint64_t home_mask;                        /* of the bytes from slot[0] to a home */
    _Alignas(16) struct pm_lookup_slot slot[]; /* none lies in two cache lines */
};

struct pm_lookup {
    _Atomic(struct pm_lookup_slots *) slots; /* NULL until the first put */
    pthread_mutex_t lock;
    _Atomic(struct pm_lookup_slots *) *shown; /* pm_lookup_show; NULL: nowhere */
    uint64_t factor;                          /* of the hash */
    bool sparse;                              /* as long as there are few keys */
    size_t used;                              /* keys */
    size_t taken;                             /* keys and removed slots */
};

void pm_lookup_init(struct pm_lookup *lookup);
/* The same of a table whose keys are all pointers, which pm_lookup_glance needs. While they are few,
 * it is so large that nearly all of them are where their hash points. */
void pm_lookup_init_of_pointers(struct pm_lookup *lookup);

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

/* Factors of the hash. That for anything tells small numbers, also in a handle's upper half, and
 * pointers apart; that for pointers what is less than 4 GiB apart, and as it has no more than 32
 * bits and a sign it is part of the multiplication: an instruction less where it is known. */
#define PM_LOOKUP_ANYTHING UINT64_C(0x9e3779b97f4a7c15)
#define PM_LOOKUP_POINTERS ((uint64_t)INT64_C(-0x61c88647))

/* How a hook that is called very often reads what other threads may change, in a function with
 * PM_FAST: as plain memory on x86-64, since gcc folds only that into a comparison. It is an aligned
 * word that is read once, so it cannot be torn; x86-64 keeps the order of loads; and the thread
 * sanitizer is told to look away. */
#ifdef __x86_64__
#define PM_FAST __attribute__((no_sanitize("thread")))
#define PM_READ(type, word) (*(type const *)(const void *)&(word))
#else
#define PM_FAST
#define PM_READ(type, word) __atomic_load_n((type const *)(const void *)&(word), __ATOMIC_ACQUIRE)
#endif

/* Where a key's hash points, in bytes from slot[0]: bits from the 32nd on of a product. */
static PM_FAST inline uint64_t pm_lookup_home(const struct pm_lookup_slots *slots, uint64_t key,
                                              uint64_t factor)
{
    return (key * factor) >> 28 & slots->home_mask;
}

/* A key that is not in the slot at `home`, but may be behind it. */
void *pm_lookup_find_behind(const struct pm_lookup_slots *slots, uint64_t home, uint64_t key);

static inline const struct pm_lookup_slot *pm_lookup_slot_of(const struct pm_lookup_slots *slots,
                                                             uint64_t home)
{
    return (const struct pm_lookup_slot *)((const char *)slots->slot + home);
}

/* NULL: unknown, as 0 always is. About ten instructions when the key is where its hash points. */
static inline void *pm_lookup_find(const struct pm_lookup *lookup, uint64_t key)
{
    const struct pm_lookup_slots *slots =
        atomic_load_explicit(&lookup->slots, memory_order_acquire);
    if (slots == NULL)
        return NULL;
    const uint64_t home = pm_lookup_home(slots, key, slots->factor);
    const struct pm_lookup_slot *slot = pm_lookup_slot_of(slots, home);
    if (__builtin_expect(atomic_load_explicit(&slot->key, memory_order_acquire) == key, 1))
        return atomic_load_explicit(&slot->value, memory_order_relaxed);
    return pm_lookup_find_behind(slots, home, key);
}

/* The same for a hook (PM_FAST) that has a longer way for whoever is unknown: NULL, also when the
 * key is not where its hash points. slots: what pm_lookup_show shows, of a table of pointers. */
static PM_FAST inline __attribute__((always_inline)) void *
pm_lookup_glance(const struct pm_lookup_slots *slots, uint64_t key)
{
    uint64_t home = pm_lookup_home(slots, key, PM_LOOKUP_POINTERS);
    if (__builtin_expect(PM_READ(uint64_t, pm_lookup_slot_of(slots, home)->key) != key, 0))
        return NULL;
    __asm__("" : "+r"(home)); /* an address each: one for both takes an instruction more */
    void *value = PM_READ(void *, pm_lookup_slot_of(slots, home)->value);
    if (value == NULL)
        __builtin_unreachable();
    return value;
}

/* From now on `shown` points to the table's slots, never to NULL, also when it grows; NULL: not any
 * more. false: out of memory, and nothing is shown. */
bool pm_lookup_show(struct pm_lookup *lookup, _Atomic(struct pm_lookup_slots *) *shown);

/* A handle as a key: dispatchable ones are pointers, the others are numbers of 64 bits where
 * pointers have 32. */
#define PM_KEY(handle)                                                                             \
    ((uint64_t) _Generic((handle), uint64_t : (handle), default : (uintptr_t)(handle)))
