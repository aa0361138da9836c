/*
 * A draw or dispatch at which its recording's countdown was through: it runs with an instrumented
 * variant, or may in some submissions (frame/predicated.h), or is timed for a trial, or runs in
 * several passes (frame/passes_run.h), and what was bound is put back; or it runs with the game's
 * own pipeline, which was to be put back before (frame/put_off.h).
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization.
 */
#pragma once

#include "layer/frame/predicated.h"
#include "layer/trial/trial.h"

struct pm_sampled_call {
    struct pm_timed_call timed;
    struct pm_predicated_pair pair;
    const struct pm_passes *passes; /* what it runs as; NULL: as it is */
};

/* Before the call; point: PM_GRAPHICS or PM_COMPUTE; groups: of a dispatch that says how many
 * workgroups it has, else NULL. What it returns goes to the others. */
struct pm_sampled_call pm_sampled_call_begins(struct pm_command *command, int point,
                                              const uint32_t *groups);
/* Makes the call where it runs in several passes. */
bool pm_sampled_call_in_passes(const struct pm_command *command, const struct pm_sampled_call *call,
                               const uint32_t *groups);
/* Behind it; true: it is to be made once more. */
bool pm_sampled_call_again(struct pm_command *command, int point,
                           const struct pm_sampled_call *call);
void pm_sampled_call_ends(struct pm_command *command, const struct pm_sampled_call *call);
