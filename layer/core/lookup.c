#include "layer/core/lookup.h"

#include <stdlib.h>

#define EMPTY 0
#define REMOVED UINT64_MAX
#define SMALLEST 64
/* A sparse table has so many slots a key at least, and one for each where its hash points, until it
 * has this many in all (64 KiB). */
#define SPARSE 16
#define MOST_SPARSE 4096

void pm_lookup_init(struct pm_lookup *lookup)
{
    atomic_init(&lookup->slots, NULL);
    pthread_mutex_init(&lookup->lock, NULL);
    lookup->shown = NULL;
    lookup->factor = PM_LOOKUP_ANYTHING;
    lookup->sparse = false;
    lookup->used = 0;
    lookup->taken = 0;
}

void pm_lookup_init_of_pointers(struct pm_lookup *lookup)
{
    pm_lookup_init(lookup);
    lookup->factor = PM_LOOKUP_POINTERS;
    lookup->sparse = true;
}

void pm_lookup_finish(struct pm_lookup *lookup)
{
    struct pm_lookup_slots *slots = atomic_load(&lookup->slots);
    while (slots != NULL) {
        struct pm_lookup_slots *retired = slots->retired;
        free(slots);
        slots = retired;
    }
    atomic_store(&lookup->slots, NULL);
    lookup->used = 0;
    lookup->taken = 0;
    pthread_mutex_destroy(&lookup->lock);
}

/* The index of the slot where a key's hash points. */
static uint64_t home_of(const struct pm_lookup_slots *slots, uint64_t key)
{
    return pm_lookup_home(slots, key, slots->factor) / sizeof slots->slot[0];
}

/* Into the first free slot of a probe that is known not to hold the key. The value goes first: a
 * reader that sees the key sees its value. */
static bool insert(struct pm_lookup_slots *slots, uint64_t key, void *value)
{
    for (uint64_t i = home_of(slots, key);; i++) {
        struct pm_lookup_slot *slot = &slots->slot[i & slots->mask];
        uint64_t found = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (found == EMPTY || found == REMOVED) {
            atomic_store_explicit(&slot->value, value, memory_order_relaxed);
            atomic_store_explicit(&slot->key, key, memory_order_release);
            return found == EMPTY;
        }
    }
}

/* Half of the slots stay empty, so that probes are short and always end. */
static bool has_room(const struct pm_lookup *lookup, const struct pm_lookup_slots *slots)
{
    return slots != NULL && (lookup->taken + 1) * 2 <= slots->mask + 1;
}

/* Whether another key has the place that the key's hash points to. */
static bool is_displaced(const struct pm_lookup_slots *slots, uint64_t key)
{
    const uint64_t found =
        atomic_load_explicit(&slots->slot[home_of(slots, key)].key, memory_order_relaxed);
    return found != EMPTY && found != REMOVED;
}

/* Whether a key that the table does not have is to be put into a larger one. */
static bool is_full(const struct pm_lookup *lookup, const struct pm_lookup_slots *slots,
                    uint64_t key)
{
    const size_t count = (size_t)slots->mask + 1;
    return !has_room(lookup, slots) ||
           (lookup->sparse && count < MOST_SPARSE &&
            ((lookup->used + 1) * SPARSE > count || is_displaced(slots, key)));
}

/* Into a larger one, always: one of the same size, where removed slots fill the table, would do for
 * a while only, and the arrays before it stay. */
static bool grow(struct pm_lookup *lookup)
{
    struct pm_lookup_slots *old = atomic_load_explicit(&lookup->slots, memory_order_relaxed);
    size_t count = old != NULL ? (size_t)(old->mask + 1) * 2 : SMALLEST;
    while (count < (lookup->used + 1) * 4 ||
           (lookup->sparse && count < MOST_SPARSE && count < (lookup->used + 1) * SPARSE * 2))
        count *= 2;
    struct pm_lookup_slots *slots = calloc(1, sizeof *slots + count * sizeof slots->slot[0]);
    if (slots == NULL)
        return false;
    slots->retired = old;
    slots->mask = count - 1;
    slots->factor = lookup->factor;
    slots->home_mask = (count - 1) * sizeof slots->slot[0];
    for (uint64_t i = 0; old != NULL && i <= old->mask; i++) {
        uint64_t key = atomic_load_explicit(&old->slot[i].key, memory_order_relaxed);
        if (key != EMPTY && key != REMOVED)
            insert(slots, key, atomic_load_explicit(&old->slot[i].value, memory_order_relaxed));
    }
    atomic_store_explicit(&lookup->slots, slots, memory_order_release);
    if (lookup->shown != NULL)
        atomic_store_explicit(lookup->shown, slots, memory_order_release);
    lookup->taken = lookup->used;
    return true;
}

