/*
 * What to say of sessions that wait, and when an aggregator did not answer: once, and when it is
 * asked again.
 *
 * Thread safety: starts a process; one thread.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>
#include <stdio.h>

/* Prints on stderr what failed, how many sessions wait for it, and when the next try is (the user's
 * timer's, where it is set), in one line. PM_EXIT_FAILED. */
int pm_tool_sync_failed(const char *command, const struct pm_error *error, size_t waiting);

/* ", 2 wait (why the first does)"; nothing where none waits. */
void pm_tool_say_waiting(FILE *out, size_t waiting, const char *why);
