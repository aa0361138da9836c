/*
 * The end of the library or of the process; see unload.c.
 *
 * Thread safety: any thread.
 */
#pragma once

/* A device was created: exit handlers that were registered before now run after ours. */
void pm_process_watch_exit(void);

/* Those that were registered before now, too; a handler more is kept, so not too often. */
void pm_process_watch_exit_again(void);