void *pm_lookup_find_behind(const struct pm_lookup_slots *slots, uint64_t home, uint64_t key)
{
    for (uint64_t i = home / sizeof slots->slot[0];; i++) {
        const struct pm_lookup_slot *slot = &slots->slot[i & slots->mask];
        const uint64_t found = atomic_load_explicit(&slot->key, memory_order_acquire);
        if (found == key)
            return atomic_load_explicit(&slot->value, memory_order_relaxed);
        if (found == EMPTY)
            return NULL;
    }
}

static struct pm_lookup_slot *find(struct pm_lookup_slots *slots, uint64_t key, uint64_t *at)
{
    for (uint64_t i = home_of(slots, key);; i++) {
        struct pm_lookup_slot *slot = &slots->slot[i & slots->mask];
        uint64_t found = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (found == key) {
            *at = i & slots->mask;
            return slot;
        }
        if (found == EMPTY)
            return NULL;
    }
}

bool pm_lookup_show(struct pm_lookup *lookup, _Atomic(struct pm_lookup_slots *) *shown)
{
    pthread_mutex_lock(&lookup->lock);
    const bool ok = shown == NULL ||
                    atomic_load_explicit(&lookup->slots, memory_order_relaxed) != NULL ||
                    grow(lookup);
    lookup->shown = ok ? shown : NULL;
    if (lookup->shown != NULL)
        atomic_store_explicit(shown, atomic_load_explicit(&lookup->slots, memory_order_relaxed),
                              memory_order_release);
    pthread_mutex_unlock(&lookup->lock);
    return ok;
}

bool pm_lookup_put(struct pm_lookup *lookup, uint64_t key, void *value)
{
    pthread_mutex_lock(&lookup->lock);
    struct pm_lookup_slots *slots = atomic_load_explicit(&lookup->slots, memory_order_relaxed);
    uint64_t at;
    struct pm_lookup_slot *slot = slots != NULL ? find(slots, key, &at) : NULL;
    bool ok = true;
    if (slot != NULL) {
        atomic_store_explicit(&slot->value, value, memory_order_release);
    } else {
        while (ok && (slots == NULL || is_full(lookup, slots, key))) {
            ok = grow(lookup);
            slots = atomic_load_explicit(&lookup->slots, memory_order_relaxed);
        }
        ok = ok || has_room(lookup, slots);
        if (ok) {
            lookup->taken += insert(slots, key, value);
            lookup->used++;
        }
    }
    pthread_mutex_unlock(&lookup->lock);
    return ok;
}

void *pm_lookup_remove(struct pm_lookup *lookup, uint64_t key)
{
    void *value = NULL;
    pthread_mutex_lock(&lookup->lock);
    struct pm_lookup_slots *slots = atomic_load_explicit(&lookup->slots, memory_order_relaxed);
    uint64_t at;
    struct pm_lookup_slot *slot = slots != NULL && key != EMPTY ? find(slots, key, &at) : NULL;
    if (slot != NULL) {
        value = atomic_load_explicit(&slot->value, memory_order_relaxed);
        /* A null handle is an empty slot's key: whoever looks for it must not find what is gone. */
        atomic_store_explicit(&slot->value, NULL, memory_order_relaxed);
        atomic_store_explicit(&slot->key, REMOVED, memory_order_relaxed);
        lookup->used--;
        /* Before an empty slot no probe goes on, so removed slots there can be empty again: tables
         * that see many handles come and go stay clean without growing. */
        const struct pm_lookup_slot *next = &slots->slot[(at + 1) & slots->mask];
        if (atomic_load_explicit(&next->key, memory_order_relaxed) == EMPTY) {
            while (atomic_load_explicit(&slot->key, memory_order_relaxed) == REMOVED) {
                atomic_store_explicit(&slot->key, EMPTY, memory_order_relaxed);
                lookup->taken--;
                at = (at - 1) & slots->mask;
                slot = &slots->slot[at];
            }
        }
    }
    pthread_mutex_unlock(&lookup->lock);
    return value;
}

/* Under the lock. */
static void visit_all(struct pm_lookup *lookup, void (*visit)(void *user, void *value), void *user)
{
    struct pm_lookup_slots *slots = atomic_load_explicit(&lookup->slots, memory_order_relaxed);
    for (uint64_t i = 0; slots != NULL && i <= slots->mask; i++) {
        uint64_t key = atomic_load_explicit(&slots->slot[i].key, memory_order_relaxed);
        if (key != EMPTY && key != REMOVED)
            visit(user, atomic_load_explicit(&slots->slot[i].value, memory_order_relaxed));
    }
}

void pm_lookup_each(struct pm_lookup *lookup, void (*visit)(void *user, void *value), void *user)
{
    pthread_mutex_lock(&lookup->lock);
    visit_all(lookup, visit, user);
    pthread_mutex_unlock(&lookup->lock);
}

bool pm_lookup_try_each(struct pm_lookup *lookup, void (*visit)(void *user, void *value),
                        void *user)
{
    if (pthread_mutex_trylock(&lookup->lock) != 0)
        return false;
    visit_all(lookup, visit, user);
    pthread_mutex_unlock(&lookup->lock);
    return true;
}
