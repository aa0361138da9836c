/*
 * What this machine's own trials said of a game's specialized variants, kept from session to
 * session (HAZARDS 21, 24): only what was timed here counts, never what others published.
 *
 * On the disk, beside the journal of safe mode (journal.h), so that PIECEMEAL_JOURNAL moves both:
 * `$PLACE_DATA/journal/<safe name of game>/verdicts`, a text, read once and replaced whole (rename)
 * whenever something is learned, so that a session that is killed keeps what it learned before.
 * Several processes of a game share it: what another one has written meanwhile stays, also of the
 * same variant, but for what this one has learned itself; of two verdicts the later one stays. Of
 * another build of the layer or damaged it is ignored. It has PM_VERDICTS_MOST variants at most;
 * which goes then says pm_kept_put.
 *
 * A variant is named by the key of the specialized module, by that of what it was made of, and by
 * its environment with device, driver and driver's version: a new driver or PGO database has no
 * verdicts. Two originals may become the same module, and each has its own: what the one may run
 * with, and what it gained, is not the other's.
 *
 * A driver may make one shader's pipelines in one process faster than in the next (where code and
 * images lie in memory decides, docs/results/variants.md), so a trial's interval says nothing of
 * the next process. What each session's trial found is kept, and whether they agree can be asked. A
 * session is what pm_verdicts_open begins: two instances of one process count as two.
 *
 * Thread safety: any thread, but for opening and closing. A forked child's copy is not saved.
 */
#pragma once

#include "base/error.h"
#include "profile/signed_verdicts.h"
#include "profile/verdicts_pairs.h"
#include "profile/verdicts_tried.h"

struct pm_verdicts;

/* folder NULL: where the journal is (journal_folder.h). layer: the build's name, of one word
 * (layer/core/build_name.h): what specializes may change from one to the next, its version need
 * not. NULL: out of memory, or no home. *damaged (may be NULL): code PM_OK, or what was ignored.
 * Reads a small file. */
struct pm_verdicts *pm_verdicts_open(const char *folder, const char *game, const char *layer,
                                     struct pm_error *damaged);
/* Copies what is kept, of whatever build, of a game (its safe name; NULL: of all) into a folder
 * that another PIECEMEAL_JOURNAL may name. from as above. */
bool pm_verdicts_copy(const char *from, const char *to, const char *game, struct pm_error *error);
/* Frees it; what was not saved is lost. NULL is allowed. */
void pm_verdicts_close(struct pm_verdicts *verdicts);

/* What is kept of a variant. false: nothing. verdicts NULL is allowed. */
bool pm_verdicts_find(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                      const struct pm_shader_key *original,
                      const struct pm_environment *environment, struct pm_kept_variant *kept);

/* Of the variants of an original that were found faster and can be made again, the one that was
 * tried last; one of which at least so many sessions are sure (pm_kept_is_sure) before others. */
bool pm_verdicts_find_faster(struct pm_verdicts *verdicts, const struct pm_shader_key *original,
                             const struct pm_environment *environment, uint64_t options,
                             int64_t now, uint32_t least, struct pm_kept_variant *kept);

/* Likewise of those without a verdict that are to be tried over sessions, the one that was used
 * last.
 */
bool pm_verdicts_find_session(struct pm_verdicts *verdicts, const struct pm_shader_key *original,
                              const struct pm_environment *environment, uint64_t options,
                              int64_t now, struct pm_kept_variant *kept);

/* Gives all that are to be tried over sessions, whatever the subgroup size, in no order. The
 * function asks nothing of the verdicts. */
void pm_verdicts_each_session(struct pm_verdicts *verdicts,
                              const struct pm_environment *environment, int64_t now,
                              void (*each)(void *user, const struct pm_kept_variant *kept),
                              void *user);

/* Of those of an original that this machine has no verdict on, and an operator signed as faster in
 * an environment as these verdicts name it; the one that was used last. */
bool pm_verdicts_find_signed(struct pm_verdicts *verdicts, const struct pm_signed_verdicts *by,
                             const struct pm_environment *by_environment,
                             const struct pm_shader_key *original,
                             const struct pm_environment *environment, uint64_t options,
                             int64_t now, struct pm_kept_variant *kept);

/* Whether there may be any at all that a verdict or sessions are about, in the environment,
 * whatever the subgroup size. */
bool pm_verdicts_any_at_once(struct pm_verdicts *verdicts,
                             const struct pm_environment *environment);

/* What all of them take that are found faster by a verdict at `now` of which at least so many
 * sessions are sure, and gain: shares of the time of what they stand for. Without PM_MADE_OVER. */
struct pm_at_once_sum {
    double took, gain; /* took: nanoseconds */
};
struct pm_at_once_sum pm_verdicts_sum_at_once(struct pm_verdicts *verdicts,
                                              const struct pm_environment *environment, int64_t now,
                                              uint32_t least);
/* Where there are so many nanoseconds for all, whether one of them is to be made first: there is
 * enough, or it gains as much for its time as all do on average. */
bool pm_kept_is_worth(const struct pm_kept_variant *kept, const struct pm_at_once_sum *all,
                      double time);

/* Keeps a verdict (from `verdict` on), or how a variant is made (`made`), in place of what there
 * was of it; until pm_verdicts_save in memory only. verdicts NULL is allowed. */
void pm_verdicts_put(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);
void pm_verdicts_put_made(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);

/* Keeps the verdict of a trial within this session. What those of other sessions found, which are
 * not old, counts as well: it stays a faster one while it is faster on average over sessions, and
 * is undecided if PM_SESSIONS_TRIED of them do not agree. A slower one is slower. */
void pm_verdicts_put_trial(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);

/* Keeps what a contest has seen of a variant (`seen` and `seen_at`), in place of what it had. */
void pm_verdicts_put_seen(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);

/* Nothing could be timed in turn of a variant that is kept: it is to be tried over sessions, which
 * begin without a pair. Not wanted: nothing could be timed over sessions. A verdict of what was
 * timed in turn takes it back, too. */
void pm_verdicts_want_sessions(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                               const struct pm_shader_key *original,
                               const struct pm_environment *environment, bool wanted);
/* It is there in a session at `now`. Noted once a day: the rest of the time nothing is new. */
void pm_verdicts_use(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                     const struct pm_shader_key *original, const struct pm_environment *environment,
                     int64_t now);
/* What a session timed of it becomes a pair with what an earlier one did on the other side, or
 * waits for one. true: it is a pair; *kept has them all. */
bool pm_verdicts_add_half(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                          const struct pm_shader_key *original,
                          const struct pm_environment *environment,
                          const struct pm_session_half *half, struct pm_kept_variant *kept);
/* A session with it has taken so many nanoseconds more (less than 0: less) than was said before.
 * Not where there is a verdict at `now`. */
void pm_verdicts_charge(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                        const struct pm_shader_key *original,
                        const struct pm_environment *environment, int64_t nanoseconds, int64_t now);
/* What a session timed with the game's own that is of no pair. */
void pm_verdicts_look(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                      const struct pm_shader_key *original,
                      const struct pm_environment *environment, const struct pm_session_half *own);

/* Brings what is new to the disk; no call where nothing is. Waits for the disk: not for a game's
 * own threads. */
bool pm_verdicts_save(struct pm_verdicts *verdicts, struct pm_error *error);
