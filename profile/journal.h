/*
 * The journal of safe mode (HAZARDS 22): which specialized variants a session of a game put to use,
 * so that one that did not end properly (crash, hang, lost device) is noticed by the next.
 *
 * On the disk, in $PLACE_DATA/journal/<safe name of game>/: `history`, what all ended sessions
 * together say; one file for each session that is running or was not judged yet; and while some are
 * judged, `judged`, which says of which of these the history is. A session
 * holds a lock (flock) on its file as long as its process lives, so several processes of one game
 * do not take each other for dead. Lines are written with pwrite(2) before the thing that they
 * speak of is done, which survives the process in whatever way it ends; they are also synced, at
 * most once a second, since a hung GPU is often ended by the power switch.
 *
 * What follows from a session that did not end properly:
 *  - variants that were new in it (used in no properly ended session before) are held back until
 *    PM_JOURNAL_WAIT sessions have ended properly without them; a second time, for good;
 *  - when it is the second in a row that used variants, all variants are held back for
 *    PM_JOURNAL_WAIT properly ended sessions (safe mode), and those it used count as new
 * afterwards. Sessions that wrote down no variant say nothing about variants when they end badly,
 * nor do those that were asked to end (journal_asked.h).
 *
 * A variant that a session went on with for long has settled: whatever ends the session then is
 * hardly that variant's doing, and many a game is always ended by being killed. Once one that was
 * bound has settled, the session counts as properly ended, however it ends: what was new yet is
 * held back, and nothing else follows. A lost device is a bad end also then. That a variant which
 * has settled is bound for the first time is written but not synced: only a machine that is
 * switched off within seconds of it takes it for one that did no harm.
 *
 * Of what is only tried for a while (A-Z testing), and goes without having done harm, nothing is
 * said any more. The lines of a session's file are written over, so that it stays as small as what
 * is there at a time.
 *
 * Variants are named by the key of the specialized module (struct pm_shader_key): a new PGO
 * database makes new ones.
 *
 * Thread safety: a journal may be used from any thread, but for opening and closing it. A forked
 * child's copy does nothing.
 */
#pragma once

#include "base/error.h"
#include "profile/journal_state.h"
#include "profile/shader_key.h"

struct pm_journal;

/* A variant that this session wrote down; lives as long as its journal. */
struct pm_journal_entry;

/* Judges the sessions of the game that have ended, and begins one for this process. folder NULL:
 * the one that PIECEMEAL_JOURNAL names, else the default. NULL and *error: it cannot be kept (no
 * variant is to be used then). *state may be NULL. Reads and writes small files. */
struct pm_journal *pm_journal_open(const char *folder, const char *game,
                                   struct pm_journal_state *state, struct pm_error *error);
/* Ends the session properly if pm_journal_end has not, and forgets it. NULL is allowed. */
void pm_journal_close(struct pm_journal *journal);

/* In a forked child, whose copy must not keep the parent's session looking alive; takes no lock. */
void pm_journal_abandon(struct pm_journal *journal);

/* Whether a variant is not to be used. */
bool pm_journal_holds(const struct pm_journal *journal, const struct pm_shader_key *key);

/* Writes down a variant, before anything is done with it; once for a key. NULL: it could not be
 * written, and the variant is not to be used. Not for a game's own threads: it may sync. */
struct pm_journal_entry *pm_journal_write(struct pm_journal *journal,
                                          const struct pm_shader_key *key, struct pm_error *error);

/* The same of a variant that is only tried, until pm_journal_gone as many times: it then takes no
 * room among PM_JOURNAL_MOST any more, no end of the session is its doing, and none proves it.
 * Where it is written down as above, too, it stays. The entry is that of the key, if it is tried
 * again. */
struct pm_journal_entry *pm_journal_try(struct pm_journal *journal, const struct pm_shader_key *key,
                                        struct pm_error *error);
/* It did no harm, and no recording names it any more. Nothing happens once the device was lost or
 * the process has crashed. */
void pm_journal_gone(struct pm_journal_entry *entry);

/* As pm_journal_write, on a game's own thread: it neither waits for one that syncs nor syncs. NULL
 * also when it would have to wait. pm_journal_sync is due soon, on another thread. */
struct pm_journal_entry *pm_journal_note(struct pm_journal *journal,
                                         const struct pm_shader_key *key, struct pm_error *error);
void pm_journal_sync(struct pm_journal *journal);

/* The variant is about to be bound. Cheap: nothing is written but a few bytes when it is the first
 * use of one that has settled. */
void pm_journal_used(struct pm_journal_entry *entry);

/* The device was lost. */
void pm_journal_lost(struct pm_journal *journal);

/* Frames go through, at `now` (CLOCK_MONOTONIC, seconds). A variant settles when that has been so
 * for so many seconds since it was written down, or bound for the first time. Never blocks. */
void pm_journal_heartbeat(struct pm_journal *journal, int64_t now, uint32_t seconds);

/* What tells a session that was alive when it was asked to end from one that hung
 * (journal_asked.h): called about once a second, not by a game's own thread, it notes on the disk
 * whether frames have gone through since the call before. */
void pm_journal_alive(struct pm_journal *journal);

/* A device that may use variants begins, or ends; with the last one the session has ended properly,
 * for as long as no other begins. */
void pm_journal_begin(struct pm_journal *journal);
void pm_journal_end(struct pm_journal *journal);
/* The process exits in an orderly way, whatever devices there are. Waits for half a second at most
 * for a call that is under way; then the session looks as if it had not ended properly. */
void pm_journal_exit(struct pm_journal *journal);
/* The process or the device ends as after a crash or a hang, though the game may tidy up: from here
 * on nothing is a proper end; what has settled stays so. Takes no lock, so that a signal
 * handler may call it. */
void pm_journal_crashed(struct pm_journal *journal);

/* For `piecemeal doctor`: calls visit with the folder of each game (named by its safe name) and
 * what a session that begins now would find; nothing is changed. folder as above. */
bool pm_journal_each(const char *folder,
                     void (*visit)(const char *path, const char *game,
                                   const struct pm_journal_state *state, void *user),
                     void *user, struct pm_error *error);
/* For who started a run of the game (journal_asked.h) and has seen it end: the same of that game
 * alone, by its own name. In *state only the run's sessions count as judged, unless a later session
 * has judged them. */
bool pm_journal_of_run(const char *folder, const char *game, const char *run,
                       void (*visit)(const char *path, const char *game,
                                     const struct pm_journal_state *state, void *user),
                       void *user, struct pm_error *error);
