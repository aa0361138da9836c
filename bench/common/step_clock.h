/*
 * The time that a program which draws step by step is told: made up, so that each of its processes
 * draws the same frames. It begins alike in each and passes by what a frame takes, by a microsecond
 * each time it is asked, so that a loop that waits ends, and by what the program would have slept.
 *
 * Who is told: whoever asks gettimeofday, SDL's clocks, or, of the executable alone, clock_gettime
 * and select, as drivers and the layer time themselves by these. A program that is linked with
 * Vulkan keeps the true one, since its threads wait until a time of it. Random numbers begin alike,
 * too.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <stdint.h>

/* Taken instead of the C library's and others'. */
#define PM_PRELOADED __attribute__((visibility("default")))

void pm_step_clock_pass(uint64_t microseconds);

/* What the next library has under the name; ends the program where there is none. */
void *pm_step_find(const char *name);
