#include "layer/core/hang_watch.h"

/* The table's values are times, as odd numbers of milliseconds, so that none is NULL. In 32 bits
 * they wrap around every 49 days: what counts is how long ago one was. */
static uintptr_t stamp(int64_t time)
{
    return (uintptr_t)(time / PM_MILLISECOND) | 1;
}

static int64_t time_of(uintptr_t stamped, int64_t now)
{
    return now - (int64_t)(uintptr_t)(stamp(now) - stamped) * PM_MILLISECOND;
}

void pm_hang_watch_init(struct pm_hang_watch *watch)
{
    pm_lookup_init(&watch->fences);
    atomic_store(&watch->late, 0);
}

void pm_hang_watch_finish(struct pm_hang_watch *watch)
{
    pm_lookup_finish(&watch->fences);
}

void pm_hang_watch_submitted(struct pm_hang_watch *watch, VkFence fence, int64_t now)
{
    /* What there is no memory for is not watched. */
    if (fence != VK_NULL_HANDLE)
        pm_lookup_put(&watch->fences, PM_KEY(fence), (void *)stamp(now));
}

/* 0: it is no submission's. */
static int64_t submitted_at(struct pm_hang_watch *watch, VkFence fence, int64_t now)
{
    const uintptr_t stamped = (uintptr_t)pm_lookup_find(&watch->fences, PM_KEY(fence));
    return stamped ? time_of(stamped, now) : 0;
}

static void forget_late(struct pm_hang_watch *watch, VkFence fence)
{
    uint64_t late = PM_KEY(fence);
    if (atomic_load(&watch->late) == late)
        atomic_compare_exchange_strong(&watch->late, &late, 0);
}

void pm_hang_watch_reset(struct pm_hang_watch *watch, uint32_t count, const VkFence *fences)
{
    for (uint32_t i = 0; i < count; i++) {
        pm_lookup_remove(&watch->fences, PM_KEY(fences[i]));
        forget_late(watch, fences[i]);
    }
}

/* The fence that was submitted last, and when; 0: not all are submissions'. */
static int64_t latest(struct pm_hang_watch *watch, const struct pm_hang_question *question,
                      int64_t now, VkFence *fence)
{
    int64_t time = 0;
    for (uint32_t i = 0; i < question->count; i++) {
        const int64_t at = submitted_at(watch, question->fences[i], now);
        if (at == 0)
            return 0;
        if (at > time)
            *fence = question->fences[i];
        time = at > time ? at : time;
    }
    return time;
}

/* All work may be one queue's: of what hangs on another the next question tells. */
static void see_finished(struct pm_hang_watch *watch, const struct pm_hang_question *question)
{
    if (question->count == 0)
        atomic_store(&watch->late, 0);
    for (uint32_t i = 0; i < question->count && (!question->any || question->count == 1); i++)
        forget_late(watch, question->fences[i]);
}

void pm_hang_watch_answer(struct pm_hang_watch *watch, const struct pm_hang_question *question,
                          bool finished, int64_t now)
{
    VkFence fence = VK_NULL_HANDLE;
    if (finished) {
        see_finished(watch, question);
        return;
    }
    const int64_t time = latest(watch, question, now, &fence);
    if (time != 0 && now - time >= PM_HANG)
        atomic_store(&watch->late, PM_KEY(fence));
}

_Atomic int64_t *pm_hang_watch_wait_begins(struct pm_hang_watch *watch,
                                           const struct pm_hang_question *question, int64_t now)
{
    VkFence fence = VK_NULL_HANDLE;
    if (question->count > 0 && latest(watch, question, now, &fence) == 0)
        return NULL;
    for (uint32_t i = 0; i < PM_HANG_WAITS; i++) {
        int64_t none = 0;
        if (atomic_compare_exchange_strong(&watch->waits[i], &none, now))
            return &watch->waits[i];
    }
    return NULL;
}

void pm_hang_watch_wait_ends(_Atomic int64_t *wait)
{
    if (wait != NULL)
        atomic_store(wait, 0);
}

bool pm_hang_watch_hangs(const struct pm_hang_watch *watch, int64_t now)
{
    bool hangs = atomic_load(&watch->late) != 0;
    for (uint32_t i = 0; i < PM_HANG_WAITS; i++) {
        const int64_t since = atomic_load(&watch->waits[i]);
        hangs |= since != 0 && now - since >= PM_HANG;
    }
    return hangs;
}
