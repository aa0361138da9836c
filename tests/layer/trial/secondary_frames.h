/*
 * Frames of a secondary command buffer and the primary one that executes it, for tests of trials.
 */
#pragma once

#include "tests/layer/trial/trying.h"

enum { SECONDARY_SIMULTANEOUS = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT };

/* Of the session that was opened: two draws in a render pass instance, or a dispatch. */
void secondary_allocate(bool draws);

/* Of the render area of what executes it, from its next recording on; 64 at first. */
void secondary_set_height(uint32_t height);

/* From its next recording on the instance has a draw of what executes it, too, and with alone no
 * other; at first neither. Before what is executed is recorded. */
void secondary_draw_beside(bool beside, bool alone);

/* Records the one, or what executes it; submits that, and waits. */
void secondary_record(VkCommandBufferUsageFlags flags);
/* Likewise one that renders by itself: allocated for a dispatch, it draws. */
void secondary_record_rendering(VkCommandBufferUsageFlags flags);
void secondary_record_primary(VkCommandBufferUsageFlags flags);
void secondary_submit(void);
/* Submits it, and waits for nothing. */
void secondary_submit_with(VkFence fence);
