/*
 * The folder of a game's journal (journal.h): its lock, and what the ended sessions in it say.
 *
 * Thread safety: any thread; processes exclude each other by the lock.
 */
#pragma once

#include "profile/journal_asked.h"
#include "profile/journal_history.h"

#include <sys/stat.h>

/* The ending of a session's file. */
#define PM_JOURNAL_SUFFIX ".session"

/* That of the sessions of one run. */
enum { PM_JOURNAL_RUN_SUFFIX = PM_RUN_NAME_BYTES + sizeof PM_JOURNAL_SUFFIX };
void pm_journal_run_suffix(const char *run, char suffix[static PM_JOURNAL_RUN_SUFFIX]);

/* Where the game's journal is; the caller's to free. folder NULL: the one that PIECEMEAL_JOURNAL
 * names, else the default. NULL: no memory, or no place. */
char *pm_journal_game_folder(const char *folder, const char *game);

/* Takes the folder's lock. It is held for milliseconds, but a game must not wait for ever for
 * whoever has it. -1: not to be had. */
int pm_journal_lock(const char *folder);
void pm_journal_unlock(int lock);

/* Calls visit with each file of the folder whose name ends so. */
void pm_journal_each_file(const char *folder, const char *suffix,
                          void (*visit)(const char *path, const struct stat *status, void *user),
                          void *user);

/* Calls visit with the folder of each game, by its safe name, until it returns false. folder as
 * above. */
bool pm_journal_each_folder(const char *folder,
                            bool (*visit)(const char *path, const char *game, void *user,
                                          struct pm_error *error),
                            void *user, struct pm_error *error);

/* Judges the ended sessions; with `keep` the history is written and they go. A session whose
 * history could not be written stays, and is judged again; one that is in it already is not, should
 * it be there still (journal_judged.h). What is damaged is left out and told in
 * *state, and so is how many were bad, of the run of this name where there is one. */
bool pm_journal_judge(const char *folder, bool keep, const char *run, struct pm_history *history,
                      struct pm_journal_state *state, struct pm_error *error);
