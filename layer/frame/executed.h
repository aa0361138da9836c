/*
 * Secondary command buffers in the recordings that execute them: what they count, hold twice and
 * measure is the primary's when it is submitted.
 *
 * A secondary recording without SIMULTANEOUS_USE is in one primary that can be submitted, and there
 * once; so it is submitted as if it were one itself. With it there may be several, and several
 * places in each. What was recorded anew since is not submitted any more.
 *
 * Thread safety: the primary's, Vulkan's external synchronization; once it has ended, the queue's.
 */
#pragma once

#include "layer/frame/command.h"

/* Secondary command buffers were executed in the recording. */
void pm_command_execute(struct pm_command *primary, uint32_t count, const VkCommandBuffer *buffers);

/* The primary's recording is submitted once more, and what it executes with it, however often. */
void pm_command_submit(struct pm_command *command);

/* What the primary's recording executes that holds calls twice (predicated.h) or measurements
 * (trial/timing.h): one for each time. i: below executed_count. NULL: it has nothing of that. */
struct pm_command *pm_executed_at(const struct pm_command *primary, uint32_t i);
