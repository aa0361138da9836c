/*
 * Trials over sessions, for shaders of which nothing can be timed in turn within one: what is
 * recorded once and submitted again and again keeps the side that it was recorded with. Such a
 * session has one side throughout, the game's own shader or the variant, which is bound as a proven
 * one is; by lot, or the other one where an earlier session waits for it. Its calls and render pass
 * instances are timed wherever they are recorded. What comes of it is kept (profile/verdicts.h),
 * and makes a pair with a session that had the other side, by what had as many workgroups or as
 * large a render area in both. Of several uses of the same size nobody knows which one of the other
 * session is the same: threads record in any order. So they are compared all with all, where both
 * sessions have as many and timed each; the order of their recording matters for none but those
 * beyond the PM_SESSION_USES that are timed.
 *
 * A recording that the game keeps is either timed or sampled. Which, one lot says for all of them
 * in the session (pm_sampling_times_kept), since some of them alone say nothing: a session that
 * samples them is none of the trial, and draws with what it would draw with without one.
 *
 * The pairs are judged as those of a trial within a session are (verdict.h): of two sessions that
 * follow each other the lot said which side came first, so that under no difference a pair's
 * logarithm is as likely above as below zero, whatever drifts from session to session; and pairs
 * have no session in common. Two in a row that say a quarter slower are enough to drop a variant,
 * and one that says half as slow again to leave it undecided.
 *
 * What a session takes longer is charged to the trials' budget (session_cost.c), and until that is
 * paid no other draws with an untried variant. Before one does, the original was timed in a
 * session: so it is known which share of the time it takes, and few variants at once are tried, one
 * where its share is large; and a variant that turns out to be much slower is bound no more, though
 * what was recorded keeps it. One whose sessions have taken long, and say that it is slower, is
 * left undecided.
 *
 * A session that times nothing is the last one, where what is bound was recorded for one submission
 * alone or the session was long enough; if one before it has timed something, where both are so.
 * The next one tries it in turn.
 *
 * A use is timed by two queries that its recording resets itself, outside of render passes. They
 * are read after each submission until there is enough. A render pass instance is timed in the
 * primary command buffer, also what its secondary ones draw, of which each says what is bound in
 * it: since a session has one side, it matters neither how often they run nor when they were
 * recorded. Where they are executed in what is recorded anew, each frame has the same uses, and
 * times each once. A device without hostQueryReset is left alone.
 *
 * Thread safety: what takes a command follows its command buffer's external synchronization; taking
 * times belongs to the poller's thread; all else may be called from any thread.
 */
#pragma once

#include "layer/frame/command.h"
#include "layer/shader/specialized.h"

struct pm_budget;    /* budget.h */
struct pm_candidate; /* shader/candidate.h */
struct pm_session_trials;
struct pm_session_trial;

/* budget: of all of the device's trials; outlives them. NULL: out of memory. */
struct pm_session_trials *pm_session_trials_create(struct pm_device *device,
                                                   struct pm_budget *budget);
/* What was timed is kept, as far as it goes. The poller's thread has ended, and the optimizer is
 * still there. NULL is allowed. */
void pm_session_trials_end(struct pm_session_trials *trials);
/* After every recording was dropped and every pipeline destroyed. NULL is allowed. */
void pm_session_trials_destroy(struct pm_session_trials *trials);

/* A new pipeline takes part in its shader's trial. Before the game has it. With which side; NONE:
 * there is none, as there are enough or nothing more is recorded for them. NULL is allowed. */
enum pm_session_side pm_session_trials_join(struct pm_session_trials *trials,
                                            struct pm_pipeline *pipeline,
                                            const struct pm_specialized_shader *shader);

/* Then the variant of one that takes part with it is bound: its candidate. */
void pm_session_trials_bound(struct pm_session_trials *trials, struct pm_pipeline *pipeline,
                             struct pm_candidate *candidate);

/* Charges what they took since the last call. The poller's. NULL is allowed. */
void pm_session_trials_each_second(struct pm_session_trials *trials);

/* A heartbeat: after some thousand nothing more is recorded for them. NULL is allowed. */
void pm_session_trials_heartbeat(struct pm_session_trials *trials);

/* The trial of what is bound; NULL: there is none, or the session's side may not stand. */
struct pm_session_trial *pm_session_bound(const struct pm_command *command, int point);

/* The same of a recording that may be submitted more than once, while more of it is to be recorded.
 */
struct pm_session_trial *pm_session_of(const struct pm_command *command, int point);

/* What is bound takes part and is recorded for one submission alone: its sessions need not go on
 * once they time nothing. */
void pm_session_recorded_anew(const struct pm_command *command, int point);

/* The next use of it, of some work (pm_trial_work; 0: not known); NULL: there are enough. */
struct pm_session_use *pm_session_next(struct pm_session_trial *trial, uint64_t work);

/* The next use of it is not timed. Of uses that nobody can tell apart one is missing then. */
void pm_session_miss(struct pm_session_trial *trial, uint64_t work);

/* The use of it that comes again in each frame, in the render pass instance that has the slot
 * (trial.h); likewise. */
struct pm_session_use *pm_session_again(struct pm_session_trial *trial, uint32_t slot,
                                        uint64_t work);

/* Whether more times of that use are wanted, or of one that it would become. */
bool pm_session_awaits(const struct pm_session_trial *trial, uint32_t slot);

/* Whether more times of a use are wanted; it is about to be submitted; and one of its times. */
bool pm_session_wants(const struct pm_session_use *use);
void pm_session_counts(struct pm_session_use *use);
void pm_session_take(struct pm_session_use *use, double nanoseconds);

/* ---- session_command.c: in a recording that takes part ---- */

/* Whether recordings are timed for them. NULL is allowed. */
bool pm_session_trials_are_awake(const struct pm_session_trials *trials);

/* Whether a recording that may be submitted more than once is to be timed. */
bool pm_session_may_time(const struct pm_command *command);

/* Outside of a render pass instance, before it begins, where it may be submitted more than once;
 * what is bound in it, or in a secondary command buffer that is recorded for one; what it executes;
 * when it has ended. */
void pm_session_pass_begins(struct pm_command *command, bool whole, uint64_t work);
void pm_session_pass_bound(struct pm_command *command);
void pm_session_pass_executes(struct pm_command *command, uint32_t count,
                              const VkCommandBuffer *buffers);
void pm_session_pass_ended(struct pm_command *command);
