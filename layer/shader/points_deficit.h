/*
 * Which of a shader's points still need samples: what batches a session's sampled calls go to
 * (DESIGN, PGO database).
 *
 * Thread safety: no state.
 */
#pragma once

#include "layer/shader/record_points.h"

/* Loads of a word from which on its share of one value says anything. */
enum { PM_CONSTANT_LEAST_LOADS = 16 };

/* Of the points that are counted, a bit each, from the first of them on; malloc'ed. NULL: all of
 * them, as far as anybody knows. Of words also those of which this machine itself has seen nothing,
 * but for those that change elsewhere. false: out of memory. */
bool pm_points_deficit(const struct pm_device *device, const struct pm_shader_key *key,
                       const struct pm_environment *environment,
                       const struct pm_record_points *points, uint8_t **deficit);

/* Whether the crowd says of a word that it is nobody's constant. elsewhere: what the database knows
 * of the shader; its points may be NULL. */
bool pm_constant_changes_elsewhere(const struct pm_shader_estimates *elsewhere, uint32_t point);
