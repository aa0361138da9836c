/*
 * What a run was asked to do, and the environment that the game gets by it.
 *
 * Thread safety: one thread; changes this process's environment.
 */
#pragma once

#include "base/error.h"
#include <stdbool.h>

struct pm_run_options {
    const char *game, *config; /* NULL: none was named */
    bool local, ab;
    const char *trace; /* where a trace goes; NULL: none is wanted */
    char **program;    /* and its arguments; NULL-terminated, argv's */
};

/* The environment as it is now, which later changes leave; to be freed. Where there is no memory
 * for it an empty one. */
char **pm_run_environment_now(void);

/* Reads the command line. What is set there goes to the environment at once. -1: go on; else the
 * exit status. */
int pm_run_options_read(int argc, char **argv, struct pm_run_options *options);

/* Sets a key of the config for the game; what: who asks for it, in errors. */
bool pm_run_set(const char *key, const char *value, const char *what, struct pm_error *error);

/* The environment that makes the loader find the layer, and the layer do what was asked. Whatever
 * cannot be set is said, and the game starts all the same. */
void pm_run_environment(const struct pm_run_options *options);

/* Prints "piecemeal run: …" of what went wrong and ends nothing. */
void pm_run_warn(const struct pm_error *error);
