/*
 * What follows in safe mode from how a run's sessions have ended (profile/journal.h), said on
 * stderr.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/names.h"

/* For `run`, once the program has ended (launch.h), and who asked for its end is known (asked.h):
 * of each game of which a session of this run did not end properly, what is held back therefore.
 * run: the run's name. */
void pm_run_say_ended(const struct pm_names *games, const char *run);

/* For `try`, which started the run: what is held back of the game because of sessions before,
 * unless the run has said it. Returns whether it has: a session of the run did not end properly,
 * and holds back what it used. */
bool pm_run_say_held(const char *game, const char *run);
