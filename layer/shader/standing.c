#include "layer/shader/standing.h"

#include <stdlib.h>
#include <string.h>

struct pm_standing *pm_standing_create(void)
{
    struct pm_standing *standing = aligned_alloc(_Alignof(struct pm_standing), sizeof *standing);
    if (!standing)
        return NULL;
    memset(standing, 0, sizeof *standing);
    pthread_mutex_init(&standing->lock, NULL);
    /* The home of VK_NULL_HANDLE is nobody's, so that it stands for itself. */
    standing->taken[0] = 1;
    return standing;
}

void pm_standing_destroy(struct pm_standing *standing)
{
    if (!standing)
        return;
    pthread_mutex_destroy(&standing->lock);
    free(standing);
}

static size_t index_of(uint64_t game)
{
    return (size_t)pm_standing_home(game) / sizeof(struct pm_standing_slot);
}

/* Under the lock: whether the home of the handle is its own from now on. */
static bool take_home(struct pm_standing *standing, struct pm_stands *stands, uint64_t game)
{
    const size_t index = index_of(game);
    const uint64_t bit = UINT64_C(1) << index % 64;
    if (stands->home == 0 && (standing->taken[index / 64] & bit) == 0) {
        standing->taken[index / 64] |= bit;
        stands->home = game;
    }
    return stands->home != 0;
}

static void say(struct pm_standing *standing, struct pm_stands *stands,
                struct pm_pipeline *pipeline, uint64_t game, uint64_t now)
{
    atomic_store_explicit(&stands->now, now, memory_order_release);
    if (!take_home(standing, stands, game))
        return;
    struct pm_standing_slot *slot = &standing->slots[index_of(game)];
    atomic_store_explicit(&slot->stands, now, memory_order_relaxed);
    atomic_store_explicit(&slot->pipeline, pipeline, memory_order_relaxed);
    atomic_store_explicit(&slot->game, game, memory_order_release);
}

static void say_nothing(struct pm_standing *standing, struct pm_stands *stands)
{
    atomic_store_explicit(&stands->now, 0, memory_order_release);
    if (stands->home != 0)
        atomic_store_explicit(&standing->slots[index_of(stands->home)].game, 0,
                              memory_order_release);
}

void pm_standing_learn(struct pm_standing *standing, struct pm_stands *stands,
                       struct pm_pipeline *pipeline, uint64_t game,
                       uint64_t (*find_out)(const struct pm_pipeline *pipeline))
{
    if (find_out(pipeline) == 0 || pthread_mutex_trylock(&standing->lock) != 0)
        return;
    /* Once more: who has changed something since takes it back behind us. */
    const uint64_t now = find_out(pipeline);
    if (now != 0)
        say(standing, stands, pipeline, game, now);
    pthread_mutex_unlock(&standing->lock);
}

void pm_standing_change(struct pm_standing *standing, struct pm_stands *stands)
{
    pthread_mutex_lock(&standing->lock);
    say_nothing(standing, stands);
    pthread_mutex_unlock(&standing->lock);
}

void pm_standing_forget(struct pm_standing *standing, struct pm_stands *stands)
{
    pthread_mutex_lock(&standing->lock);
    say_nothing(standing, stands);
    if (stands->home != 0) {
        const size_t index = index_of(stands->home);
        standing->taken[index / 64] &= ~(UINT64_C(1) << index % 64);
        stands->home = 0;
    }
    pthread_mutex_unlock(&standing->lock);
}
