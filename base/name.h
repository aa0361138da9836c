/*
 * What can be a name that people read and that leaves the machine: a game's, a scene's. Where names
 * come in (the config, the environment) and where they go out or arrive (profile/) ask the same.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>

enum { PM_NAME_BYTES = 255 };

/* Is text at most `most` bytes of UTF-8 without control characters? what begins the message, as in
 * "field scene". error: NULL is allowed. */
bool pm_name_check(const char *text, const char *what, size_t most, struct pm_error *error);

/* Can it be a game's name? Neither "" nor, since a game is a segment of the aggregator's paths and
 * whoever asks resolves these, escaped or not (WHATWG URL, 4.4), "." and "..". */
bool pm_game_check(const char *game, const char *what, size_t most, struct pm_error *error);
