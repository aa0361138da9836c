/*
 * What the game's database has of a shader.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "layer/core/layer.h"
#include "profile/packed_database.h"

/* The published estimates of a shader, to be finished; false: there are none. */
bool pm_find_published(const struct pm_device *device, const struct pm_shader_key *key,
                       const struct pm_environment *environment, enum pm_kind kind,
                       struct pm_shader_estimates *found);
