/*
 * Whether the game is bound by its processor (HAZARDS 20): the GPU runs dry although no thread of
 * the game waits for it, nor for the display. Such a game is left alone, since every instruction of
 * ours would be seen in its frame time. A frame cap idles the GPU too and is no reason: then either
 * a Vulkan call waits or the processor idles as well.
 *
 * Decided over the last 32 observed frames, with hysteresis; until there are 16 it is undecided,
 * which counts as no.
 *
 * Thread safety: a struct belongs to one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One frame, from present to present. Times in nanoseconds. */
struct pm_cpu_frame {
    int64_t wall;
    int64_t waited;    /* in acquire, present, waits for a present, fences, semaphores, queries and
                          idle waits, summed over the game's threads */
    int64_t processor; /* time that the whole process ran */
    bool gpu_idle;     /* everything submitted was done before the next submission came */
};

struct pm_cpu_bound {
    uint32_t history; /* a bit a frame, the latest lowest: it looked bound by the processor */
    uint32_t frames;  /* observed, at most 32 */
    bool bound;
};

void pm_cpu_bound_init(struct pm_cpu_bound *state);

/* Takes one more frame in; true: the game is bound by its processor. */
bool pm_cpu_bound_frame(struct pm_cpu_bound *state, const struct pm_cpu_frame *frame);
