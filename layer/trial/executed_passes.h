/*
 * Render pass instances that execute secondary command buffers, timed in turn. A side is chosen
 * where a secondary one is recorded, when nobody knows yet what executes it, and with what else. So
 * all that are recorded for such instances, as far as their render pass tells, have part in one use
 * of a trial and with it one side, on whatever threads they are recorded. Where the instance ends
 * that executes them the use is over, and the next one begins with what is recorded then.
 *
 * The instance is timed in the primary command buffer, outside of it, and so it does not matter of
 * what kind the secondary ones are: their own queries are none. It counts where all of them that
 * have part in the trial have the same side, and the latest use was not over. What is kept and has
 * no part in it is the same on either side. With one that is recorded anew and could have no part,
 * as it is sampled, has no room, times single draws of a trial that has part elsewhere, or nothing
 * was tried when it began, the instance does not count. Where they have both sides, as some were
 * recorded before the instance before them had ended, the use goes on for one more instance. Where
 * several execute a use, also of different secondary ones, one is timed, another one with each
 * pair, of as many as there were in the last few: they have one side by one lot, so that the others
 * would be no further pairs. It makes a pair with the same instance of another frame that has the
 * other side, in as large a render area, as single draws in secondary command buffers do (trial.h).
 * What is of the latest use that is over costs as much in further instances as a pair is expected
 * to, and is charged.
 *
 * Where uses begin and are not timed on both sides, as the primary ones are kept or nested in
 * others or a secondary one that is kept holds one side, no more begin for the render pass until
 * the trial has slept, and its instances get no timestamps. If none made a pair it is one for
 * sessions (sessions.h). Nor does one begin in the first frames of a trial that has woken: what was
 * recorded before has no part in it.
 *
 * Of at most PM_TIMED_MOST trials uses begin, as an instance has room for no more: each has a seat.
 * The others wait until one of these is over, asleep or not used, and cost nothing.
 *
 * Thread safety: a command's follows its command buffer's external synchronization; a use may be
 * joined and ended by any thread, without a lock. Only a seat is taken under the trials' lock,
 * where nobody has that: else the trial waits. Who finds that another thread is about to begin one
 * has part in none.
 */
#pragma once

#include "layer/frame/command.h"
#include "layer/shader/candidate.h"

/* What a secondary command buffer that is recorded now has part in; turn 0: in none, and what
 * stands is bound, which counts as another side. pass: its own, which has no use of the trial yet.
 * false: nothing of the trial is timed in it, and if that is since it has no room, it is untimed.
 */
bool pm_executed_pass_join(const struct pm_candidate *candidate, struct pm_pass_instance *pass,
                           struct pm_timed *timed);

/* It is about to draw with what stands, where single draws are timed: beside instances of the trial
 * it is untimed. */
void pm_executed_pass_draws(const struct pm_candidate *candidate, struct pm_pass_instance *pass);

/* Secondary command buffers are executed. command: where it is timed and in an instance; NULL: it
 * is not, and what they have part in is over. */
void pm_executed_pass_executes(struct pm_device *device, struct pm_command *command, uint32_t count,
                               const VkCommandBuffer *buffers);

/* The instance has ended, and with it what its secondary ones have part in. Returns what it is a
 * use of. */
struct pm_timed_uses pm_executed_pass_ended(struct pm_command *command);
