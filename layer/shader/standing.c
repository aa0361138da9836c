#include "layer/shader/standing.h"

#include <stdlib.h>

/* All zeros, most of which no memory stands behind before it is used. */
static struct pm_standing_table *create_table(uint32_t homes)
{
    const size_t alignment = _Alignof(struct pm_standing_table);
    struct pm_standing_table *table;
    char *memory = calloc(1, sizeof *table + homes * sizeof table->at[0] + alignment - 1);
    if (!memory)
        return NULL;
    table = (struct pm_standing_table *)(memory +
                                         (alignment - (uintptr_t)memory % alignment) % alignment);
    table->memory = memory;
    table->homes = homes;
    table->mask = (uint64_t)(homes - 1) * sizeof table->at[0];
    return table;
}

struct pm_standing *pm_standing_create(_Atomic(struct pm_standing_table *) *shown)
{
    struct pm_standing *standing = calloc(1, sizeof *standing);
    struct pm_standing_table *table = create_table(PM_STANDING_FIRST);
    if (!standing || !table) {
        free(table ? table->memory : NULL);
        free(standing);
        return NULL;
    }
    standing->table = table;
    standing->shown = shown;
    pthread_rwlock_init(&standing->lock, NULL);
    atomic_store_explicit(shown, table, memory_order_release);
    return standing;
}

void pm_standing_destroy(struct pm_standing *standing)
{
    if (!standing)
        return;
    atomic_store(standing->shown, NULL);
    for (struct pm_standing_table *table = standing->table; table;) {
        struct pm_standing_table *smaller = table->smaller;
        free(table->memory);
        table = smaller;
    }
    pthread_rwlock_destroy(&standing->lock);
    free(standing);
}

/* Unless the slot is another's already, where the game destroys the pipeline meanwhile. */
static void say_nothing(struct pm_stands *stands)
{
    struct pm_standing_slot *slot = atomic_load_explicit(&stands->slot, memory_order_acquire);
    uint64_t game = stands->game;
    atomic_store_explicit(&stands->now, 0, memory_order_release);
    if (slot)
        atomic_compare_exchange_strong_explicit(&slot->game, &game, 0, memory_order_acq_rel,
                                                memory_order_relaxed);
}

/* ---- under the lock, alone ---- */

/* A slot of the handle's home is the pipeline's from now on. false: there is none. */
static bool take_slot(struct pm_standing_table *table, struct pm_stands *stands,
                      struct pm_pipeline *pipeline, uint64_t game)
{
    struct pm_standing_home *home =
        (struct pm_standing_home *)((char *)table->at + pm_standing_home(table, game));
    /* The first slot of all is VK_NULL_HANDLE's. */
    for (uint32_t i = home == table->at; i < 2; i++) {
        struct pm_standing_slot *slot = &home->slots[i];
        if (atomic_load_explicit(&slot->pipeline, memory_order_acquire))
            continue;
        atomic_store_explicit(&slot->pipeline, pipeline, memory_order_relaxed);
        atomic_fetch_add_explicit(&table->taken, 1, memory_order_relaxed);
        stands->game = game;
        stands->in = table;
        atomic_store_explicit(&stands->slot, slot, memory_order_release);
        return true;
    }
    return false;
}

/* A pipeline has found no slot: whether too many have. Where few slots are taken the handles' homes
 * are always the same, and a larger table may be no better. */
static bool is_too_small(struct pm_standing_table *table)
{
    enum { FULL = 4, SPARSE = 16, FEW_REFUSED = 32 }; /* a part of the slots, and of those taken */
    const uint32_t taken = atomic_load_explicit(&table->taken, memory_order_relaxed);
    const uint32_t slots = 2 * table->homes;
    table->refused++;
    return table->homes < PM_STANDING_MOST &&
           (taken >= slots / FULL ||
            (taken >= slots / SPARSE && table->refused > taken / FEW_REFUSED));
}

/* false: out of memory. */
static bool grow(struct pm_standing *standing)
{
    struct pm_standing_table *table = standing->table;
    struct pm_standing_table *larger = create_table(2 * table->homes);
    if (!larger)
        return false;
    larger->smaller = table;
    standing->table = larger;
    atomic_store_explicit(standing->shown, larger, memory_order_release);
    atomic_fetch_add_explicit(&standing->turn, 1, memory_order_relaxed);
    return true;
}

static bool find_slot(struct pm_standing *standing, struct pm_stands *stands,
                      struct pm_pipeline *pipeline, uint64_t game)
{
    struct pm_standing_slot *slot = atomic_load_explicit(&stands->slot, memory_order_relaxed);
    if (slot && stands->in == standing->table)
        return true;
    /* What it leaves nobody takes, since a bind may be about to read it. */
    if (slot)
        atomic_store_explicit(&slot->game, 0, memory_order_release);
    atomic_store_explicit(&stands->slot, NULL, memory_order_relaxed);
    return take_slot(standing->table, stands, pipeline, game) ||
           (is_too_small(standing->table) && grow(standing) &&
            take_slot(standing->table, stands, pipeline, game));
}

static void say(struct pm_standing *standing, struct pm_stands *stands,
                struct pm_pipeline *pipeline, uint64_t game, const struct pm_stand *now)
{
    const bool found = find_slot(standing, stands, pipeline, game);
    atomic_store_explicit(&stands->now, now->stands, memory_order_release);
    atomic_store_explicit(&stands->turn,
                          atomic_load_explicit(&standing->turn, memory_order_relaxed),
                          memory_order_relaxed);
    if (!found)
        return;
    struct pm_standing_slot *slot = atomic_load_explicit(&stands->slot, memory_order_relaxed);
    /* A bind may have read `game` before it was taken back, and read what stands only now. */
    atomic_store_explicit(&slot->stands, now->stands, memory_order_release);
    atomic_store_explicit(&slot->careful, now->careful, memory_order_release);
    atomic_store_explicit(&slot->game, game, memory_order_release);
}

/* ---- */

void pm_standing_learn(struct pm_standing *standing, struct pm_stands *stands,
                       struct pm_pipeline *pipeline, uint64_t game,
                       struct pm_stand (*find_out)(const struct pm_pipeline *pipeline))
{
    if (find_out(pipeline).stands == 0 || pthread_rwlock_trywrlock(&standing->lock) != 0)
        return;
    /* Once more: who has changed something since takes it back behind us. */
    const struct pm_stand now = find_out(pipeline);
    if (now.stands != 0)
        say(standing, stands, pipeline, game, &now);
    pthread_rwlock_unlock(&standing->lock);
}

void pm_standing_change(struct pm_standing *standing, struct pm_stands *stands)
{
    pthread_rwlock_rdlock(&standing->lock);
    say_nothing(stands);
    pthread_rwlock_unlock(&standing->lock);
}

void pm_standing_change_all(struct pm_standing *standing)
{
    pthread_rwlock_rdlock(&standing->lock);
    for (struct pm_standing_table *table = standing->table; table; table = table->smaller)
        for (uint32_t i = 0; i < 2 * table->homes; i++)
            atomic_store_explicit(&table->at[i / 2].slots[i % 2].game, 0, memory_order_release);
    atomic_fetch_add_explicit(&standing->turn, 1, memory_order_relaxed);
    pthread_rwlock_unlock(&standing->lock);
}

void pm_standing_forget(struct pm_stands *stands)
{
    say_nothing(stands);
    struct pm_standing_slot *slot =
        atomic_exchange_explicit(&stands->slot, NULL, memory_order_acq_rel);
    if (!slot)
        return;
    atomic_fetch_sub_explicit(&stands->in->taken, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->pipeline, NULL, memory_order_release);
}
