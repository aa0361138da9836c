/*
 * Trials (HAZARDS 21): a specialized variant that is built is tried against the game's own pipeline
 * before it is bound for good. While one is awaited, recordings of primary command buffers are
 * tracked, and in them the first uses of its pipeline in each frame are timed, alternately with
 * the one and the other, the order drawn anew for each pair so that what drifts cancels. The n-th
 * use in a frame is paired with the n-th use in the next one.
 *
 * A dispatch is timed by itself, and so is a draw where the device's timestamps are additive
 * (additive.h, HAZARDS 14) and the render pass has one view. Elsewhere the choice is held for a
 * whole render pass instance, and that is timed; only one pipeline's choice differs in it. Which
 * instances are worth timing, and where queries must be reset outside of them also which have draws
 * to be timed, is learned from the frame before. Draws wait until it is known which of the two it
 * is. An instance with secondary command buffers, and one that is suspended or resumed, is left
 * alone, and so is everything where a rebind is (HAZARDS 11). A trial's uses are all of one kind,
 * that of its first.
 *
 * Pairs are judged when there are 8, 16, 32…: faster when the 95 % interval of the trimmed mean of
 * their ratios lies wholly below a limit, dropped when it lies above it or the most pairs are
 * there. The outcome becomes a timing profile in the spool.
 *
 * A trial of which nothing was timed for a while sleeps, each time longer than before: when all do,
 * draws take the shortest way again.
 *
 * Thread safety: what takes a command follows its command buffer's external synchronization; the
 * poller's functions belong to its thread; all else may be called from any thread.
 */
#pragma once

#include "layer/frame/command.h"
#include "layer/shader/candidate.h"
#include "layer/trial/timing.h"

struct pm_report; /* counts/report.h */
struct pm_trials;

/* NULL: out of memory, or the device has no timing; nothing is tried then. */
struct pm_trials *pm_trials_create(struct pm_device *device);
/* After every recording was dropped and every pipeline destroyed. NULL is allowed. */
void pm_trials_destroy(struct pm_trials *trials);

/* Begins the trial of a candidate that was just built, if it can be tried, and keeps it in the
 * candidate until that is gone. compute: of a compute pipeline. trials NULL is allowed. */
void pm_trials_add(struct pm_trials *trials, struct pm_candidate *candidate, bool compute);

/* A heartbeat: now and then trials that nobody uses are put to sleep, or woken. */
void pm_trials_heartbeat(struct pm_trials *trials, uint64_t heartbeat);

/* Whether something was timed lately, or is about to be. */
bool pm_trials_are_busy(const struct pm_trials *trials, uint64_t heartbeat);

/* ---- trial.c for trial_command.c ---- */

/* NULL is allowed. */
bool pm_trial_is_awake(const struct pm_trial *trial);

/* The side of the next use in this frame; pass: of a whole render pass instance. false: it is not
 * timed. */
bool pm_trial_next(struct pm_trial *trial, bool pass, struct pm_timed *timed);

/* The slot of a render pass instance (pass_table.h; what: its render pass, or the first attachment's
 * view), whether it is worth timing, and what came of it. */
uint32_t pm_trials_pass(struct pm_trials *trials, uint64_t what, bool *worth);
void pm_trials_pass_was(struct pm_trials *trials, uint32_t slot, bool worth);

/* ---- trial_command.c: in a recording that takes part ---- */

/* Whether a recording that begins may be timed. may_repeat: it may be submitted more than once as
 * it is, and so cannot alternate. */
bool pm_trial_may_time(const struct pm_command *command, bool may_repeat);

/* Behind pm_binding_stand: binds the variant over what stands, where this is its turn. The caller
 * calls pm_binding_bind. */
void pm_trial_bind(struct pm_command *command, int point);

/* A call that is timed; measurement PM_TIMING_NONE: it is not. */
struct pm_timed_call {
    uint32_t measurement;
    struct pm_timed timed;
};

/* Before a call at which the countdown was through, and after it; then pm_binding_put_back is
 * owed. */
struct pm_timed_call pm_trial_call_begins(struct pm_command *command, int point);
void pm_trial_call_ends(struct pm_command *command, const struct pm_timed_call *call);

/* A render pass instance that begins. */
struct pm_pass_beginning {
    bool whole;               /* in this command buffer alone, and neither suspended nor resumed */
    bool views;               /* several */
    VkRenderPass render_pass; /* which says of its subpasses how many; VK_NULL_HANDLE: none */
    uint64_t what;            /* tells it from others of the frame */
};

/* Before it begins. NULL: the recording is not timed. */
struct pm_command *pm_trial_pass_begins(struct pm_device *device, VkCommandBuffer handle,
                                        const struct pm_pass_beginning *beginning);
/* Then: what was bound before the instance began takes part in it. NULL is allowed. */
void pm_trial_pass_began(struct pm_command *command);
/* After it ended. */
void pm_trial_pass_ended(struct pm_device *device, VkCommandBuffer handle);

/* ---- the poller ---- */

/* Registers with the device's poller what it times. */
void pm_trials_poll_with(struct pm_device *device);

/* A pm_timing_taker; user is the struct pm_trials. */
void pm_trials_take(void *user, const struct pm_timed *timed, double nanoseconds);

/* Adds the profiles of the trials that were decided since the last call. */
void pm_trials_report(struct pm_trials *trials, struct pm_report *report);
