/*
 * What is meant as configuration and is none: variables whose name no key has, and files whose name
 * no game has. Nothing reads them, so somebody has to say so.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>

/* Calls found for each variable of environment (NULL-terminated as environ is) that begins like
 * ours and is none, with a line that says so and the nearest that is one. */
void pm_config_variable_typos(char *const *environment,
                              void (*found)(void *user, const char *message), void *user);

/* A file in the folder of configurations that the game's was probably meant to be, where that one
 * is not there: "My Game.json" for "My%20Game.json". Its path, malloc'ed; NULL: there is none. */
char *pm_config_misnamed(const char *game);

/* Calls found for each file in that folder that no game can have, with what it would have to be
 * called; and, where named is not NULL, that for each game's file. */
void pm_config_files(void (*misnamed)(void *user, const char *path, const char *right),
                     void (*named)(void *user, const char *path), void *user);
