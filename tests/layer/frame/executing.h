/* For tests of recordings that a game keeps, on the null driver: how often it executed the game's
 * own pipelines, and others. */
#pragma once

#include "tests/layer/layered.h"

extern struct executing {
    struct pm_harness h;
    uint64_t game,
        other; /* calls by what executed them; since the session began, or a test set 0 */
} executing;

/* A session as the environment has it. */
void executing_open_as_it_is(const struct pm_harness_options *options);
/* A session that samples all points of blocks. window: the chance that a heartbeat opens one of so
 * many frames; probability: of a call in it. */
void executing_open(const char *window, const char *frames, const char *probability,
                    const struct pm_harness_options *options);
/* Waits for the device. */
void executing_close(void);

/* Records dispatches with the harness's pipeline; the second into a new primary command buffer. */
void executing_record(VkCommandBuffer buffer, VkCommandBufferUsageFlags flags, uint32_t dispatches);
VkCommandBuffer executing_recorded(VkCommandBufferUsageFlags flags, uint32_t dispatches);

/* Submits it so often, and waits. */
void executing_submit(VkCommandBuffer buffer, uint32_t times);
