/*
 * Timestamps around the game's calls (HAZARDS 14). A measurement is two queries of one pool that
 * are used again and again; both are written at BOTTOM_OF_PIPE and no barrier is added, so that
 * what is timed overlaps with what it always overlaps with. Queries are reset by the host once the
 * GPU is done with the recording that named them; a recording that may be submitted more than once
 * also resets them itself, outside render passes, and only its first submission is read. Results
 * are polled by the poller's thread, never waited for; on lavapipe, once their submission is done
 * (submission_marks.h).
 *
 * On a device without host query reset every recording resets its own, and its results are read
 * only when it is dropped: before that a query may still hold what it was written with last.
 *
 * A queue family whose timestamps have no valid bits times nothing.
 *
 * Thread safety: a function that takes a command follows its command buffer's external
 * synchronization, and takes no lock while it records; polling belongs to one thread.
 */
#pragma once

#include "layer/frame/command.h"

struct pm_timing;

/* NULL: the device cannot time, or the driver refused; nothing is tried then. */
struct pm_timing *pm_timing_create(struct pm_device *device);
/* The device is idle and no recording is used any more. NULL is allowed. */
void pm_timing_destroy(struct pm_timing *timing);

/* Whether command buffers of the queue family can be timed. NULL is allowed. */
bool pm_timing_is_possible(const struct pm_timing *timing, uint32_t family);

/* Whether a measurement may be reserved inside a render pass of the recording: it need not be reset
 * there. */
bool pm_timing_needs_no_reset(const struct pm_command *command);

/* Reserves a measurement for the recording; outside render passes, unless pm_timing_needs_no_reset.
 * PM_TIMING_NONE: all are in use. One that is never started measures nothing. */
uint32_t pm_timing_reserve(struct pm_command *command);

/* Resets one that was reserved for the recording, and not ended, once more; outside render passes.
 */
void pm_timing_reset(struct pm_command *command, uint32_t measurement);

/* Whether a recording's measurements can be read after each of its submissions. NULL is allowed. */
bool pm_timing_resets(const struct pm_timing *timing);

/* Writes its first timestamp into the recording. Inside a render pass that has several views
 * neither this nor the next may be called. */
void pm_timing_start(const struct pm_command *command, uint32_t measurement);

/* Writes the second one; within the same render pass instance as the first, or both outside. */
void pm_timing_end(struct pm_command *command, uint32_t measurement,
                   const struct pm_timed_uses *timed);

/* The recording, a secondary one that has ended, is executed in a render pass instance of that area
 * (pm_trial_work). Takes no lock: what has no area yet is in a recording for one submission that is
 * not under way, since none that may run several times has such uses (trial_command.c). */
void pm_timing_executed(const struct pm_command *command, uint64_t area);

/* The recording is about to be submitted to the queue; it was not after all. */
void pm_timing_submit(struct pm_command *command, const struct pm_queue *queue);
void pm_timing_submit_failed(struct pm_command *command);
/* A submission was made; called by who holds the VkQueue. NULL is allowed. */
void pm_timing_submitted(struct pm_timing *timing, const struct pm_queue *queue);

/* The recording is given up, and the GPU is done with it: its measurements are lost unless they
 * were taken in time. */
void pm_timing_drop(struct pm_command *command);

/* Whether results may come. */
bool pm_timing_is_waiting(const struct pm_timing *timing);

/* Takes every result that is there, for each of its uses; nanoseconds is at least a tick of the
 * device's clock. */
typedef void (*pm_timing_taker)(void *user, const struct pm_timed *timed, double nanoseconds);
void pm_timing_poll(struct pm_timing *timing, pm_timing_taker take, void *user);
