/*
 * Whether code runs in a signal handler. A game's own handler of a crash may end the process with
 * exit(), which looks like any other exit (HAZARDS 22). What gives it away: the signal is blocked
 * while its handler runs, and a handler may have a stack of its own. Nothing is changed (HAZARDS
 * 19).
 *
 * Not seen is a handler that runs with its signal unblocked and on the thread's own stack. Taken
 * for a crash's is any other that blocks those signals too, such as one of SIGTERM that blocks all,
 * and any that runs on an alternate signal stack (SA_ONSTACK), whatever its signal.
 *
 * Thread safety: any thread, and a signal handler.
 */
#pragma once

#include <stdbool.h>

/* What holds in this thread now is ordinary in this process: some programs block all signals, and
 * take them in a thread of its own. Not for signal handlers. */
void pm_signal_handler_learn(void);

/* Whether this is a crash's handler. */
bool pm_signal_handler_runs(void);
