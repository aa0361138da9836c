/*
 * What a PGO database must satisfy, whoever makes or reads it.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/database.h"

/* One shader of it; index: what the message calls it. */
bool pm_shader_estimates_check(const struct pm_shader_estimates *shader, size_t index,
                               struct pm_error *error);

/* Sorted, finite, whole; the message names shader, point and field. */
bool pm_database_check(const struct pm_database *database, struct pm_error *error);
