/*
 * What stands for a pipeline of the game's outside windows: itself, or the proven variant that a
 * bind binds in its place. It is said only while a bind has nothing else to do: its variant was
 * bound before, nobody counts its binds, it has none in several passes, and nothing is compared or
 * traced. Whoever changes any of that calls pm_standing_change behind it, and binds go the long way
 * until one of them has found out anew.
 *
 * Each pipeline has it, and beside them is a table of the same by handle, for the shortest way: the
 * home of a pipeline's handle is its own from its first such bind until the game destroys it, so
 * that what a bind finds there is always of the pipeline that it asked for. Where another pipeline
 * has the home, a bind looks the pipeline up.
 *
 * Thread safety: any thread. A bind never waits: where somebody else is at it, the next finds out.
 */
#pragma once

#include "layer/core/lookup.h"

struct pm_pipeline;

enum { PM_STANDING_SLOTS = 4096 };

struct pm_standing_slot {
    _Alignas(32) _Atomic uint64_t game;     /* handle; 0: nothing is said of whose home it is */
    _Atomic uint64_t stands;                /* for it */
    _Atomic(struct pm_pipeline *) pipeline; /* itself */
};

struct pm_standing {
    struct pm_standing_slot slots[PM_STANDING_SLOTS];
    pthread_mutex_t lock;
    uint64_t taken[PM_STANDING_SLOTS / 64]; /* homes of pipelines, as bits; under lock */
};

/* A pipeline's part; it begins as zeros. */
struct pm_stands {
    _Atomic uint64_t now; /* a handle; 0: it is not known what stands, or a bind has more to do */
    uint64_t home;        /* the handle whose home is its own; 0: none. Under lock */
};

/* Bytes from the first slot to a handle's home. */
static inline uint64_t pm_standing_home(uint64_t game)
{
    return (game * PM_LOOKUP_ANYTHING) >> 28 &
           (PM_STANDING_SLOTS - 1) * sizeof(struct pm_standing_slot);
}

static inline const struct pm_standing_slot *pm_standing_slot(const struct pm_standing *standing,
                                                              uint64_t game)
{
    return (const struct pm_standing_slot *)((const char *)standing->slots +
                                             pm_standing_home(game));
}

/* NULL: out of memory. */
struct pm_standing *pm_standing_create(void);
/* NULL is allowed. */
void pm_standing_destroy(struct pm_standing *standing);

/* A bind of the pipeline with that handle went the long way: says what stands, if find_out can tell
 * (0: it cannot), which is asked once more where nobody can have changed it unseen. */
void pm_standing_learn(struct pm_standing *standing, struct pm_stands *stands,
                       struct pm_pipeline *pipeline, uint64_t game,
                       uint64_t (*find_out)(const struct pm_pipeline *pipeline));

/* Something of what stands has changed. */
void pm_standing_change(struct pm_standing *standing, struct pm_stands *stands);

/* The game destroys the pipeline, before the driver does. */
void pm_standing_forget(struct pm_standing *standing, struct pm_stands *stands);
