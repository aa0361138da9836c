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

static int32_t calls_of(const struct pm_owed *owed)
{
    return atomic_load_explicit(&owed->calls, memory_order_relaxed);
}

/* So many calls may be owed where those of a period are so many. */
static int64_t most_calls(uint32_t of_period)
{
    return PM_OWED_CALLS + (int64_t)PM_OWED_PERIODS * of_period;
}

/* The shader is drawn less than when it came to be owed so much: some of that goes. Not all at
 * once, since a single period may have less than the others. */
static void forget_some(struct pm_owed *owed, uint32_t chances)
{
    const int32_t calls = calls_of(owed);
    if (calls > most_calls(chances))
        atomic_fetch_sub_explicit(&owed->calls, calls / 4, memory_order_relaxed);
}

/* What is counted is of that period from now on. */
static void go_on(struct pm_owed *owed, uint64_t when)
{
    uint64_t before = time_of(&owed->when);
    if (when <= before ||
        !atomic_compare_exchange_strong_explicit(&owed->when, &before, when, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    const uint32_t chances = load(&owed->chances);
    if (when >> 32 != before >> 32) {
        atomic_store_explicit(&owed->calls, 0, memory_order_relaxed);
        store(&owed->chances_before, 0);
    } else if (chances > 0) {
        forget_some(owed, chances);
        store(&owed->chances_before, chances);
    }
    const int32_t calls = calls_of(owed);
    store(&owed->due, calls > 0 ? (uint32_t)calls : 0);
    store(&owed->added_before, when == before + 1 ? load(&owed->added) : 0);
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
    if (calls_of(owed) + (int64_t)calls <= most_calls(now > before ? now : before))
        atomic_fetch_add_explicit(&owed->calls, (int32_t)calls, memory_order_relaxed);
}

bool pm_owed_draw(struct pm_owed *owed, uint64_t when, uint64_t random)
{
    go_on(owed, when);
    atomic_fetch_add_explicit(&owed->chances, 1, memory_order_relaxed);
    /* Of the period that was counted first not all were. */
    const uint32_t chances = load(&owed->chances_before), due = load(&owed->due);
    return chances > 0 && when >= time_of(&owed->counted_from) + 2 &&
           (random >> 32) * chances >> 32 < due && calls_of(owed) > -(int64_t)due - PM_OWED_CALLS;
}

void pm_owed_pay(struct pm_owed *owed)
{
    atomic_fetch_sub_explicit(&owed->calls, 1, memory_order_relaxed);
}
