#include "layer/shader/owed.h"

static uint32_t load(const _Atomic uint32_t *count)
{
    return atomic_load_explicit(count, memory_order_relaxed);
}

static void store(_Atomic uint32_t *count, uint32_t value)
{
    atomic_store_explicit(count, value, memory_order_relaxed);
}

static uint64_t time_of(const _Atomic uint64_t *when)
{
    return atomic_load_explicit(when, memory_order_relaxed);
}

/* What is counted is of that period from now on. */
static void go_on(struct pm_owed *owed, uint64_t when)
{
    uint64_t before = time_of(&owed->when);
    if (when <= before ||
        !atomic_compare_exchange_strong_explicit(&owed->when, &before, when, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    if (when >> 32 != before >> 32)
        store(&owed->calls, 0);
    store(&owed->due, load(&owed->calls));
    const bool next = when == before + 1;
    store(&owed->added_before, next ? load(&owed->added) : 0);
    store(&owed->chances_before, next ? load(&owed->chances) : 0);
    store(&owed->added, 0);
    store(&owed->chances, 0);
}

void pm_owed_add(struct pm_owed *owed, uint64_t when, uint32_t calls)
{
    go_on(owed, when);
    /* What is told late may be of a window that has closed. */
    if (time_of(&owed->when) >> 32 != when >> 32)
        return;
    if (!pm_owed_any(owed, when))
        atomic_store_explicit(&owed->counted_from, when, memory_order_relaxed);
    if (when > time_of(&owed->added_at))
        atomic_store_explicit(&owed->added_at, when, memory_order_relaxed);
    const uint32_t now = load(&owed->added) + calls, before = load(&owed->added_before);
    store(&owed->added, now);
    const uint64_t most = PM_OWED_CALLS + (uint64_t)PM_OWED_PERIODS * (now > before ? now : before);
    if (load(&owed->calls) + (uint64_t)calls <= most)
        atomic_fetch_add_explicit(&owed->calls, calls, memory_order_relaxed);
}

bool pm_owed_draw(struct pm_owed *owed, uint64_t when, uint64_t random)
{
    go_on(owed, when);
    atomic_fetch_add_explicit(&owed->chances, 1, memory_order_relaxed);
    /* Of the period before this one it is known how many came. */
    return load(&owed->calls) > 0 && when >= time_of(&owed->counted_from) + 2 &&
           (random >> 32) * load(&owed->chances_before) >> 32 < load(&owed->due);
}

void pm_owed_pay(struct pm_owed *owed)
{
    uint32_t calls = load(&owed->calls);
    while (calls > 0 &&
           !atomic_compare_exchange_weak_explicit(&owed->calls, &calls, calls - 1,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}
