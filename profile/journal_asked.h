/*
 * Ends that somebody asked for. A game that is ended by SIGTERM, SIGINT or SIGHUP looks to its
 * journal (journal.h) like one that crashed. `piecemeal run` has started it and knows better, so it
 * writes into the journal of the session that has died that its end was asked for; such a session
 * counts neither way.
 *
 * A game that hangs is ended by hand as well. So it must have shown that it was alive shortly
 * before it was asked: while frames go through, the session's file is touched about once a second
 * (pm_journal_alive), of processes that have a run. And what went on for long after it was asked
 * did not end because of that.
 *
 * A run has a name, which the sessions of all that it started have in the names of their files.
 *
 * Thread safety: the environment is changed by one thread, before others start; else any.
 */
#pragma once

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PM_ASKED_ALIVE =
        5, /* seconds before it was asked in which a session was alive, at the latest */
    PM_ASKED_ENDS = 30, /* seconds after it was asked in which it has ended */
    PM_RUN_NAME_BYTES = 17,
};

/* The variable that has the run's name: 16 lower case hexadecimal digits. */
#define PM_RUN_VARIABLE "PIECEMEAL_RUN"
/* Set where the `piecemeal run` that is started keeps that name, since who starts it looks for its
 * sessions; else it draws its own. */
#define PM_RUN_GIVEN "PIECEMEAL_RUN_GIVEN"

/* Draws a name, and gives it to all that this process starts from now on. */
bool pm_run_begin(char name[PM_RUN_NAME_BYTES], struct pm_error *error);
/* The same for a `piecemeal run`, which keeps it. */
bool pm_run_give(char name[PM_RUN_NAME_BYTES], struct pm_error *error);

/* The name that this process was given; NULL: none, or no name. */
const char *pm_run_name(void);

/* What there is of a run. */
struct pm_run_sessions {
    size_t live;   /* sessions whose process is there yet */
    size_t marked; /* that have ended, as they were asked to */
};

/* The sessions of a run, in the journals of all games. asked: CLOCK_REALTIME, seconds, when they
 * were asked to end; in those that have ended because of it, that is written. Again for what was
 * live is fine. folder NULL: the default. Reads and writes small files. */
bool pm_journal_asked(const char *folder, const char *run, int64_t asked,
                      struct pm_run_sessions *sessions, struct pm_error *error);
