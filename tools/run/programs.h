/*
 * Which games a program was when it ran last, so that `piecemeal run` can pull their databases
 * before it starts again: the layer finds a game's name only inside it. Kept in
 * $PLACE_DATA/programs, the latest first; nothing of it leaves the machine.
 *
 * Thread safety: no state; of several processes that write at once the last one wins.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"

/* The program's file, as execvp would find it, without symbolic links; malloc'ed. NULL: there is
 * none, or its name cannot be kept. */
char *pm_program_path(const char *name);

/* Adds the games that the program was. Not known: none. */
bool pm_program_games(const char *program, struct pm_names *games, struct pm_error *error);

/* From now on it was these. */
bool pm_program_remember(const char *program, const struct pm_names *games, struct pm_error *error);
