/*
 * Readback (HAZARDS 13): counters to host memory to the spool, never waited for. A checkpoint is a
 * command buffer of ours behind the game's last submit on a queue: a barrier against everything
 * before it, copies of the counters of every variant used on that queue since the last one, a
 * barrier to the host and against everything after it, and a timeline value of ours (a fence where
 * there are no timeline semaphores). The poller (poller.h) polls it, takes the differences, and
 * appends them to the spool as one piecemeal profile.
 *
 * A variant used on several queues is read only while one of them alone has used it since its last
 * copy, so that a profile never holds half of a call. A queue that was given nothing for a second
 * is taken to be through, since nobody may submit a copy to it but the game's own next call on it.
 *
 * Thread safety: a function that takes a queue is called while the game holds that queue. Otherwise
 * any thread.
 */
#pragma once

#include "layer/frame/queue.h"

struct pm_command;

/* NULL: out of memory. Registers with the device's poller, whose thread starts with the first
 * checkpoint. */
struct pm_readback *pm_readback_create(struct pm_device *device);

/* The device is idle and its compiles are over: copies what is left, waits for it (and for nothing
 * else), and stops the poller. Submissions are no longer counted afterwards. */
void pm_readback_stop(struct pm_readback *readback);
void pm_readback_destroy(struct pm_readback *readback);

/* A recording's variants are about to be submitted to the queue, in its scene: counts its calls.
 * executed: it is a secondary one, of which only what it holds twice is not the primary's already.
 * sign -1 takes it back when the submission failed. */
void pm_readback_submit(struct pm_queue *queue, const struct pm_command *command, bool executed,
                        int sign);

/* Follows the latest checkpoint if the queue has not; idle: the queue is about to be waited for,
 * which is a checkpoint too unless there was one a moment ago. */
void pm_readback_follow(struct pm_queue *queue, bool idle);

/* Another scene begins with the next submission to the queue: what was counted is copied, unless a
 * scene ended a moment ago, so that a game that changes scenes all the time pays little. */
void pm_readback_cut(struct pm_queue *queue);
