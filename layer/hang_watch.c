#include "layer/hang_watch.h"

/* Questions further apart do not make one long wait. */
#define PAUSE PM_SECOND

void pm_hang_watch_submitted(struct pm_hang_watch *watch)
{
    if (!atomic_load_explicit(&watch->submitted, memory_order_relaxed))
        atomic_store(&watch->submitted, true);
}

/* others: waits are under way, and go on. */
static void ask_in_vain(struct pm_hang_watch *watch, int64_t now, bool others)
{
    if (!atomic_load(&watch->submitted))
        return;
    if (atomic_load(&watch->since) == 0 || (!others && now - atomic_load(&watch->until) > PAUSE))
        atomic_store(&watch->since, now);
    atomic_store(&watch->until, now);
}

static void see_finished(struct pm_hang_watch *watch, int64_t now)
{
    atomic_store(&watch->since, atomic_load(&watch->waits) > 0 ? now : 0);
}

void pm_hang_watch_answer(struct pm_hang_watch *watch, int64_t now, bool finished)
{
    if (finished)
        see_finished(watch, now);
    else
        ask_in_vain(watch, now, atomic_load(&watch->waits) > 0);
}

void pm_hang_watch_idle(struct pm_hang_watch *watch)
{
    atomic_store(&watch->submitted, false);
    atomic_store(&watch->since, 0);
}

void pm_hang_watch_wait_begins(struct pm_hang_watch *watch, int64_t now)
{
    ask_in_vain(watch, now, atomic_fetch_add(&watch->waits, 1) > 0);
}

void pm_hang_watch_wait_ends(struct pm_hang_watch *watch, int64_t now, bool finished)
{
    if (!finished)
        ask_in_vain(watch, now, true);
    atomic_fetch_sub(&watch->waits, 1);
    if (finished)
        see_finished(watch, now);
}

bool pm_hang_watch_hangs(const struct pm_hang_watch *watch, int64_t now)
{
    const int64_t since = atomic_load(&watch->since);
    const int64_t until = atomic_load(&watch->waits) > 0 ? now : atomic_load(&watch->until);
    return since != 0 && until - since >= PM_HANG;
}
