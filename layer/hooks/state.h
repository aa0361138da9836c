/*
 * What the session is doing, told to people (profile/session_status.h): once a second, where it has
 * changed, by the poller's thread, which also looks whether somebody wants to see the game's own
 * shaders for a while.
 *
 * Thread safety: pm_state_shader from any thread; all else belongs to who creates and destroys the
 * device, and the poller's thread.
 */
#pragma once

#include "layer/core/layer.h"

/* NULL: out of memory; then nothing is told. Before the poller's thread starts. */
struct pm_state *pm_state_create(struct pm_device *device);
/* Nothing is sampled on the device: tells that, and why. NULL is allowed, here and below. */
void pm_state_nothing(struct pm_state *state);
/* The device ends properly: the last word. The poller's thread has ended. */
void pm_state_end(struct pm_state *state);
void pm_state_destroy(struct pm_state *state);

/* A second has gone by. */
void pm_state_tell(struct pm_state *state);

/* A specialized shader is in use from now on; by: what it was made by (enum pm_made_by). to_time:
 * untried, for a trial over sessions. */
void pm_state_shader(struct pm_state *state, const struct pm_shader_key *key, uint32_t by,
                     bool to_time);
