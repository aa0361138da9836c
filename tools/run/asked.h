/*
 * The end of a run that somebody asked for, by Ctrl-C or another signal: the journals of its
 * sessions say so from then on, and safe mode does not take them for crashes
 * (profile/journal_asked.h).
 *
 * Thread safety: one thread.
 */
#pragma once

/* The program has ended, with this status (128 + the signal that killed it). run: the run's name.
 * Does nothing where nobody asked, and where it crashed all the same. Waits for ten seconds at most
 * for what the program has started; says what went wrong on stderr. */
void pm_run_asked(const char *run, int status);
