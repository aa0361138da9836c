/*
 * A draw or dispatch at which its recording's countdown was through: it runs with an instrumented
 * variant, or is timed for a trial, and what was bound is put back.
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization.
 */
#pragma once

#include "layer/trial/trial.h"

/* Before the call; point: PM_GRAPHICS or PM_COMPUTE. What it returns goes to the other. */
struct pm_timed_call pm_sampled_call_begins(struct pm_command *command, int point);
void pm_sampled_call_ends(struct pm_command *command, const struct pm_timed_call *call);
