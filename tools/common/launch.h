/*
 * Starting a program with the layer: the environment that makes the loader find and enable it
 * (HAZARDS 18).
 *
 * Thread safety: changes this process's environment; one thread, before others start.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* The folder that has vulkan/implicit_layer.d with our manifest in it, seen from where this program
 * is installed or built; malloc'ed, NULL when there is none. */
char *pm_launch_data_folder(void);

/* Sets PIECEMEAL_ENABLE, clears PIECEMEAL_DISABLE, and puts the layer's data folder in
 * XDG_DATA_DIRS where the loader would not look by itself. */
bool pm_launch_environment(struct pm_error *error);

/* Runs argv with this process's environment, SIGINT and SIGQUIT left to it, SIGTERM and SIGHUP
 * passed on, and waits. *status is its exit status, or 128 + the signal that killed it. false: it
 * could not be started.
 *
 * From the first on, signals do nothing else to this process. What it was started with is what argv
 * is started with, and what was ignored then (nohup) is never passed on. */
bool pm_launch_wait(char *const *argv, int *status, struct pm_error *error);

/* The signal that killed the program that pm_launch_wait ran last; 0: none did, as when a shell
 * ends with a status of 128 or more. */
int pm_launch_killed_by(void);

/* pm_launch_wait of a function, which signals end where this process goes on. *status: what it
 * returns, 0 to 127. Before threads are started. */
bool pm_launch_apart(int (*work)(void *user), void *user, int *status, struct pm_error *error);

/* When SIGINT, SIGTERM or SIGHUP came to this process while a program ran, the last time:
 * CLOCK_REALTIME, seconds. 0: never. */
int64_t pm_launch_asked(void);

/* From here on what the started programs leave behind is this process's: a game that outlives the
 * script it was started by. false: the system has no such thing, or refuses. */
bool pm_launch_adopt(void);

/* Whether any process is left of what was started and adopted. */
bool pm_launch_left(void);
