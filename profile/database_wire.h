/*
 * What encoding and decoding of databases share. Private to profile/.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/database.h"

/* The estimates of a struct pm_ratio, in its order. */
enum { PM_RATIO_VALUES = 6 };

/* Sorted, finite, whole; the message names shader, point and field. */
bool pm_database_check(const struct pm_database *database, struct pm_error *error);
