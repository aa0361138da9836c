/*
 * Instrumented ahead (HAZARDS 12): a recording that is made once and submitted often never finds a
 * variant if its first sampled call is what asks for it. So some pipelines get one as soon as the
 * game has made them. It is made in the background, as ever; what a program does between making a
 * pipeline and recording it is often shorter than that, so vkCreate*Pipelines waits for it, for
 * limits.creation_ms of each second at most; where that is 0 nothing is made ahead. Few drivers
 * make a pipeline in that time. So while the game loads, when nobody sees it, it waits for
 * limits.loading_ms besides: before the first frames, and again where it loads more, once a minute.
 *
 * Which get one is a lot: each pipeline with a chance that is known (variant_make.c). What has one
 * by a lesser chance is sampled more often for it (predicated.h), so that each call is sampled with
 * the same probability, whatever was made when its pipeline was.
 *
 * Of these, proven variants that are made at once (at_once.h) have the first right: a sample is for
 * everybody, but they are for whoever waits. A few times what those take that earlier sessions have
 * kept is set aside, up to half of the time, and nothing of that is waited for samples.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "base/random.h"
#include "layer/core/allowance.h"
#include "layer/core/compiler.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pm_ahead {
    pthread_mutex_t lock;
    pthread_cond_t done;
    /* guarded by lock: */
    struct pm_allowance allowance; /* of waiting */
    double most_loading;           /* nanoseconds of waiting while the game loads */
    double loading;                /* of them, that are left; below 0: more were spent */
    double reserve;                /* of what there is at first, for proven variants */
    double reserved;               /* of these, that are left */
    int64_t loading_at;            /* CLOCK_MONOTONIC, nanoseconds: since when they are counted */
    struct pm_random random;       /* of the lots */
    double further;                /* chances of further pipelines that came to none yet */
};

/* seed: of the lots. */
void pm_ahead_init(struct pm_ahead *ahead, uint32_t creation_ms, uint32_t loading_ms, uint64_t seed,
                   int64_t now);
void pm_ahead_finish(struct pm_ahead *ahead);

/* Whether a pipeline with this chance (0…1) is among those that get one. The chance may depend on
 * who did before. further: of those that may not, as these differ in it by little only; then as
 * many get one, but for a fraction, as the sum of their chances says. */
bool pm_ahead_draw(struct pm_ahead *ahead, double chance, bool further);

/* Waits until pm_ahead_done has cleared the flag, or for as long as may be waited, or until what is
 * awaited, a job that has so much in advance, may not begin (pm_compiler_may_run; compiler NULL: it
 * may). loads: nobody sees it (pm_sampling_loads). */
void pm_ahead_wait(struct pm_ahead *ahead, struct pm_compiler *compiler, uint32_t advance_s,
                   const _Atomic bool *awaited, bool loads);

/* Whether there is any of loading's time left. */
bool pm_ahead_loads(struct pm_ahead *ahead);
/* Sets loading's time aside, whenever there is any again, for proven variants that all together
 * take so many nanoseconds. */
void pm_ahead_reserve(struct pm_ahead *ahead, int64_t time);
/* Takes so many nanoseconds of loading for one; worth: also of the second half, for which the best
 * are kept where there is not enough for all. false: as many are not left. */
bool pm_ahead_take(struct pm_ahead *ahead, int64_t time, bool worth);
/* Gives back what of them was not spent; below 0: more was. */
void pm_ahead_give_back(struct pm_ahead *ahead, int64_t time);

/* Whatever was awaited is over: clears the flag. */
void pm_ahead_done(struct pm_ahead *ahead, _Atomic bool *awaited);
