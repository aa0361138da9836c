/*
 * Running a dispatch of the game's in several passes (shader/passes.h): one dispatch a pass, with a
 * memory barrier before each. What the game has bound and pushed stays, since all pipelines have
 * one layout; afterwards what stood is bound again.
 *
 * A dispatch runs whole where its workgroups are not known when it is recorded, or are too many for
 * the scratch memory that is left for its recording; where that is a secondary command buffer, or
 * may run several times at once; where it is sampled; and wherever a rebind could be seen
 * (may_bind.h).
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization.
 */
#pragma once

#include "layer/frame/command.h"

/* Whether the dispatch that follows may run so; then it has its scratch memory. groups: its
 * workgroups; NULL: not known. */
bool pm_passes_may_run(struct pm_command *command, const struct pm_passes *passes,
                       const uint32_t *groups);

/* The proven ones of what is bound, that the dispatch is to run as; NULL: none. */
const struct pm_passes *pm_passes_proven(struct pm_command *command, const uint32_t *groups);

/* Whether dispatches with what is bound are to be looked at for that. */
bool pm_passes_are_wanted(const struct pm_command *command);

/* Behind pm_binding_stand, and behind a call that was looked at: in a recording of which nothing is
 * timed, sets when the next one is; also for what is put off (put_off.h). */
void pm_passes_count_down(struct pm_command *command);

/* Dispatches them, and binds what stands; but for those of a trial, behind which
 * pm_binding_put_back is owed. */
void pm_passes_run(const struct pm_command *command, const struct pm_passes *passes,
                   const uint32_t *groups);
