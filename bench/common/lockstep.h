/*
 * Several runs of a scene, frame by frame in turn, so that what a noisy machine does in one second
 * it does to all of them: the scenes of examples/ draw one frame for each byte on their standard
 * input (--step) and answer with its milliseconds.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/error.h"
#include "base/paired.h"
#include "base/random.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PM_SIDES = 16, PM_SIDE_WORDS = 64 };

/* One of the runs. Fill words (NULL behind the last) and environment ("NAME=value", NULL behind the
 * last; NULL: none) first. */
struct pm_side {
    const char *words[PM_SIDE_WORDS];
    const char *const *environment;
    pid_t process;
    int in, out;
    char text[64];
    size_t length; /* of text: what was read of the next answer */
};

/* false: this process was told to end, which since its first session ends only what is played
 * (tools/common/launch.h). Rounds look at it, and so does who plays sessions. */
bool pm_lockstep_goes_on(struct pm_error *error);

/* Starts them all. On failure those that were started are stopped. */
bool pm_lockstep_start(struct pm_side *sides, size_t count, struct pm_error *error);

/* One frame of each, in an order drawn anew each time: the milliseconds. */
bool pm_lockstep_round(struct pm_side *sides, size_t count, struct pm_random *random,
                       double *milliseconds, struct pm_error *error);

/* One frame of each at the same time, where what it takes does not matter. */
bool pm_lockstep_together(struct pm_side *sides, size_t count, struct pm_error *error);

/* Ends their input and waits for them. false: one did not end with 0. */
bool pm_lockstep_stop(struct pm_side *sides, size_t count, struct pm_error *error);

/* All of it: starts them, draws so many rounds and stops them. milliseconds[side][round]. */
bool pm_lockstep_draw(struct pm_side *sides, size_t count, size_t rounds,
                      double *const *milliseconds, struct pm_error *error);

/* The same until a time (pm_now()), but no fewer rounds than `least`: how many, to *drawn. */
struct pm_rounds {
    size_t least, most;
    int64_t until;
};
bool pm_lockstep_draw_until(struct pm_side *sides, size_t count, const struct pm_rounds *rounds,
                            double *const *milliseconds, size_t *drawn, struct pm_error *error);

/* ---- what is said of the ratios ---- */

/* The trim of benchmarks that compare shaders: in a few blocks something else ran. */
#define PM_LOCKSTEP_TRIM 0.1

/* Sums of `block` successive rounds make one pair; rounds with skip set are left out. trim: as in
 * pm_paired_interval. Out of memory: of nothing. */
struct pm_paired pm_paired_ratio(const double *numerator, const double *denominator,
                                 const bool *skip, size_t rounds, size_t block, double trim);
