/*
 * Trials (HAZARDS 21): a specialized shader is tried against the game's own before its variants are
 * bound for good. All pipelines with the shader take part in one trial, and share its outcome:
 * games have a shader in many pipelines that differ in their state alone, each of which draws too
 * little to be told from noise. While a trial goes on, recordings are tracked, and in them the
 * first uses of its pipelines in each frame are timed, alternately with the one and the other, the
 * order drawn anew for each pair so that what drifts cancels. A use is paired with the same one of
 * the next frame that has it, within 576: the pipeline's n-th call, or the n-th instance of a
 * render pass, with as many workgroups (from 64 on to an eighth) or as large a render area; what is
 * of another size takes longer or shorter for that alone. Where sizes are many, what comes once
 * begins no pair. How large a render area is that a draw in a secondary command buffer has is known
 * once a primary one executes it, when its side was chosen long ago, and in which instance: such a
 * use makes a pair with the last one of its size on the other side.
 *
 * A dispatch is timed by itself, and so is a draw where the device's timestamps are additive
 * (additive.h, HAZARDS 14) and the render pass has one view. Elsewhere the choice is held for a
 * whole render pass instance, and that is timed: for all trials whose shaders are drawn with in it,
 * each of which draws its side by itself, so that the others' cancel as all else does. Which
 * instances are worth timing, and where queries must be reset outside of them also which have draws
 * to be timed, is learned from the frame before. Draws wait until it is known which of the two it
 * is. An instance that is suspended or resumed is left alone, and so is everything where a rebind
 * is (HAZARDS 11). A trial's uses are all of one kind, that of its first.
 *
 * In a secondary command buffer dispatches and single draws are timed as elsewhere, and read when
 * what executes it was submitted, unless it may run several times and its queries could not be
 * reset in between. Which side its draws have is decided when it is recorded. Where they are not
 * timed one by one, all that are recorded at a time have the same, and the instance that executes
 * them is timed (executed_passes.h).
 *
 * What is not known of a use, as the workgroups of an indirect dispatch, does not depend on the
 * lot that orders its pair: it makes a trial longer, and favours neither side.
 *
 * Pairs are judged when there are 8, 16, 32…: faster when the 95 % interval of the trimmed mean of
 * their ratios lies wholly below a limit, dropped when it lies above it, undecided when it is so
 * narrow that more pairs would not matter or the most pairs are there. An interval that is too wide
 * decides nothing: something else ran. The outcome becomes a timing profile in the spool. A
 * pipeline that comes later has it at once. An undecided trial begins anew after some minutes of
 * frames, each time later than before.
 *
 * What was found faster is tried again where the game has named another scene, and else after some
 * minutes of frames, each time later than before: in another scene it may be slower. It stays bound
 * meanwhile, and where it cannot be told from the original. In between it is glanced at (glance.h).
 *
 * A trial of which nothing was timed for a while sleeps, each time longer than before: when all do,
 * draws take the shortest way again. While somebody has paused them (profile/session_status.h)
 * nothing is tried, and the heartbeats that trials count stand still.
 *
 * Thread safety: what takes a command follows its command buffer's external synchronization; the
 * poller's functions belong to its thread; all else may be called from any thread.
 */
#pragma once

#include "base/random.h"
#include "layer/frame/command.h"
#include "layer/shader/candidate.h"
#include "layer/trial/timing.h"
#include "layer/trial/trials_sum.h"

struct pm_budget; /* budget.h */
struct pm_report; /* counts/report.h */
struct pm_trials;

/* NULL: out of memory, or the device has no timing; nothing is tried then. */
struct pm_trials *pm_trials_create(struct pm_device *device);
/* After every recording was dropped and every pipeline destroyed. NULL is allowed. */
void pm_trials_destroy(struct pm_trials *trials);

/* The device is about to go: what could not be timed is tried over sessions (sessions.h) from now
 * on. NULL is allowed. */
void pm_trials_end(struct pm_trials *trials);

/* A candidate that was just built takes part in its shader's trial until it is gone, or has the
 * verdict at once. compute: of a compute pipeline. trials NULL is allowed. */
void pm_trials_add(struct pm_trials *trials, struct pm_candidate *candidate, bool compute);

/* A candidate that is bound since an earlier session proved it takes part in what is tried again.
 * trials NULL is allowed. */
void pm_trials_watch(struct pm_trials *trials, struct pm_candidate *candidate, bool compute);

/* A heartbeat: now and then trials that nobody uses are put to sleep, or woken. */
void pm_trials_heartbeat(struct pm_trials *trials, uint64_t heartbeat);

/* From now on nothing is tried, over sessions neither, and nothing of that time is judged; or what
 * was tried goes on. Recordings keep what they were made with. Called while proven variants are
 * bound. trials NULL is allowed. */
void pm_trials_pause(struct pm_trials *trials, bool paused);

/* Keeps for later sessions, now and then, what trials spent beyond their share. Waits for the disk.
 * The poller's. NULL is allowed. */
void pm_trials_each_second(struct pm_trials *trials);

