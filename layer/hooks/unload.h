/*
 * The end of the library or of the process; see unload.c.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <stdbool.h>

/* A device was created: exit handlers that were registered before now run after ours. */
void pm_process_watch_exit(void);

/* Those that were registered before now, too; a handler more is kept, so not too often. */
void pm_process_watch_exit_again(void);

/* Exit handlers are running: no command is recorded or submitted any more that the game did not ask
 * for. */
bool pm_process_is_exiting(void);
