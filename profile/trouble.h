/*
 * What kept the layer from a game altogether: a configuration or a log file that is wrong. A game
 * that nobody started with `piecemeal run` has nowhere to say it, so it is noted, and `doctor`
 * shows it. The next session of the game without such trouble takes it away.
 *
 * On the disk a text file a game, $PLACE_DATA/trouble/<safe name of game>: the time
 * (seconds since the epoch with their fraction, so that the sessions of one second are told apart),
 * the game, the message, a line each.
 *
 * Thread safety: no state; any thread, any process.
 */
#pragma once

#include "base/error.h"

/* message NULL: there is none (any more). What cannot be written is not known. */
void pm_trouble_note(const char *game, const char *message);

/* Calls visit for each game that has some; at: pm_wall_seconds of when it was noted. */
void pm_trouble_each(void (*visit)(void *user, const char *game, double at, const char *message),
                     void *user);
