/*
 * Scenes: which part of the game the counters that come in are of. A game names them by
 * vkSetScenePIECEMEAL (piecemeal.h), or by debug labels that begin as game.scene_labels says; a
 * label in a command buffer counts for all of it, wherever it is submitted.
 *
 * Counters are device memory and know no scenes, so a queue copies what it counted before the first
 * submission of another scene (readback.h), and every variant remembers which scene its counters
 * that were not copied yet are of. Where one was used in two before a copy could be made, its
 * counts belong to neither: they go untagged, never to the wrong scene.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

/* A scene is a number; beside those below, an index of struct pm_scenes' names. */
enum {
    PM_SCENE_NONE = 0,     /* a variant: nothing is to be copied; a recording: no label in it */
    PM_SCENE_MIXED = 1,    /* several, or one that cannot be named */
    PM_SCENE_STANDARD = 2, /* the configuration's, or none */
    PM_SCENE_FIRST = 3,
};

#define PM_SCENE_NUMBERS (PM_SCENE_FIRST + 64) /* PIECEMEAL_SCENES of the game's own */

struct pm_scenes {
    struct pm_log *log;
    const char *labels; /* how the labels that name scenes begin; NULL: none does */
    _Atomic uint32_t current;
    pthread_mutex_t lock;          /* adding names */
    _Atomic uint32_t count;        /* raised after its name is there */
    char *names[PM_SCENE_NUMBERS]; /* unchanged once there */
    bool full;                     /* said once */
};

/* labels and standard (NULL: none) live as long as it does, and so does the log. */
void pm_scenes_init(struct pm_scenes *scenes, const char *standard, const char *labels,
                    struct pm_log *log);
void pm_scenes_finish(struct pm_scenes *scenes);

/* The number of a name. */
uint32_t pm_scenes_find(struct pm_scenes *scenes, const char *name);

/* The scene that a label begins; PM_SCENE_NONE: it begins none. */
uint32_t pm_scenes_of_label(struct pm_scenes *scenes, const char *label);

/* What it is called in a profile: "" for none. Lives as long as *scenes. */
const char *pm_scenes_name(const struct pm_scenes *scenes, uint32_t scene);

/* What counters are of that were counted in both. */
static inline uint32_t pm_scene_join(uint32_t a, uint32_t b)
{
    return a == b || b == PM_SCENE_NONE ? a : a == PM_SCENE_NONE ? b : (uint32_t)PM_SCENE_MIXED;
}
