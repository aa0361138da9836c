/*
 * What safe mode holds back of a game (profile/journal.h), and how to take it back, in words: what
 * `doctor` finds, and what who has just seen a session end is told.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/journal_state.h"

/* Whether anything is. */
bool pm_held_back_any(const struct pm_journal_state *state);

/* What is, to be put behind the game's name; malloc'ed. path: the folder of the game's journal.
 * ended: how a session of it has just ended, though not properly, as "killed by signal 9"; NULL:
 * those of before are spoken of. by_hand: somebody has ended it, and can do so in a better way.
 * NULL: out of memory. */
char *pm_held_back(const struct pm_journal_state *state, const char *path, const char *ended,
                   bool by_hand);