/* What all of the device's trials may cost, those over sessions too. Theirs. */
struct pm_budget *pm_trials_budget(struct pm_trials *trials);

/* Whether something was timed lately, or is about to be. */
bool pm_trials_are_busy(const struct pm_trials *trials, uint64_t heartbeat);

/* ---- trial.c for trial_command.c ---- */

/* NULL is allowed. */
bool pm_trial_is_awake(const struct pm_trial *trial);

/* What tells uses of different size apart, of which one may take longer for that alone: by a
 * dispatch's workgroups or a render area's width and height, and its layers. Never 0, which is for
 * what is not known. */
static inline uint64_t pm_trial_work(uint32_t x, uint32_t y, uint32_t z)
{
    return pm_random_mix(pm_random_mix((uint64_t)x << 32 | y) + z) | 1;
}

/* The next use in this frame, with its side: of a call of some work, or of a whole render pass
 * instance that has the slot (below). false: it is not timed. */
bool pm_trial_next_call(struct pm_candidate *candidate, uint64_t work, struct pm_timed *timed);
bool pm_trial_next_pass(const struct pm_candidate *candidate, uint32_t slot,
                        struct pm_timed *timed);

/* The slot of a render pass instance (pass_table.h; what: its render pass, or the first
 * attachment's view), whether it is worth timing, and what came of it. */
uint32_t pm_trials_pass(struct pm_trials *trials, uint64_t what, bool *worth);
void pm_trials_pass_was(struct pm_trials *trials, uint32_t slot, bool worth);

/* ---- trial_command.c: in a recording that takes part ---- */

/* Of draws with it none can be timed in turn, where they were recorded (trial.c). */
void pm_trial_is_untimed(const struct pm_candidate *candidate);

/* Whether a recording that begins may be timed. may_repeat: it may be submitted more than once as
 * it is, and so cannot alternate. */
bool pm_trial_may_time(const struct pm_command *command, bool may_repeat);

/* Behind pm_binding_stand: binds the variant over what stands, where this is its turn. The caller
 * calls pm_binding_bind. */
void pm_trial_bind(struct pm_command *command, int point);

/* Behind pm_binding_pushed: binds the variant of a trial that fits now, where it is its turn. */
void pm_trial_pushed(struct pm_command *command);

/* A call that is timed; measurement PM_TIMING_NONE: it is not. */
struct pm_timed_call {
    uint32_t measurement;
    struct pm_timed timed;
    struct pm_session_use *session; /* of a trial over sessions (sessions.h); NULL: none */
};

/* Before a call at which the countdown was through, and after it; then pm_binding_put_back is
 * owed. groups: of a dispatch (passes_run.h). Where the side that is its turn is in several passes,
 * struct pm_bound says so. */
struct pm_timed_call pm_trial_call_begins(struct pm_command *command, int point,
                                          const uint32_t *groups);
void pm_trial_call_ends(struct pm_command *command, const struct pm_timed_call *call);

/* A render pass instance that begins. */
struct pm_pass_beginning {
    bool whole;               /* it is neither suspended nor resumed */
    bool executes;            /* its calls, or some of them, are in secondary command buffers */
    bool both;                /* likewise, and others in the command buffer itself */
    bool views;               /* several */
    VkRenderPass render_pass; /* which says of its subpasses how many; VK_NULL_HANDLE: none */
    uint64_t what;            /* tells it from others of the frame */
    uint64_t work;            /* of its render area */
};

/* Whether recordings may be timed at all just now; while not, none of the next three does anything.
 */
static inline bool pm_trials_time(const struct pm_device *device)
{
    return device->trials != NULL && pm_sampling_is_trying(device->sampling);
}

/* A recording of a secondary command buffer was chosen that is to be executed in an instance. Of
 * one that is not whole, as far as anyone knows, no draw is timed. */
void pm_trial_secondary_begins(struct pm_command *command,
                               const struct pm_pass_beginning *inherited);

/* Before it begins. NULL: the recording is not timed. */
struct pm_command *pm_trial_pass_begins(struct pm_device *device, VkCommandBuffer handle,
                                        const struct pm_pass_beginning *beginning);
/* Then: what was bound before the instance began takes part in it. NULL is allowed. */
void pm_trial_pass_began(struct pm_command *command);
/* Secondary command buffers are executed, in an instance or outside. */
void pm_trial_executes(struct pm_device *device, VkCommandBuffer handle, uint32_t count,
                       const VkCommandBuffer *buffers);
/* After it ended. */
void pm_trial_pass_ended(struct pm_device *device, VkCommandBuffer handle);

/* ---- the poller ---- */

/* Registers with the device's poller what it times. */
void pm_trials_poll_with(struct pm_device *device);

/* A pm_timing_taker; user is the struct pm_trials. */
void pm_trials_take(void *user, const struct pm_timed *timed, double nanoseconds);

/* What became of the trials so far. */
void pm_trials_sum(struct pm_trials *trials, struct pm_trials_sum *sum);

/* Adds the profiles of the trials that were decided since the last call. */
void pm_trials_report(struct pm_trials *trials, struct pm_report *report);
