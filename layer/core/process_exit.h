/*
 * Whether the process is on its way out: then no command is recorded or submitted any more that the
 * game did not ask for. hooks/unload.c says why, and finds it out.
 *
 * Thread safety: any thread, and exit handlers.
 */
#pragma once

#include <stdbool.h>

/* Exit handlers are running. */
bool pm_process_is_exiting(void);

/* They have begun to run; or a device was created, so that they cannot have. */
void pm_process_set_exiting(bool exiting);
