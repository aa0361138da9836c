/*
 * Secondary command buffers in the recordings that execute them: what they count, hold twice and
 * measure is the primary's when it is submitted.
 *
 * A secondary recording without SIMULTANEOUS_USE is in one primary that can be submitted, and there
 * once; so it is submitted as if it were one itself. With it there may be several, and several
 * places in each. What was recorded anew since is not submitted any more.
 * Of what is noted alone (pm_command_note_executed) it is not known which recording that was: it is
 * whichever the handle has at the submission. By Vulkan a primary whose secondary was recorded anew
 * is invalid and is not submitted, so it is the one that was executed.
 *
 * Thread safety: the primary's, Vulkan's external synchronization; once it has ended, the queue's.
 */
#pragma once

#include "layer/frame/command.h"

/* Secondary command buffers were executed in the recording. */
void pm_command_execute(struct pm_command *primary, uint32_t count, const VkCommandBuffer *buffers);

/* The same in few instructions for one that names nothing of ours (pm_sampling.holding), where
 * nothing is known of what is bound: notes which, for who wants to know whether the game keeps
 * recordings. false: there is no room for that, and nothing was done. */
static PM_FAST inline __attribute__((always_inline)) bool
pm_command_note_executed(struct pm_command *primary, VkCommandBuffer secondary)
{
    const uint32_t count = primary->noted_count;
    if (__builtin_expect(count >= primary->noted_capacity, 0))
        return false;
    primary->noted[count] = secondary;
    primary->noted_count = count + 1;
    return true;
}

/* The same where there may be no room. Out of memory nobody learns that the others are submitted.
 */
void pm_command_note_all_executed(struct pm_command *primary, uint32_t count,
                                  const VkCommandBuffer *buffers);

/* What was bound and pushed in the recording is undefined from here on, and what ran is not known.
 */
static inline __attribute__((always_inline)) void
pm_command_forget_bound(struct pm_command *primary)
{
    primary->touched = true;
    primary->plain_points = 0;
    for (int i = 0; i < PM_BIND_POINTS; i++) {
        primary->bound[i].pipeline = NULL;
        primary->lately.game[i] = 0;
    }
    pm_pushed_forget(&primary->pushed);
}

/* The primary's recording is submitted once more, and what it executes with it, however often. */
void pm_command_submit(struct pm_command *command);

/* What the primary's recording executes that holds calls twice (predicated.h) or measurements
 * (trial/timing.h): one for each time. i: below executed_count. NULL: it has nothing of that. */
struct pm_command *pm_executed_at(const struct pm_command *primary, uint32_t i);
