/*
 * Which games a program turned out to be: the layer, which alone knows what it calls a game, notes
 * the name in the file that PIECEMEAL_GAMES names; `piecemeal run` set that and reads it when the
 * program has ended. A text file, a name a line, by any number of processes.
 *
 * Thread safety: no state; any thread, any process.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"

#define PM_GAME_NOTE_VARIABLE "PIECEMEAL_GAMES"

/* Notes a game, where it is asked for. What cannot be written is not known. */
void pm_game_note(const char *game);

/* Adds the games in the file, each once; lines that are no game's name are passed over. */
bool pm_game_note_read(const char *path, struct pm_names *games, struct pm_error *error);
