/*
 * A pipeline's specialized variant. It lives as long as the game's pipeline, whatever the verdict
 * on it: recordings may name it as they may name the game's. Of one that recordings hold (hold.h)
 * what was built goes once it is of no use and no recording names it; the rest stays, since who
 * records may just be looking at it.
 *
 * Thread safety: any thread; destroyed by its pipeline, which nobody else uses then.
 */
#pragma once

#include "layer/shader/built.h"
#include "layer/shader/candidate.h"
#include "layer/shader/passes.h"
#include "layer/shader/watch.h"

struct pm_contest;            /* contest.h */
struct pm_slow_twin;          /* slow_later.h */
struct pm_specialized_shader; /* specialized_shader.h */

struct pm_optimized {
    struct pm_candidate candidate;
    struct pm_pipeline *pipeline; /* that it stands for, and that owns it */
    struct pm_built built;        /* of one in several passes: nothing */
    struct pm_passes passes;      /* of which there are none for any other */
    const struct pm_specialized_shader *shader;
    struct pm_specialized_shader *arm_shader; /* the same of a contest's, which it has a reference
                                                 of; NULL: it is none's, or was emptied */
    struct pm_slow_twin *slow; /* bound in its place once it has turned slow; owned; NULL: never */
    struct pm_watch watch;     /* of a variant for values of push constants; else its count is 0 */
    struct pm_optimized *next; /* of a contest's that were built for the pipeline */
    struct pm_optimized *next_retired; /* of those that recordings still hold (retired.c) */
    struct pm_contest *contest;        /* that it takes part in; NULL: none */
    uint32_t arm;                      /* of which it is that */
    bool noted; /* the journal has it as what is tried for a while (optimize_contest_private.h) */
    _Atomic bool bound;    /* in the game's place, at least once */
    _Atomic bool decided;  /* bound in the game's place, or dropped since it is not faster */
    _Atomic uint32_t room; /* enum pm_room: what it takes room of */
};

/* No recording names it, and none will: destroys what was built and gives back its room. */
void pm_optimized_empty(struct pm_device *device, struct pm_optimized *optimized);
/* The journal has it no more, if it had it as what is tried for a while. The job's thread. */
void pm_optimized_unnote(struct pm_optimized *optimized);
void pm_optimized_destroy(struct pm_device *device, struct pm_optimized *optimized);
