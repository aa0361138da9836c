/*
 * `piecemeal run --ab`: within one session the game's own pipelines and the specialized ones are
 * bound in turn, for ab.frames heartbeats each, and how long the frames took is appended to ab.file
 * for tools/run/ab.c to judge. A pair of blocks has either side once, in random order; the first
 * quarter of a block is dropped, since what was recorded before the switch is still under way in
 * it. While variants are tried (trial.h) nothing is measured. The pair that was under way is given
 * up: the next one has another number.
 *
 * Each line is one JSON object, and is written at once. number: which device of the process it is
 * of.
 *     {"process":7,"number":0,"device":"…","software":"…","block":32,"dropped":8}
 *     {"process":7,"number":0,"shader":"…","variant":"…"}  the variant is in use
 *     {"process":7,"number":0,"pair":0,"optimized":true,"frames":24,"nanoseconds":…,
 *      "recordings":24,"binds":48,"shaders":2}             a block
 *     {"process":7,"number":0,"heartbeats":…,"recordings":…}   the device's end
 *
 * software: this build of the layer, and the version of the driver.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

struct pm_ab;

/* NULL: ab.file is not set, or cannot be written, which was logged. pause: from now on the game's
 * own pipelines are bound, or the specialized ones again. */
struct pm_ab *pm_ab_create(struct pm_device *device,
                           void (*pause)(struct pm_device *device, bool paused));
/* NULL is allowed, here and below. */
void pm_ab_destroy(struct pm_ab *ab);

void pm_ab_heartbeat(struct pm_ab *ab, uint64_t heartbeat);

/* A command buffer begins. */
void pm_ab_recording(struct pm_ab *ab);

/* A specialized variant is bound in the game's place. */
void pm_ab_bound(struct pm_ab *ab);

/* A specialized variant of a shader is in use from now on. */
void pm_ab_shader(struct pm_ab *ab, const struct pm_shader_key *key,
                  const struct pm_shader_key *variant);
